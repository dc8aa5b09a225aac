"""Scenarios, runs and their results."""
import collections
import html
import json
import os
import pathlib

from . import _native
from ._checked import overrides
from ._lazy import np, pd

_PS = 1e12
_OPS = ("all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "all_to_all", "reduce_scatter", "barrier", "send")


class Scenario:
    """Everything that a run depends on. Made by `scenario()`."""

    def __init__(self, native, registries):
        self._native, self.registries = native, registries

    @property
    def name(self):
        """Its name."""
        return self._native.name

    @property
    def ranks(self):
        """How many ranks the job has."""
        return self._native.ranks

    @property
    def warnings(self):
        """What is valid and yet looks like a mistake, a line each."""
        return list(self._native.warnings)

    @property
    def infeasible(self):
        """Why the job could not run on such GPUs, whose memory it does not fit; None where it could, or where that is not known."""
        return self._native.infeasible or None

    @property
    def expected_s(self):
        """Seconds of the processor that simulate() will take, within a factor of about five: nothing here has the command's limit."""
        return self._native.expected_s(self.registries._native)


def scenario(source, set=None, registries=None, directory="."):
    """A scenario from a file, a dict of the same keys, or an object with `to_dict()` (photonrail.types).

    `set` replaces values: {"/cluster/rail/switch/reconfiguration_ms": 10}. Paths in a dict are relative to `directory`.
    Raises ConfigError.
    """
    if isinstance(source, Scenario):
        return source
    from .extensions import Registries, native_of
    registries = registries or Registries()
    known, patch = native_of(registries), overrides(set)
    if hasattr(source, "to_dict"):
        source = source.to_dict()
    if isinstance(source, dict):
        source = {"schema": "photonrail.scenario/1", **source}
        name = source.get("name", "scenario")
        name = name.encode(errors="replace").decode() if isinstance(name, str) else "scenario"
        native = _native.parse_scenario(json.dumps(source), pathlib.Path(directory), name, patch, known)
    else:
        native = _native.read_scenario(pathlib.Path(os.fspath(source)), patch, known)
    return Scenario(native, registries)


class Timeline:
    """What happened in a run, as frames: give it to simulate(timeline=...)."""

    def __init__(self):
        self._native = _native.Timeline()

    @property
    def computes(self):
        """A row a computation: rank, task, start_s, finish_s."""
        frame = pd.DataFrame(self._native.computes())
        return frame.assign(start_s=frame.pop("start_ps") / _PS, finish_s=frame.pop("finish_ps") / _PS)

    @property
    def operations(self):
        """A row a change of a rank's state in a collective or send: rank, at_s, operation, op, state."""
        frame = pd.DataFrame(self._native.operations())
        frame["op"] = pd.Categorical.from_codes(frame["op"], _OPS)
        frame["state"] = pd.Categorical.from_codes(frame["state"], ("arrived", "waiting_for_circuits", "running", "done"))
        return frame.assign(at_s=frame.pop("at_ps") / _PS)

    @property
    def circuits(self):
        """A row a change of a circuit: rail, from, to (ports), at_s, state."""
        frame = pd.DataFrame(self._native.circuits())
        frame["state"] = pd.Categorical.from_codes(frame["state"], ("switching", "lit", "dark"))
        return frame.assign(at_s=frame.pop("at_ps") / _PS)


class Result:
    """What a run gave."""

    def __init__(self, native):
        self._native = native
        self._json = None

    @property
    def json(self):
        """The whole result as a dict: `photonrail.result/1` (docs/reference/result.md)."""
        if self._json is None:
            self._json = json.loads(self._native.json())
        return self._json

    @property
    def name(self):
        """The name of the scenario."""
        return self._native.name

    @property
    def warnings(self):
        """What the command would warn of, a line each: those of the scenario, and what the run adds."""
        return self.json["warnings"]

    @property
    def notes(self):
        """A row a note on why numbers are what they are: text, key (of the setting), value, id."""
        return pd.DataFrame(self.json["notes"], columns=["text", "key", "value", "id"])

    @property
    def critical_path(self):
        """A row a part of what bounds the run, longest first: part, time_s, share; empty without "critical_path": true in "run"."""
        parts = self.json.get("critical_path", {}).get("parts", [])
        return pd.DataFrame(parts, columns=["part", "time_s", "share", "stretches"]).set_index("part")

    @property
    def peer_waits(self):
        """A row a cause of waiting for peers, longest first, mean of ranks: cause, time_s, share of the run; empty as `critical_path`."""
        waits = self.json.get("critical_path", {}).get("peer_wait_s", {})
        rows = sorted(({"cause": cause, "time_s": time, "share": time / self.makespan_s} for cause, time in waits.items()),
                      key=lambda row: -row["time_s"])
        return pd.DataFrame(rows, columns=["cause", "time_s", "share"]).set_index("cause")

    def _repr_html_(self):
        step = f"<p><b>{html.escape(self.name)}</b>: step {self.step_s * 1e3:.4g} ms, run {self.makespan_s * 1e3:.4g} ms</p>"
        mean = self.json["per_rank_mean_s"]
        whole = sum(mean.values()) or 1.0
        rows = "".join(f"<tr><td>{html.escape(part.replace('_', ' '))}</td><td>{seconds * 1e3:.4g} ms</td><td>{100 * seconds / whole:.1f} %</td></tr>"
                       for part, seconds in mean.items())
        rows += "".join(f"<tr><td>&nbsp;&nbsp;waiting: {html.escape(cause)}</td><td>{row.time_s * 1e3:.4g} ms</td><td>{100 * row.share:.1f} %</td></tr>"
                        for cause, row in self.peer_waits.iterrows())
        notes = "".join(f"<li>{html.escape(note['text'])}</li>" for note in self.json["notes"])
        return step + f"<table><tr><th>mean of ranks</th><th>time</th><th>share</th></tr>{rows}</table><ul>{notes}</ul>"

    @property
    def infeasible(self):
        """Why the job could not run on such GPUs, whose memory it does not fit; None where it could, or where that is not known."""
        return self.json["infeasible"]

    @property
    def choices(self):
        """What "auto" took for which collective, and why, a line each."""
        return self.json.get("choices", [])

    @property
    def makespan_s(self):
        """Seconds from the begin of the job to the end of its last rank."""
        return self._native.makespan_ps / _PS

    @property
    def makespan_ps(self):
        """The same in whole picoseconds."""
        return self._native.makespan_ps

    @property
    def step_s(self):
        """Seconds of a step: the mean of all but the first, or the only one."""
        return self._native.step_ps / _PS

    @property
    def iterations_ps(self):
        """int64: picoseconds of every step."""
        return self._native.iterations_ps

    @property
    def rank_times_ps(self):
        """int64[ranks, 5]: compute, exposed communication, reconfiguration wait, peer wait, detection; each row sums to the makespan."""
        return self._native.rank_times_ps()

    @property
    def ranks(self):
        """The same as a frame, in seconds."""
        columns = ["compute_s", "exposed_communication_s", "reconfiguration_wait_s", "peer_wait_s", "detection_s"]
        return pd.DataFrame(self.rank_times_ps / _PS, columns=columns).rename_axis("rank")

    @property
    def requests(self):
        """A row a served request that ended, in the order of arrival: tokens, engines, when each part of it began in seconds (NaN: never), ttft_s,
        tpot_s, e2e_s. Empty where none are served."""
        columns = self._native.served_requests_ps()
        if not columns:
            return pd.DataFrame()
        counts = ["number", "prompt_tokens", "output_tokens", "cached_tokens", "preemptions", "restarts", "prefill_engine", "decode_engine"]
        frame = pd.DataFrame({name: columns[name] for name in counts})
        for name in columns:
            if name not in counts:
                frame[name + "_s"] = pd.Series(columns[name]).where(columns[name] >= 0) / _PS
        frame["ttft_s"] = frame["first_s"] - frame["arrival_s"]
        frame["tpot_s"] = ((frame["last_s"] - frame["first_s"]) / (frame["output_tokens"] - 1)).where(frame["output_tokens"] > 1)
        frame["e2e_s"] = frame["last_s"] - frame["arrival_s"]
        return frame.set_index("number").sort_index()

    @property
    def traffic(self):
        """A row a dimension of parallelism: bytes, operations, busy_s, exposed_s ..."""
        return pd.DataFrame.from_dict(self.json["communication"], orient="index").rename_axis("dimension")

    @property
    def windows(self):
        """A row a window between two phases: change, window_s; equal lengths once, with their count."""
        rows = []
        for change, lengths in self.json.get("windows_s", {}).items():
            rows += [(change, seconds, count) for seconds, count in collections.Counter(lengths).items()]
        return pd.DataFrame(rows, columns=["change", "window_s", "count"])

    @property
    def reconfigurations(self):
        """A dict: count, circuits, total and exposed seconds ...; with a mesh as the switch `blocking`: waited, displaced, cells, loss_db."""
        return self.json["reconfigurations"]


def simulate(source, set=None, registries=None, observers=(), timeline=None, directory="."):
    """Runs a scenario (see `scenario()`) to its end; a Result.

    `observers`: objects with any of compute(), operation(), circuit(), iteration(), progress(), end(). Ctrl-C ends the run.
    Raises ConfigError, DeadlockError, ControllerError, and what a policy or an observer of yours raised.
    """
    if not isinstance(timeline, (Timeline, type(None))):
        raise TypeError(f"timeline is {timeline!r}; it must be a photonrail.Timeline")
    ready = scenario(source, set, registries, directory)
    return Result(_native.simulate(ready._native, list(observers), timeline._native if timeline else None, ready.registries._native))
