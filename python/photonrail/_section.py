"""The base of typed sections of a scenario."""
import dataclasses
from typing import Any, Dict


def _plain(value):
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value


class Section:
    """Keys of a section; `more` has those without a member, as times in other units and keys of a policy of your own."""

    def to_dict(self) -> Dict[str, Any]:
        """The section as a dict, without what is None."""
        values = {field.name.rstrip("_"): getattr(self, field.name) for field in dataclasses.fields(self)}
        more = values.pop("more", None) or {}
        return {**{key: _plain(value) for key, value in values.items() if value is not None}, **_plain(more)}
