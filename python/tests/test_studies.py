import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import photonrail

ROOT = pathlib.Path(__file__).resolve().parents[2]


def shared_data():
    folder = pathlib.Path(os.environ.get("PHOTONRAIL_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "astra").is_dir():
        pytest.skip("SKIPPED, NOT CHECKED: no shared data beside the checkout; set PHOTONRAIL_SHARED_DATA to it")
    return folder


def test_astra_sims_inputs_give_its_cycles_and_a_scenario():
    folder = shared_data() / "astra" / "torus_4x8_allreduce"
    files = dict(system=folder / "system.json", network=folder / "network.yml", workload=folder / "workload",
                 remote_memory=folder / "memory.json")
    frame = photonrail.astra_cycles(**files)
    assert set(frame["finish_cycles"]) == {1373592}
    scenario = photonrail.import_astra(**files, directory=".")
    scenario["cluster"]["rail"] = {"kind": "optical", "switch": "polatis_6000"}
    scenario["controller"] = {"name": "opus", "mode": "provisioned"}
    assert photonrail.simulate(scenario).makespan_s > 0


def test_a_mesh_says_what_waited_and_windows_count_equal_lengths_once():
    frame = photonrail.sweep(ROOT / "configs/switches/pip-switch.json",
                             {"/cluster/rail/switch/pip/rows": [4, 8], "/cluster/rail/switch/pip/columns": [8]})
    assert list(frame["circuits_waited"] > 0) == [True, False]
    result = photonrail.simulate(ROOT / "configs/quickstart.json")
    assert "blocking" not in result.reconfigurations
    windows = result.windows
    assert not windows.duplicated(["change", "window_s"]).any()
    assert windows["count"].sum() == sum(map(len, result.json["windows_s"].values()))


def test_a_sweep_says_what_does_not_fit_and_what_each_job_takes():
    job = {"training": {"model": "llama3_8b", "sequence": 2048, "global_batch": 8, "parallelism": {"tp": 1, "dp": 8}}}
    fits = photonrail.sweep({"cluster": {"servers": 1, "gpus_per_server": 8, "gpu": {"preset": "h100", "compute_efficiency": 0.5},
                                         "rail": {"kind": "electrical"}}, "workload": job},
                            {"/cluster/gpu/memory_gb": [80, 800]})
    assert "stage 0 needs" in fits["infeasible"][0] and fits["infeasible"][1] is None
    # Two rings over uplinks of half the rate (3 x 2 / 3 = 2 ports of a leaf): each takes twice as long when both are there at
    # once, 1 MB at 25 GB/s, and as long as alone, 20 us, when the second begins later. Both axes end in "start_s".
    ring = {"collective": {"op": "all_reduce", "bytes": 1000000, "ranks": 2}}
    jobs = [{"name": name, "servers": servers, "workload": ring} for name, servers in (("even", [0, 2]), ("odd", [1, 3]))]
    frame = photonrail.sweep({"cluster": {"servers": 4, "gpus_per_server": 1,
                                          "rail": {"kind": "electrical", "radix": 3, "oversubscription": 2}}, "jobs": jobs},
                             {"/jobs/0/start_s": [0], "/jobs/1/start_s": [0, 1]})
    assert list(frame["/jobs/1/start_s"]) == [0, 1] and list(frame["/jobs/0/start_s"]) == [0, 0]
    assert list(frame["jobs.odd.slowdown"]) == pytest.approx([2, 1])
    assert list(frame["jobs.even.makespan_s"]) == pytest.approx([40e-6, 20e-6])
    auto = {"collective": {"op": "all_reduce", "algorithm": "auto", "bytes": 1000000}}
    taken = photonrail.sweep({"cluster": {"servers": 2, "gpus_per_server": 1, "rail": {"kind": "electrical"}}, "workload": auto},
                             {"/workload/collective/bytes": [1000, 1000000]})["choices"]
    assert all(line.startswith("all_reduce among 2 ranks, 1000") for line in taken)
    assert photonrail.simulate(ROOT / "configs/quickstart.json", set={"/cluster/nic/port_gb_per_s": 400}).warnings[0].startswith(
        "the rate of a NIC port is 400 GB/s")


def test_a_frame_has_the_columns_of_the_commands_table(tmp_path):
    """Named variants, and every number of results.csv to the last digit."""
    base = {"schema": "photonrail.scenario/1", "cluster": {"servers": 4, "gpus_per_server": 2, "rail": {"kind": "electrical", "radix": 8}},
            "workload": {"collective": {"op": "all_reduce", "bytes": 1000000}}, "run": {"iterations": 2}}
    variants = {"even": {"/cluster/rail/oversubscription": 1},
                "oversubscribed": {"/cluster/rail/oversubscription": 2, "/cluster/nic/port_gb_per_s": 25}}
    frame = photonrail.sweep(base, {"design": variants, "/cluster/nic/ports": [1, 2]})
    assert list(frame["design"]) == ["even", "even", "oversubscribed", "oversubscribed"]
    (tmp_path / "sweep.json").write_text(json.dumps({
        "schema": "photonrail.sweep/1", "base": base,
        "axes": [{"name": "design", "variants": variants}, {"pointer": "/cluster/nic/ports", "values": [1, 2]}]}))
    table = photonrail.run_sweep_file(tmp_path / "sweep.json", tmp_path / "out")
    numbers = table.loc[:, "version":].select_dtypes("number")
    assert len(numbers.columns) > 20 and "note.one-tier" in numbers
    for name in numbers:
        assert list(frame[name].fillna(-1)) == list(numbers[name].fillna(-1)), name
    assert any("one switch holds all ports" in text for text in table.attrs["notes"]["text"])
    with pytest.raises(TypeError, match="no JSON pointer"):
        photonrail.sweep(base, {"design": [1, 2]})


# What says which row of which folder it is.
OF_THE_FOLDER = {"point", "name", "repetition", "status", "error", "scenario_hash", "version"}

PORTS = {"/cluster/nic/port_gb_per_s": [25, 50]}


@pytest.mark.parametrize("base, axes", [
    ("quickstart.json", {"/controller/mode": ["on_demand", "provisioned"]}),
    ("llama3-8b-16gpu.json", {"/cluster/gpu/memory_gb": [10, 80]}),  # one does not fit
    ("serving/quickstart.json", PORTS),
    ("rl/quickstart.json", PORTS),
    ("goodput/dark-ports.json", {"/reliability/days": [1, 3]}),
    ("slices/tpu-v4-queue.json", {"/pod/block": [4, 8]}),
])
def test_a_frame_of_each_kind_has_every_column_of_the_commands_table(base, axes, tmp_path):
    frame = photonrail.sweep(ROOT / "configs" / base, axes)
    (tmp_path / "sweep.json").write_text(json.dumps({
        "schema": "photonrail.sweep/1", "base": str(ROOT / "configs" / base),
        "axes": [{"pointer": pointer, "values": values} for pointer, values in axes.items()]}))
    table = photonrail.run_sweep_file(tmp_path / "sweep.json", tmp_path / "out")
    assert set(table.columns) - set(frame.columns) <= OF_THE_FOLDER
    for name in set(table.columns) - OF_THE_FOLDER:
        absent = "" if name in ("infeasible", "warnings", "choices") or table[name].dtype == object else -1
        assert list(frame[name].fillna(absent)) == list(table[name].fillna(absent)), name
    if "memory_gb" in frame:
        assert frame["infeasible"][0] and frame["step_s"].isna().tolist() == [True, False]
        forced = photonrail.sweep(ROOT / "configs" / base, axes, run_infeasible=True)
        assert forced["infeasible"][0] and forced["step_s"][0] == forced["step_s"][1]


def test_every_figure_is_drawn_with_one_call(optical, tmp_path):
    plots = pytest.importorskip("photonrail.plots")
    pytest.importorskip("matplotlib")
    timeline = photonrail.Timeline()
    result = photonrail.simulate(optical, timeline=timeline)
    frame = photonrail.sweep(optical, {"/cluster/rail/switch/reconfiguration_ms": [1, 10]})
    axes = [plots.step_against_delay(frame), plots.breakdown([result]), plots.timeline(timeline), plots.circuits(timeline),
            plots.windows(result)]
    for number, ax in enumerate(axes):
        ax.figure.savefig(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").stat().st_size > 2000
    assert len(axes[0].lines) == 1 and len(axes[1].patches) == 4


def test_sweep_files_run_into_a_folder(tmp_path):
    (tmp_path / "base.json").write_text(
        '{"schema": "photonrail.scenario/1", "cluster": {"servers": 4, "gpus_per_server": 1, "rail": {"kind": "electrical"}},'
        ' "workload": {"collective": {"op": "all_reduce", "bytes": 1000000}}}')
    (tmp_path / "sweep.json").write_text(
        '{"schema": "photonrail.sweep/1", "name": "s", "base": "base.json",'
        ' "axes": [{"pointer": "/cluster/nic/port_gb_per_s", "values": [25, 50]}]}')
    frame = photonrail.run_sweep_file(tmp_path / "sweep.json", tmp_path / "out", threads=2)
    assert len(frame) == 2 and frame["status"].nunique() == 1


def test_the_commands_of_the_pages_work():
    """Every `python3 -c` of README.md and docs/guide/python.md."""
    commands = [line for page in ("README.md", "docs/guide/python.md") for line in
                re.findall(r"^python3 -c '(.*)'$", (ROOT / page).read_text(), flags=re.M)]
    assert commands
    for command in commands:
        subprocess.run([sys.executable, "-c", command], check=True, cwd=ROOT, capture_output=True)


@pytest.mark.parametrize("page", ["guide/python.md", "tutorial-python.md", "howto/my-policy.md", "howto/figure-for-a-paper.md"])
def test_the_programs_of_the_page_work(page):
    """Every ```python block of the page, one after another in one namespace."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / page).read_text(), flags=re.M | re.S)
    assert blocks
    program = "import os\nos.environ.setdefault('MPLBACKEND', 'Agg')\n" + "\n".join(blocks)
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, capture_output=True)


def test_goodput_is_a_frame_whose_uses_add_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = ROOT / "configs" / "goodput" / "dark-ports.json"
    frame = photonrail.goodput(file, set={"/reliability/days": 30}, seeds=3)
    assert list(frame["seed"]) == [1, 2, 3]
    uses = frame.loc[:, "productive_s":"planned_s"].sum(axis=1)
    assert uses.to_numpy() == pytest.approx(frame["wall_s"].to_numpy())
    mean, low, high = frame.attrs["ettr"]
    assert low <= mean <= high and mean == pytest.approx((frame["productive_s"] / frame["wall_s"]).mean())
    assert frame.attrs["configurations"]["replicas 4/4"] == frame.attrs["step_s"]
    assert not list(tmp_path.iterdir()), "without a folder nothing is written"
    again = photonrail.goodput(file, set={"/reliability/days": 30}, seeds=3, out=tmp_path / "out")
    assert again.equals(frame) and (tmp_path / "out" / "seeds.jsonl").exists()
    with pytest.raises(photonrail.ConfigError, match="/reliability/days"):
        photonrail.goodput(file, set={"/reliability/days": -1})


def test_plan_is_a_frame_whose_first_row_is_the_best():
    frame = photonrail.plan(ROOT / "configs" / "plans" / "llama3-8b-64.json", limit_s=3600.0)
    assert frame.attrs["gap"] == 0.0 and frame.attrs["open"] == 0
    assert frame["step_s"].is_monotonic_increasing and list(frame["tp"])[0] == "2"
    assert (frame["bound_s"] <= frame["step_s"]).all()
    assert photonrail.simulate(photonrail.scenario(frame.attrs["best"])).step_s == frame["step_s"][0]
    with pytest.raises(photonrail.ConfigError, match="photonrail.plan/1"):
        photonrail.plan(ROOT / "configs" / "quickstart.json")


def test_one_figure_three_ways(tmp_path):
    """Opus against the delay of its switches, by the command, by C++ and by Python: the same numbers, to the last digit."""
    command, program = os.environ.get("PHOTONRAIL_COMMAND"), os.environ.get("PHOTONRAIL_EXAMPLE_DELAY")
    if not command or not program:
        pytest.skip("SKIPPED, NOT CHECKED: the command and the example programs are not built")
    sweep = (ROOT / "docs" / "examples" / "my_delays.json").read_text()
    file = tmp_path / "delays.json"
    file.write_text(sweep.replace("configs/quickstart.json", str(ROOT / "configs" / "quickstart.json")))
    subprocess.run([command, "sweep", file, "--out", tmp_path / "out", "--quiet"], check=True, capture_output=True)
    with open(tmp_path / "out" / "results.csv", newline="") as table:
        by_command = [(row["mode"], row["reconfiguration_ms"], row["makespan_s"]) for row in csv.DictReader(table)]
    table = subprocess.run([program], check=True, cwd=ROOT, capture_output=True, text=True).stdout
    by_cpp = [(row["mode"], row["reconfiguration_ms"], row["step_s"]) for row in csv.DictReader(io.StringIO(table))]
    frame = photonrail.sweep(ROOT / "configs" / "quickstart.json",
                             {"/controller/mode": ["on_demand", "provisioned"],
                              "/cluster/rail/switch/reconfiguration_ms": [0.1, 1, 10, 100]})
    by_python = [(row.mode, f"{row.reconfiguration_ms:g}", repr(float(row.step_s))) for row in frame.itertuples()]
    assert len(by_command) == 8
    assert by_cpp == by_command == by_python
