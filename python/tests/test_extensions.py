import sys
import traceback

import pytest

import photonrail
from conftest import InTurn


def test_a_policy_in_python_serves_a_job(optical, registries):
    optical["controller"] = {"name": "in_turn"}
    result = photonrail.simulate(optical, registries=registries)
    opus = photonrail.simulate({**optical, "controller": {"name": "opus", "order": "free"}})
    assert result.reconfigurations["count"] > 0
    assert result.makespan_ps <= 2 * opus.makespan_ps


def test_it_keeps_the_laws_and_survives_the_fuzzer(registries):
    problems = registries.check_laws("in_turn")
    assert problems and not any(problems.values()), {law: p for law, p in problems.items() if p}
    assert registries.fuzz("in_turn", cases=100) == ""


def test_a_policy_that_breaks_a_promise_is_found():
    class Never:
        """Serves nothing."""

        def __init__(self, *args):
            pass

        def decide(self, view):
            return None

    registries = photonrail.Registries().add_policy("never", Never)
    assert registries.fuzz("never", cases=5)


def test_its_exception_arrives_with_its_traceback(optical):
    class Breaks(InTurn):
        def decide(self, view):
            return view.no_such_thing

    registries = photonrail.Registries().add_policy("breaks", Breaks)
    optical["controller"] = {"name": "breaks"}
    with pytest.raises(AttributeError) as error:
        photonrail.simulate(optical, registries=registries)
    assert "view.no_such_thing" in "".join(traceback.format_tb(error.value.__traceback__))


def test_a_plan_that_is_no_matching_is_an_error_of_the_policy(optical):
    class Doubles(InTurn):
        def decide(self, view):
            return [(0, 1), (0, 2)]

    registries = photonrail.Registries().add_policy("doubles", Doubles)
    optical["controller"] = {"name": "doubles"}
    with pytest.raises(photonrail.ControllerError):
        photonrail.simulate(optical, registries=registries)


def test_a_view_is_closed_after_the_decision(optical):
    kept = []

    class Keeps(InTurn):
        def decide(self, view):
            kept.append(view)
            return super().decide(view)

    registries = photonrail.Registries().add_policy("keeps", Keeps)
    optical["controller"] = {"name": "keeps"}
    photonrail.simulate(optical, registries=registries)
    with pytest.raises(RuntimeError, match="during decide"):
        kept[0].now_ps


class Star:
    """Everything through member 0."""

    def supports(self, op, members):
        return op == "all_reduce"

    def plan(self, call):
        n = call["members"]
        up = [{"from": m, "to": 0, "reduce": True} for m in range(1, n)]
        return 1, up + [{"from": 0, "to": m, "after": list(range(n - 1))} for m in range(1, n)]


def test_a_collective_in_python_is_proven_and_runs(electrical):
    registries = photonrail.Registries().add_collective("star", Star())
    for members in (2, 3, 8):
        assert registries.replay("star", "all_reduce", members) == ""
    electrical["workload"]["collective"]["algorithm"] = "star"
    # Three messages of 400 MB share member 0's port on the way in, and on the way out: 2 x 3 x 8 ms.
    assert photonrail.simulate(electrical, registries=registries).makespan_ps == 48_000_000_000


def test_a_wrong_collective_is_found():
    class Forgets(Star):
        """Sends no answer."""

        def plan(self, call):
            return 1, [{"from": m, "to": 0, "reduce": True} for m in range(1, call["members"])]

    registries = photonrail.Registries().add_collective("forgets", Forgets())
    assert registries.replay("forgets", "all_reduce", 4)


def test_reference_counts_hold(optical, registries):
    scenario = photonrail.scenario({**optical, "controller": {"name": "in_turn"}}, registries=registries,
                                   set={"/workload/collective/repeat": 1})
    watched = (InTurn, registries, scenario)
    for _ in range(20):
        photonrail.simulate(scenario)
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(10000):
        photonrail.simulate(scenario)
    assert [sys.getrefcount(thing) for thing in watched] == before
