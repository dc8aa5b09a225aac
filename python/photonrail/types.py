"""Typed pieces of a scenario: each becomes the keys of docs/reference."""
import dataclasses
from typing import Union

from ._sections import *  # noqa: F401,F403
from ._sections import Rail, RailSwitch


@dataclasses.dataclass
class OpticalRail(Rail):
    """Rails of optical circuit switches."""
    kind: str = "optical"
    switch: Union[RailSwitch, str] = "polatis_6000"


@dataclasses.dataclass
class ElectricalRail(Rail):
    """Rails of packet switches."""
    kind: str = "electrical"
