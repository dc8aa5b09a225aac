import pathlib

import pytest

import photonrail

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLICES = ROOT / "configs" / "slices"

# 8 of 16 for 10 s, then all for 5, then one for 3: a list of jobs on a 4x4 torus of servers of one.
STUDY = {
    "pod": {"torus": [4, 4], "server": [1, 1]},
    "policies": ["bestfit"],
    "orders": ["fifo"],
    "jobs": {"list": [{"arrival_s": 0, "duration_s": 10, "shape": [2, 4]},
                      {"arrival_s": 1, "duration_s": 5, "accelerators": 16},
                      {"arrival_s": 2, "duration_s": 3, "shape": [1, 1]}]},
}


def test_a_dict_becomes_frames_in_seconds():
    study = photonrail.allocate(STUDY)
    row = study.streams.iloc[0]
    assert row["policy"] == "bestfit" and row["order"] == "fifo" and row["makespan_s"] == 18
    assert row["utilisation"] == pytest.approx((80 + 80 + 3) / (16 * 18))
    jobs = study.jobs()
    assert list(jobs["start_s"]) == [0, 10, 15] and list(jobs["end_s"]) == [10, 15, 18]
    assert list(jobs["waiting_s"]) == [0, 9, 13] and list(jobs["accelerators"]) == [8, 16, 1]
    assert "<b>streams</b>" in study._repr_html_() and "bestfit" in study._repr_html_() and "waste" not in study._repr_html_()
    assert study.decisions.empty and study.circuits.empty and study.refusals.empty


def test_policies_and_orders_are_rows_and_streams_are_found_by_name():
    study = photonrail.allocate(STUDY, set={"/policies": ["bestfit", "firstfit"], "/orders": ["fifo", "srsf"]})
    assert list(zip(study.streams["policy"], study.streams["order"])) == [
        ("bestfit", "fifo"), ("bestfit", "srsf"), ("firstfit", "fifo"), ("firstfit", "srsf")]
    # The shortest first: the single one, which fits beside the first job, starts when it comes.
    assert study.jobs("firstfit", "srsf").loc[2, "start_s"] == 2
    with pytest.raises(KeyError, match="4 streams"):
        study.jobs()


def test_files_with_decisions_availability_waste_and_circuits():
    decisions = photonrail.allocate(SLICES / "decisions.json").decisions
    assert len(decisions) == 3 and set(decisions["difference"]) == {""}
    availability = photonrail.allocate(SLICES / "availability.json").availability
    assert ((availability["fits"] >= 0) & (availability["fits"] <= 1)).all()
    circuits = photonrail.allocate(SLICES / "step-circuits.json").circuits
    assert (circuits["cost_s"] <= circuits[["fixed_ring_s", "every_step_s"]].min(axis=1) + 1e-15).all()
    # Without a queue: two jobs of a shape come while the first has half of the torus, and the larger one is refused.
    lost = photonrail.allocate({**STUDY, "orders": []}, set={"/jobs/list/1": {"arrival_s": 1, "duration_s": 5, "shape": [4, 4]}})
    assert list(lost.refusals.columns) == ["policy", "shape", "asked", "refused_for_resource", "refused_for_shape"]
    assert lost.refusals.set_index("shape").loc["4x4", "refused_for_resource"] == 1 and lost.refusals["refused_for_shape"].sum() == 0


def test_errors_have_their_types(tmp_path):
    with pytest.raises(photonrail.ConfigError) as wrong:
        photonrail.allocate({**STUDY, "polices": []})
    assert "polices" in wrong.value.where + wrong.value.what
    with pytest.raises(photonrail.ConfigError, match="/policies/0"):
        photonrail.allocate(STUDY, set={"/policies": ["first_fit"]})
    with pytest.raises(photonrail.ConfigError, match="missing.json"):
        photonrail.allocate(tmp_path / "missing.json")
    with pytest.raises(photonrail.DeadlockError) as stuck:
        photonrail.allocate({**STUDY, "failures": {"mean_between_s": 0.01, "mean_repair_s": 0.01}})
    assert stuck.value.stuck


def test_a_sweep_over_slices_is_a_table(tmp_path):
    frame = photonrail.run_sweep_file(ROOT / "configs" / "sweeps" / "slices-against-load.json", tmp_path / "out", threads=2)
    assert len(frame) == 16 and set(frame["status"]) == {"done"}
    of = frame.set_index(["cubes", "policy", "interarrival_s"])["mean_waiting_s"]
    # At the highest load cubes anywhere wait less than boxes of a torus.
    assert of[64, 'ocs_cubes', 600] < of[64, 'firstfit', 600]
