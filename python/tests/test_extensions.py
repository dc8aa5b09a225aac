import subprocess
import sys
import textwrap
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


def test_a_policy_has_parameters_of_its_own(optical):
    made = []

    class Tuned(InTurn):
        parameters = {"patience": 3, "share": 0.5, "greedy": False, "paths": ["direct", "two_hop"]}

        def __init__(self, rail, gpus_per_server, ports_per_gpu, **parameters):
            super().__init__(rail, gpus_per_server, ports_per_gpu)
            made.append(parameters)

    registries = photonrail.Registries().add_policy("tuned", Tuned)
    optical["controller"] = {"name": "tuned", "share": 0.25, "paths": "two_hop"}
    assert photonrail.simulate(optical, registries=registries).makespan_s > 0
    assert made[0] == {"patience": 3, "share": 0.25, "greedy": False, "paths": "two_hop"}
    for key, value in (("share", "much"), ("sharre", 1)):
        with pytest.raises(photonrail.ConfigError, match=key):
            photonrail.simulate({**optical, "controller": {"name": "tuned", key: value}}, registries=registries)
    with pytest.raises(TypeError, match="its default must be"):
        photonrail.Registries().add_policy("odd", type("Odd", (InTurn,), {"parameters": {"key": None}}))


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


def test_a_thread_that_simulates_when_the_program_ends_does_no_harm(tmp_path):
    program = tmp_path / "daemon.py"
    program.write_text(textwrap.dedent("""
        import threading, time, photonrail
        class Busy:
            def __init__(self, *args): pass
            def decide(self, view):
                chosen = []
                for request in view.requests:
                    more = [p for p in request["pairs"] if p not in chosen]
                    if view.connect(chosen + more) is not None: chosen += more
                return view.connect(chosen) or None
        known = photonrail.Registries().add_policy("busy", Busy)
        job = {"cluster": {"servers": 4, "gpus_per_server": 1, "rail": {"kind": "optical", "switch": {"reconfiguration_us": 10}}},
               "controller": {"name": "busy"}, "workload": {"collective": {"op": "all_reduce", "bytes": 1000000, "repeat": 3}}}
        def always():
            while True: photonrail.simulate(job, registries=known)
        for _ in range(3): threading.Thread(target=always, daemon=True).start()
        time.sleep(0.5)
    """))
    ended = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def _in_turn_with(optical, **attributes):
    optical["controller"] = {"name": "mine"}
    policy = type("Mine", (InTurn,), attributes)
    return photonrail.simulate(optical, registries=photonrail.Registries().add_policy("mine", policy))


@pytest.mark.parametrize("answer, error, text", [
    ([(0, 1, 2, 3, 4)], TypeError, "a circuit of decide() is (0, 1, 2, 3, 4); it must be a pair, (from_port, to_port)"),
    ([(0, "x")], TypeError, "a circuit of decide() is 'x'; it must be a whole number, not negative"),
    ([(0, -1)], TypeError, "a circuit of decide() is -1"),
    (7, TypeError, "what decide() connects is 7; it must be a list"),
    ("text", TypeError, "what decide() connects is 'text'; it must be a list"),
    ({"when": 3}, TypeError, '"when" of decide() is 3'),
    ({"disconnect": 3}, TypeError, '"disconnect" of decide() is 3; it must be a list'),
    ({"at_ps": 1.5}, TypeError, '"at_ps" of decide() is 1.5; it must be a whole number of picoseconds'),
    ({"steps": [], "ask_again": 3}, KeyError, "a decision has steps and ask_again_ps, and no ask_again"),
])
def test_an_answer_that_is_no_decision_says_what_would_be_one(optical, answer, error, text):
    with pytest.raises(error) as raised:
        _in_turn_with(optical, decide=lambda self, view: answer)
    assert text in str(raised.value)


@pytest.mark.parametrize("look, error, text", [
    (lambda view: view.peer(99), IndexError, "peer(): there is no port 99"),
    (lambda view: view.in_use("a"), TypeError, "in_use(): port is 'a'"),
    (lambda view: view.connect([(0, 99)]), IndexError, "connect(): there is no position 99"),
    (lambda view: view.connect([(0, 1, 2)]), TypeError, "connect(): a pair is (0, 1, 2)"),
    (lambda view: [request["bytes"] for request in view.requests], KeyError, "bytes"),
])
def test_a_look_at_what_is_not_there_says_so(optical, look, error, text):
    with pytest.raises(error) as raised:
        _in_turn_with(optical, decide=lambda self, view: look(view))
    assert text in str(raised.value)


def test_needs_are_the_words_of_a_policy(optical):
    seen = []

    def decide(self, view):
        seen.extend(request["bytes"] for request in view.requests)
        return InTurn.decide(self, view)

    _in_turn_with(optical, decide=decide, needs={"view": ["bytes"]})
    assert seen and all(seen)
    for attributes, error, text in [
            ({"needs": {"views": ["bytes"]}}, ValueError, "needs of Mine has 'views'"),
            ({"needs": {"view": ["bytes"]}, "view": ["bytes"]}, ValueError, "Mine has view twice"),
            ({"needs": ["bytes"]}, TypeError, "needs of Mine is ['bytes']"),
            ({"views": ["bytes"]}, ValueError, "Mine has views: did you mean view?"),
            ({"view": ["byte"]}, photonrail.ConfigError, 'unknown part "byte"')]:
        with pytest.raises(error) as raised:
            _in_turn_with(optical, **attributes)
        assert text in str(raised.value)


class _Plans:
    """A collective that returns what it is given."""

    def __init__(self, plan):
        self._plan = plan

    def supports(self, op, members):
        return True

    def plan(self, call):
        return self._plan


@pytest.mark.parametrize("plan, error, text", [
    ((0, []), ValueError, "chunk_count is 0: the plan moves nothing"),
    ((1, []), photonrail.ConfigError, 'the plan of "mine" for all_reduce among 4 is wrong'),
    ((1, [{"from": 0, "to": 1}]), photonrail.ConfigError, 'the plan of "mine" for all_reduce among 4 is wrong'),
    ((1, [], 5), TypeError, "must be a pair, (chunk_count, sends)"),
    ((1, [{"from": 0, "to": 9}]), ValueError, "send 0: to is 9; there are members 0 to 3"),
    ((1, [{"from": 0, "to": 0}]), ValueError, "send 0 goes from a member to itself"),
    ((1, [{"from": 0}]), KeyError, 'send 0 has no \\"to\\"'),
    ((1, [{"from": 0, "to": 1, "after": [3]}]), ValueError, "send 0: after names send 3"),
    ((1, [{"from": 0, "to": 1, "chunks": 2}]), ValueError, "send 0 has 2 chunks from chunk 0; the plan has 1"),
    ((1, [{"from": 0, "to": 1, "chunk": 4294967295, "chunks": 4294967295}]), ValueError, "the plan has 1"),
    ((1, [{"from": 0, "to": 1, "size": 2}]), KeyError, "and no size"),
    ((1, [(0, 1)]), TypeError, "send 0 is (0, 1); it must be a dict"),
])
def test_a_plan_that_is_none_is_not_simulated(plan, error, text):
    registries = photonrail.Registries()
    registries.add_collective("mine", _Plans(plan))
    with pytest.raises(error) as raised:
        photonrail.simulate({"cluster": {"servers": 4, "gpus_per_server": 1, "rail": {"kind": "electrical"}},
                             "workload": {"collective": {"op": "all_reduce", "bytes": 1000000, "algorithm": "mine"}}},
                            registries=registries)
    assert text.replace('\\"', '"') in str(raised.value).replace('\\"', '"')


def test_an_observer_without_a_method_is_none(optical):
    with pytest.raises(TypeError, match="has none of compute, operation"):
        photonrail.simulate({**optical, "controller": {"name": "opus"}}, observers=[object()])


@pytest.mark.parametrize("call, text", [
    (lambda: photonrail.scenario({}, set=5), "set is 5; it must be a dict"),
    (lambda: photonrail.scenario({}, set={1: 2}), "a pointer of set is 1; it must be a string"),
    (lambda: photonrail.scenario({}, registries=5), "registries is 5; it must be a photonrail.Registries"),
    (lambda: photonrail.scenario({"name": "\ud800"}), "surrogate U+D800"),
    (lambda: photonrail.simulate({}, timeline=5), "timeline is 5; it must be a photonrail.Timeline"),
    (lambda: photonrail.goodput("none.json", seeds=-1), "seeds is -1; it must be from 0 to"),
    (lambda: photonrail.goodput("none.json", threads="x"), "threads is 'x'; it must be a whole number"),
    (lambda: photonrail.plan("none.json", limit_s="x"), "limit_s is 'x'; it must be a number of seconds"),
    (lambda: photonrail.sweep({}, {5: [1]}), "the name of an axis is 5; it must be a string"),
    (lambda: photonrail.Registries().add_policy(5, object), "the policy object has no decide"),
    (lambda: photonrail.Registries().add_policy(5, lambda: None), "the name of a policy is 5; it must be a string"),
    (lambda: photonrail.Registries().add_policy("", lambda: None), "the name of a policy is empty"),
    (lambda: photonrail.Registries().fuzz("lru", cases=1.5), "cases is 1.5; it must be a whole number"),
    (lambda: photonrail.Registries().replay("ring", "all_reduce", -4), "members is -4; it must be from 0 to"),
    (lambda: photonrail.Registries().replay("ring", "all_reduce", 1), "ring cannot do all_reduce among 1 members"),
])
def test_wrong_arguments_are_told_by_their_names(call, text):
    with pytest.raises((TypeError, ValueError, photonrail.ConfigError)) as raised:
        call()
    assert text in str(raised.value)


@pytest.mark.parametrize("words, text", [
    ({"parameters": 5}, "parameters of Mine is 5; it must be a dict"),
    ({"parameters": {1: 1}}, "a name in parameters of Mine is 1; it must be a string"),
    ({"view": [1]}, "a word of view is 1; it must be a string"),
])
def test_wrong_words_of_a_class_are_told(words, text):
    with pytest.raises((TypeError, ValueError), match=text):
        photonrail.Registries().add_policy("mine", type("Mine", (), {"decide": lambda self, view: None, **words}))
