"""Many runs, and ASTRA-sim's inputs."""
import itertools
import os
import pathlib
from concurrent.futures import ThreadPoolExecutor

import pandas as pd

from . import _native
from .runs import scenario, simulate


def sweep(base, axes, threads=None, registries=None, directory="."):
    """Runs `base` at every point of `axes`, {pointer: values}; a frame with a row a point, in order.

    Columns: each axis by the last key of its pointer, then step_s, makespan_s, the mean of each part of a rank's time, and
    reconfigurations. Points run in threads, without the interpreter's lock but for policies and collectives of yours.
    """
    points = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    ready = [scenario(base, point, registries, directory) for point in points]  # complains before anything runs
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        results = list(pool.map(simulate, ready))
    rows = []
    for point, result in zip(points, results):
        row = {pointer.rsplit("/", 1)[-1]: value for pointer, value in point.items()}
        row.update(step_s=result.step_s, makespan_s=result.makespan_s, **result.ranks.mean().to_dict())
        row["reconfigurations"] = result.reconfigurations["count"]
        rows.append(row)
    return pd.DataFrame(rows)


def run_sweep_file(file, out, threads=0, registries=None):
    """Runs a sweep file (`photonrail.sweep/1`) into the folder `out`, going on with what is there; its table as a frame."""
    from .extensions import Registries
    _native.run_sweep_file(pathlib.Path(file), pathlib.Path(out), threads, (registries or Registries())._native)
    return pd.read_csv(pathlib.Path(out) / "results.csv")


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
