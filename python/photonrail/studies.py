"""Many runs, and ASTRA-sim's inputs."""
import itertools
import json
import os
import pathlib
import tempfile

from . import _native
from ._checked import overrides, text, whole
from ._lazy import pd
from .runs import Scenario, scenario, simulate


def _numbers(value, path=""):
    """The numbers of a result by the names that they have in the table of a sweep."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if path == "" and key == "quantiles_s":
                yield from _quantiles(entry)
            elif key not in ("wall_s", "peak_rss_mb", "seed") and not (path == "" and key == "simulated"):
                yield from _numbers(entry, f"{path}.{key}" if path else key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def _quantiles(entry):
    at = {probability: i for i, probability in enumerate(entry["probabilities"])}
    for what in ("operation", "circuit_wait"):
        for dimension, histogram in entry[what].items():
            for probability, name in ((0.5, "p50"), (0.99, "p99")):
                if probability in at and histogram["quantiles"]:
                    yield f"quantiles_s.{what}.{dimension}.{name}", histogram["quantiles"][at[probability]]


def _axis(name, values):
    """The points of an axis as (label, patch): values of a pointer, or a dict of named variants, each a dict of pointers."""
    if name.startswith("/"):
        return [(value, {name: value}) for value in values]
    if not isinstance(values, dict) or not all(isinstance(patch, dict) for patch in values.values()):
        raise TypeError(f"the axis {name!r} is no JSON pointer, so it must be {{label: {{pointer: value}}}}, not {values!r}")
    return list(values.items())


def _study_of(base, axes):
    """What points have beside a run: "reliability", months of failures; or "photonrail.allocation/" in its place, slices; or None."""
    text = json.dumps(base) if isinstance(base, dict) else "" if isinstance(base, Scenario) else pathlib.Path(base).read_text()
    return next((word for word in ("photonrail.allocation/", "reliability") if word in text + json.dumps(axes)), None)


def _command_table(base, axes, column, threads, registries, directory, run_infeasible):
    """What `photonrail sweep` would write of the same points: its results.csv as a frame."""
    file_axes = [{"name": column[name], **({"variants": values} if isinstance(values, dict) else {"pointer": name, "values": list(values)})}
                 for name, values in axes.items()]
    text = {"schema": "photonrail.sweep/1", "base": base if isinstance(base, dict) else str(pathlib.Path(base).resolve()), "axes": file_axes}
    from .extensions import native_of
    with tempfile.TemporaryDirectory() as out:
        _native.run_sweep_file(pathlib.Path(directory) / "sweep.json", pathlib.Path(out), whole("threads", threads or 0),
                               native_of(registries), run_infeasible, json.dumps(text))
        return pd.read_csv(pathlib.Path(out) / "results.csv", float_precision="round_trip")


def sweep(base, axes, threads=None, registries=None, directory=".", run_infeasible=False):
    """Runs `base` at every point of `axes`; a frame with a row a point, in order.

    `base` may be a study of slices too, whose table is then the frame, or have months (`reliability`), which add goodput.share ...
    An axis is {pointer: values}, or {name: {label: {pointer: value}}}: variants with names of their own.
    Columns: each axis by its name, or the last key of its pointer, or by the whole pointer where another ends alike; then step_s,
    the mean of each part of a rank's time, infeasible (why the job does not fit such GPUs; None where it does), choices (of "auto"),
    warnings and the seed; then all numbers by the names of the command's table, as makespan_s, communication.dp.exposed_s, cost.usd
    and note.one-tier (Result.notes), of points with a mesh as their switch circuits_waited and circuits_displaced, of several jobs
    jobs.NAME.makespan_s and jobs.NAME.slowdown. A point whose job does not fit its GPUs is run with `run_infeasible` alone. Points
    run in threads, without the interpreter's lock but for policies and collectives of yours.
    """
    keys = [text("the name of an axis", name).rsplit("/", 1)[-1] for name in axes]
    column = {name: key if keys.count(key) == 1 else name for name, key in zip(axes, keys)}
    if hasattr(base, "to_dict"):
        base = base.to_dict()
    table = None
    if study := _study_of(base, axes):
        if isinstance(base, dict) and "schema" not in base:
            base = {"schema": "photonrail.scenario/1", **base}
        table = _command_table(base, axes, column, threads, registries, directory, run_infeasible)
        if study == "photonrail.allocation/":
            table.attrs["parameters"] = list(column.values())
            return table
    points = [dict(zip(axes, values)) for values in itertools.product(*(_axis(name, values) for name, values in axes.items()))]
    patches = [{pointer: value for _, patch in point.values() for pointer, value in patch.items()} for point in points]
    ready = [scenario(base, patch, registries, directory) for patch in patches]  # complains before anything runs
    from concurrent.futures import ThreadPoolExecutor  # takes longer than the rest of the module

    with ThreadPoolExecutor(whole("threads", threads or os.cpu_count(), 1)) as pool:
        results = list(pool.map(lambda point: None if point.infeasible and not run_infeasible else simulate(point), ready))
    rows = []
    for point, known, result in zip(points, ready, results):
        row = {column[name]: label for name, (label, _) in point.items()}
        rows.append(row)
        if result is None:
            native = known._native
            row.update(step_s=None, makespan_s=None, infeasible=native.infeasible, choices="", warnings="; ".join(native.warnings),
                       seed=native.seed, peak_memory_bytes=native.peak_memory_bytes)
            continue
        row.update(step_s=result.step_s, makespan_s=result.makespan_s, **result.ranks.mean().to_dict())
        row.update(reconfigurations=result.reconfigurations["count"], infeasible=result.infeasible)
        for what in ("waited", "displaced"):
            if "blocking" in result.reconfigurations:
                row[f"circuits_{what}"] = result.reconfigurations["blocking"][what]
        row.update(choices="; ".join(result.choices), warnings="; ".join(result.warnings), seed=result.json["seed"])
        for job in result.json.get("jobs", ()):
            row.update({f"jobs.{job['name']}.{number}": job[number] for number in ("makespan_s", "slowdown")})
        row.update({name: number for name, number in _numbers(result.json) if name not in row})
        row.update({f"note.{note['id']}": note["value"] for note in result.json["notes"] if note["id"] not in ("binds", "first-step")})
    frame = pd.DataFrame(rows)
    if table is not None:
        frame = frame.join(table[[name for name in table if name.startswith("goodput.")]])
    frame.attrs["parameters"] = list(column.values())  # for figure()
    return frame


def run_sweep_file(file, out, threads=0, registries=None, run_infeasible=False):
    """Runs a sweep file (`photonrail.sweep/1`) into the folder `out`, going on with what is there; its table as a frame.

    `.attrs["notes"]` is a frame as Result.notes: settings without effect, and values of a parameter that take the same time.
    """
    from .extensions import native_of
    _native.run_sweep_file(pathlib.Path(file), pathlib.Path(out), whole("threads", threads), native_of(registries), run_infeasible, "")
    frame = pd.read_csv(pathlib.Path(out) / "results.csv", float_precision="round_trip")
    frame.attrs["parameters"] = list(frame.columns[2:frame.columns.get_loc("seed")])  # for figure()
    frame.attrs["notes"] = pd.DataFrame(json.loads((pathlib.Path(out) / "notes.json").read_text()), columns=["text", "key", "value", "id"])
    return frame


def goodput(file, set=None, seeds=0, threads=0, out="", registries=None):
    """Months of failures and recoveries of a scenario with a section `reliability`: a frame with a row a history (seed).

    Columns in seconds: wall_s and what its time went to, productive_s to planned_s, which add up to it; and counts. `.attrs`
    has the summary: goodput, ettr, mttf_h and failures as (mean, low, high), step_s, and `configurations`, the step in seconds
    of each distinct cluster that occurred (None: the job cannot go on). `set`: {pointer: value}; `seeds`: 0 for the file's;
    `out`: a folder that is gone on with.
    """
    from .extensions import native_of
    answer = _native.goodput(pathlib.Path(file), overrides(set), whole("seeds", seeds), whole("threads", threads), str(out),
                             native_of(registries))
    frame = pd.DataFrame(answer.pop("histories"))
    frame.attrs.update(answer)
    return frame


def plan(file, set=None, threads=0, limit_s=60.0, out="", registries=None):
    """Searches the best candidate of a plan file (`photonrail.plan/1`): a frame with a row a simulated one, the best first.

    Columns: each free choice, step_s, bound_s, objectives (a list), memory_bytes, network_usd,
    requests_per_s (served within their limits), productive. `.attrs` has `best`, a scenario that runs as it is, and candidates, excluded, open, gap (0: proven) and rejected, {reason: count}. `out`: a folder
    that is gone on with.
    """
    from .extensions import native_of
    if isinstance(limit_s, bool) or not isinstance(limit_s, (int, float)):
        raise TypeError(f"limit_s is {limit_s!r}; it must be a number of seconds")
    answer = _native.plan(pathlib.Path(file), overrides(set), whole("threads", threads), limit_s, str(out), native_of(registries))
    frame = pd.DataFrame(answer.pop("runs"))
    frame.attrs.update(answer, best=json.loads(answer["best"]) if answer["best"] else None)
    return frame


def _astra_files(system, network, workload, comm_group, remote_memory):
    files = _native.AstraOptions()
    files.system, files.network, files.workload = pathlib.Path(system), pathlib.Path(network), pathlib.Path(workload)
    if comm_group:
        files.comm_groups = pathlib.Path(comm_group)
    if remote_memory:
        files.remote_memory = pathlib.Path(remote_memory)
    return files


def astra_cycles(system, network, workload, comm_group=None, remote_memory=None, backend="unaware"):
    """The cycles (ns) of every rank under ASTRA-sim's rules: a frame with finish_cycles and exposed_communication_cycles.

    `backend`: "unaware" or "aware" of congestion. What is not modelled is in `.attrs["warnings"]`, or raises ConfigError.
    """
    if backend not in ("unaware", "aware"):
        raise ValueError(f'backend is "unaware" or "aware", not {backend!r}')
    answer = _native.astra_run(_astra_files(system, network, workload, comm_group, remote_memory), backend == "aware")
    warnings = answer.pop("warnings")
    frame = pd.DataFrame(answer).rename_axis("rank")
    frame.attrs["warnings"] = warnings
    return frame


def import_astra(system, network, workload, comm_group=None, remote_memory=None, directory="."):
    """A photonrail scenario (dict) from ASTRA-sim's inputs, for rails under a policy; paths relative to `directory`."""
    import json
    return json.loads(_native.scenario_from_astra(_astra_files(system, network, workload, comm_group, remote_memory),
                                                  pathlib.Path(directory)))
