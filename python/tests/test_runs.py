import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import photonrail
from photonrail import types

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_a_ring_takes_what_its_formula_says(electrical):
    result = photonrail.simulate(electrical)
    assert result.makespan_ps == 12_000_000_000  # 2 x 3 steps of 100 MB at 50 GB/s
    assert (result.rank_times_ps.sum(axis=1) == result.makespan_ps).all()
    assert result.ranks["exposed_communication_s"].iloc[0] == pytest.approx(0.012)
    assert result.traffic["operations"].sum() == 1


def test_a_result_says_what_bounds_it_and_why(electrical):
    result = photonrail.simulate(electrical, set={"/run/critical_path": True, "/cluster/rail/oversubscription": 2})
    assert result.critical_path["share"].to_dict() == {"dp over port": pytest.approx(1.0)}
    assert list(result.notes["id"]) == ["binds", "one-tier"]
    assert "oversubscription 2 has no effect" in result._repr_html_()
    assert photonrail.simulate(electrical).critical_path.empty
    waits = photonrail.simulate(ROOT / "configs/quickstart.json", set={"/run/critical_path": True})
    assert waits.peer_waits["time_s"].sum() == pytest.approx(waits.json["per_rank_mean_s"]["peer_wait"])
    assert waits.peer_waits.index[0] == "pipeline bubble" and "pipeline bubble" in waits._repr_html_()


def test_a_scenario_knows_its_work(electrical):
    settings = {"/run/folding": False}
    once, often = (photonrail.scenario(electrical, set={**settings, "/run/iterations": n}).expected_s for n in (1, 1000))
    assert 0 < 50 * once < often < 5


def test_dicts_files_and_typed_objects_are_the_same(electrical, tmp_path):
    file = tmp_path / "ring.json"
    file.write_text(json.dumps({"schema": "photonrail.scenario/1", **electrical}))
    typed = types.Scenario(cluster=types.Cluster(4, 1, nic=types.Nic(port_gb_per_s=50)), workload=electrical["workload"], name="ring")
    spans = {photonrail.simulate(source).makespan_ps for source in (electrical, file, str(file), typed)}
    assert spans == {12_000_000_000}


def test_errors_say_where_what_and_what_would_do(electrical):
    with pytest.raises(photonrail.ConfigError) as error:
        photonrail.simulate(electrical, set={"/cluster/nic/port_gb_per_s": -1})
    assert "/cluster/nic/port_gb_per_s" in error.value.where
    assert error.value.what
    with pytest.raises(photonrail.ConfigError) as error:
        photonrail.simulate(electrical, set={"/workload/collective/algorithm": "rong"})
    assert "ring" in error.value.hint


def test_a_timeline_is_frames(optical):
    timeline = photonrail.Timeline()
    result = photonrail.simulate(optical, timeline=timeline)
    assert set(timeline.operations["rank"]) == set(range(8))
    assert timeline.operations["at_s"].max() == pytest.approx(result.makespan_s)
    assert (timeline.circuits["state"] == "lit").any()


def test_observers_see_the_run_and_their_exceptions_arrive(optical):
    class Count:
        operations = 0

        def operation(self, at_ps, sequence, rank, task, op, state):
            self.operations += state == "done"

    count = Count()
    photonrail.simulate(optical, observers=[count])
    assert count.operations > 0

    class Breaks:
        def circuit(self, at_ps, rail, source, target, state):
            raise LookupError("from the observer")

    with pytest.raises(LookupError, match="from the observer"):
        photonrail.simulate(optical, observers=[Breaks()])


def test_sweeps_run_in_threads_and_in_order(optical):
    frame = photonrail.sweep(optical, {"/cluster/rail/switch/reconfiguration_ms": [1, 10, 100]}, threads=2)
    assert list(frame["reconfiguration_ms"]) == [1, 10, 100]
    assert frame["step_s"].is_monotonic_increasing
    one = photonrail.simulate(optical, set={"/cluster/rail/switch/reconfiguration_ms": 10})
    assert frame["step_s"][1] == one.step_s  # to the last digit


def test_a_thread_runs_beside_a_simulation(optical):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            done.wait(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    photonrail.simulate(optical, set={"/workload/collective/repeat": 2000, "/run/folding": False})
    done.set()
    thread.join()
    assert len(ticks) > 3


def test_control_c_ends_a_run():
    program = ("import photonrail, threading, os, signal\n"
               "threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
               "photonrail.simulate({'cluster': {'servers': 64, 'gpus_per_server': 1, 'rail': {'kind': 'electrical'}},"
               " 'workload': {'collective': {'op': 'all_to_all', 'bytes': 1000000, 'repeat': 100000}},"
               " 'run': {'folding': False}})\n")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert ended.returncode != 0
    assert "KeyboardInterrupt" in ended.stderr


def test_the_command_the_library_and_python_agree(optical, tmp_path):
    command = os.environ.get("PHOTONRAIL_COMMAND")
    if not command:
        pytest.skip("SKIPPED, NOT CHECKED: the command is not built")
    file = tmp_path / "small.json"
    # The command looks for the critical path of small runs by itself.
    file.write_text(json.dumps({"schema": "photonrail.scenario/1", **optical, "run": {"critical_path": True}}))
    subprocess.run([command, "run", str(file), "--out", str(tmp_path / "out"), "--quiet"], check=True)
    told = json.loads((tmp_path / "out" / "result.json").read_text())
    assert told.pop("seal")  # of the file
    mine = photonrail.simulate(file).json
    for result in (told, mine):
        for key in ("wall_s", "peak_rss_mb"):
            result["engine"].pop(key)
    assert told == mine


def test_typed_objects_are_those_of_the_tables_of_keys():
    """To make them anew: photonrail schema --python > python/photonrail/_sections.py"""
    command = os.environ.get("PHOTONRAIL_COMMAND")
    if not command:
        pytest.skip("the command is not built")
    made = subprocess.run([command, "schema", "--python"], capture_output=True, text=True, check=True).stdout
    assert made == (pathlib.Path(types.__file__).parent / "_sections.py").read_text()


def test_typed_objects_have_every_key(electrical):
    rail = types.OpticalRail(switch=types.RailSwitch(reconfiguration_ms=10), more={"forwarding": True})
    cluster = types.Cluster(4, 1, nic=types.Nic(port_gb_per_s=50, more={"latency_us": 1}), rail=rail)
    job = types.Scenario(cluster=cluster, workload=types.Workload(collective=types.Collective(op="all_reduce", ranks=4, bytes=100)),
                         controller=types.Controller(name="opus", mode="provisioned"), run=types.Run(iterations=2))
    assert job.to_dict() == {
        "cluster": {"servers": 4, "gpus_per_server": 1, "nic": {"port_gb_per_s": 50, "latency_us": 1},
                    "rail": {"kind": "optical", "switch": {"reconfiguration_ms": 10}, "forwarding": True}},
        "workload": {"collective": {"op": "all_reduce", "ranks": 4, "bytes": 100}},
        "controller": {"name": "opus", "mode": "provisioned"}, "run": {"iterations": 2}}
    assert photonrail.simulate(job).makespan_ps > 0
