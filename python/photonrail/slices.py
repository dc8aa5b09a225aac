"""Slices of a pod of accelerators: `photonrail allocate`."""
import io
import json
import os
import pathlib

from . import _native
from ._checked import overrides
from ._lazy import pd


class Allocation:
    """What came of a study of slices. Made by `allocate()`. Frames are empty where the study does not ask for them."""

    def __init__(self, answer):
        self._jobs = dict(answer["jobs"])
        self.json = json.loads(answer["json"])
        """The whole result as a dict: `photonrail.allocation_result/1` (docs/models/slices.md)."""

    def _repr_html_(self):
        parts = ("streams", "refusals", "availability", "waste", "circuits")
        shown = [(part, getattr(self, part)) for part in parts]
        return "".join(f"<p><b>{part}</b></p>{frame.to_html(index=False)}" for part, frame in shown if len(frame))

    @property
    def streams(self):
        """A row a policy and order: utilisation, goodput and mean_share in [0, 1], makespan_s, mean_waiting_s,
        mean_completion_s and median_completion_s in seconds, skipped, runs ...; without a queue utilisation and stranded."""
        rows = [{key: value for key, value in stream.items() if key != "refusals"} for stream in self.json.get("streams", [])]
        return pd.DataFrame(rows)

    @property
    def refusals(self):
        """A row a policy and shape of a stream without a queue: asked, refused_for_resource, refused_for_shape (requests)."""
        rows = [{"policy": stream["policy"], **row} for stream in self.json.get("streams", []) for row in stream.get("refusals", [])]
        return pd.DataFrame(rows)

    def jobs(self, policy=None, order=None):
        """A row a job of a stream with a queue: accelerators, shape, arrival_s, start_s, end_s, waiting_s (NaN: skipped), stops.

        `policy` and `order` may be left out where there is one stream only. Raises KeyError for a stream that is not there."""
        found = [text for name, text in self._jobs.items()
                 if text and policy in (None, name.split(" ")[0]) and order in (None, name.split(" ")[1])]
        if len(found) != 1:
            raise KeyError(f"{len(found)} streams with a queue have policy={policy!r}, order={order!r}; there are {sorted(self._jobs)}")
        return pd.read_csv(io.StringIO(found[0]), dtype={"shape": str}).set_index("job")

    @property
    def decisions(self):
        """A row a decision: id, policy, decision ("admit" or "reject"), reason, shape, accelerators (lists), and difference:
        what is not as expected, "" where all is, missing where nothing is expected."""
        rows = []
        for one in self.json.get("decisions", []):
            row = {"id": one["id"], "policy": one["policy"], **one["answer"]}
            if "difference" in one:
                row["difference"] = one["difference"]
            rows.append(row)
        return pd.DataFrame(rows)

    @property
    def availability(self):
        """A row a host availability and slice: host_availability, slice_cubes, fits (a probability), with_switches and fixed
        (goodput, shares of the cubes), all in [0, 1]."""
        return pd.DataFrame(self.json.get("availability", []))

    @property
    def waste(self):
        """A row a domain and group (accelerators): wasted, the share of healthy accelerators in [0, 1]."""
        return pd.DataFrame(self.json.get("waste", []))

    @property
    def circuits(self):
        """A row a collective: cost_s, fixed_ring_s and every_step_s in seconds, reconfigurations, segments (list of dicts)."""
        return pd.DataFrame(self.json.get("circuits", []))


def allocate(source, set=None, directory=".", registries=None):
    """Carries out a study of slices: a file of `photonrail.allocation/1`, or a dict of the same keys. An `Allocation`.

    `set` replaces values: {"/jobs/drawn/count": 100}. Paths in a dict are relative to `directory`. `registries`: controllers and
    collectives that the scenario at `/step` may name. Times in the study have their unit in the key (`_s`, `_h`, `_days`).
    Raises ConfigError for bad input and DeadlockError when a job of the stream can never end. Decisions that are not as
    expected raise nothing: `decisions` says which.
    """
    from .extensions import native_of
    native, changes = native_of(registries), overrides(set)
    if isinstance(source, dict):
        source = {"schema": "photonrail.allocation/1", **source}
        name = pathlib.Path(source.get("name", "study"))
        return Allocation(_native.allocate(name, json.dumps(source), pathlib.Path(directory), changes, native))
    return Allocation(_native.allocate(pathlib.Path(os.fspath(source)), None, pathlib.Path("."), changes, native))
