import pathlib
import runpy

import pytest

import photonrail

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs/examples/my_agent.py"


@pytest.fixture
def four():
    return {"cluster": {"servers": 4, "gpus_per_server": 1, "nic": {"ports": 1, "port_gb_per_s": 50}, "rail": {"kind": "electrical"}},
            "workload": {"agent": {"name": "mine"}}}


class Once:
    """A computation on every rank."""

    def __init__(self, job, **parameters):
        self.job, self.events, self.parameters = job, [], parameters

    def on(self, event, sink):
        self.events.append((event.kind, event.now_ps))
        if event.kind == "begin":
            sink.compute(range(sink.ranks), 1000)

    def finished(self):
        return True


def run(four, agent, **keys):
    four["workload"]["agent"] = {"name": "mine", **keys}
    return photonrail.simulate(four, registries=photonrail.Registries().add_agent("mine", agent))


def test_the_example_runs_and_keeps_the_laws(capsys):
    known = runpy.run_path(str(EXAMPLE), run_name="__main__")["known"]
    # As docs/examples/adaptive_batch.cpp: 100 samples of 1 ms, and 8 all-reduces of 100 MB among four, 3 ms each.
    assert float(capsys.readouterr().out) == pytest.approx(0.124)
    assert known.check_agent("adaptive_batch", ranks=4, cases=20) == ""


def test_a_mode_of_reinforcement_learning_is_an_agent(capsys):
    example = EXAMPLE.parent / "my_mode.py"
    words = runpy.run_path(str(example), run_name="__main__")
    on_policy, tail_later = map(float, capsys.readouterr().out.split())
    assert tail_later < 0.6 * on_policy  # the longest of 512 is waited for, or the 512th of 640
    scenario = {**words["scenario"], "workload": {**words["scenario"]["workload"], "agent": {"name": "tail_later"}}}
    launches = photonrail.simulate(scenario, registries=words["known"]).json["launches"]
    assert [(of["kind"], of["count"]) for of in launches] == [("generation", 4), ("training", 4), ("refit", 4)]


def test_an_agent_launches_the_job_beside_it(four):
    class Twice(Once):
        needs_step = True
        hears_ranks = True
        parameters = {"times": 2}

        def on(self, event, sink):
            self.events.append(event.kind)
            if event.kind == "begin" or (event.kind == "launch_done" and self.events.count("launch_done") < self.parameters["times"]):
                launch = sink.open(self.job.step, [0, 1])
                for rank in (1, 0):
                    sink.enter(launch, rank)

    four["workload"]["collective"] = {"op": "all_reduce", "bytes": 200000000, "ranks": 2}
    assert run(four, Twice).makespan_ps == 2 * 4 * 10**9  # two steps of 100 MB at 50 GB/s each
    assert run(four, Twice, times=3).makespan_ps == 3 * 4 * 10**9


def test_an_agent_announces_a_launch(four):
    class Announcer(Once):
        needs_step = True
        announces = True
        parameters = {"early": True}

        def on(self, event, sink):
            if event.kind == "begin":
                self.launch = sink.open(self.job.step, [0, 1])
                sink.compute([0, 1], 10 * 10**9, token=2)
            for rank in (0, 1):
                if event.kind == "begin" and self.parameters["early"]:
                    sink.announce(self.launch, rank)
                if event.token == 2:
                    sink.enter(self.launch, rank)

    four["workload"]["collective"] = {"op": "all_reduce", "bytes": 200000000, "ranks": 2}
    four["cluster"]["rail"] = {"kind": "optical", "switch": {"reconfiguration_ms": 5}}
    four["controller"] = {"name": "opus", "mode": "provisioned"}
    # 10 ms of computation and 4 ms of messages; circuits that were not announced are waited for.
    assert run(four, Announcer).makespan_ps == 14 * 10**9
    assert run(four, Announcer, early=False).makespan_ps == 19 * 10**9
    with pytest.raises(photonrail.ConfigError, match="announces what comes next of a known schedule"):
        run(four, type("Silent", (Announcer,), {"announces": False}))
    with pytest.raises(photonrail.ConfigError, match="announces.*True or False"):
        run(four, type("Unclear", (Announcer,), {"announces": "yes"}))


@pytest.mark.parametrize("break_it, what", [
    (lambda self, event, sink: 1 / 0, "on.. failed: ZeroDivisionError.*test_agents.py"),
    (lambda self, event, sink: sink.compute([0], 1.5), "compute.\\[0\\], 1.5. is not compute.ranks.*time_ps: int.*test_agents.py"),
    (lambda self, event, sink: sink.compute(rank=[0]), "compute.rank=\\[0\\]. is not compute.ranks"),
    (lambda self, event, sink: sink.compute([4], 1), "rank 4, which its job does not have"),
    (lambda self, event, sink: sink.collective([0, 1], "all_redoose", 1), "there is no collective"),
    (lambda self, event, sink: sink.send(0, 1, -1), "must not be negative"),
    (lambda self, event, sink: sink.wake_at(-1), "timer"),
])
def test_what_an_agent_does_wrong_is_a_sentence(four, break_it, what):
    with pytest.raises(photonrail.ConfigError, match=what) as raised:
        run(four, type("Broken", (Once,), {"on": break_it}))
    assert "\n" not in str(raised.value)


def test_an_agent_without_its_methods_or_an_end(four):
    with pytest.raises(TypeError, match="has no on"):
        photonrail.Registries().add_agent("mine", type("Deaf", (), {"finished": lambda self: True}))
    with pytest.raises(TypeError, match="must be a class"):
        photonrail.Registries().add_agent("mine", 7)
    with pytest.raises(photonrail.ConfigError, match="has no finished"):
        run(four, lambda job: type("Endless", (), {"on": lambda self, event, sink: None})())
    with pytest.raises(photonrail.ConfigError, match="make failed: ValueError: no"):
        run(four, type("Unmade", (Once,), {"__init__": lambda self, job: (_ for _ in ()).throw(ValueError("no"))}))
    with pytest.raises(photonrail.ConfigError, match="finished.. returned is 3"):
        run(four, type("Three", (Once,), {"finished": lambda self: 3}))
    waits = {"finished": lambda self: False, "waiting": lambda self: ["waits for Godot"]}
    with pytest.raises(photonrail.DeadlockError, match="waits for Godot"):
        run(four, type("Waits", (Once,), waits))
    again = {**waits, "on": lambda self, event, sink: sink.wake_at(event.now_ps + 1000)}
    with pytest.raises(photonrail.DeadlockError, match="was told of 50 events"):
        run(four, type("Never", (Once,), again), most_events=50)
    endless = photonrail.Registries().add_agent("mine", type("Never", (Once,), again))
    assert "was told of 90 events" in endless.check_agent("mine", most_events=90)
    kept = []
    assert run(four, type("Keeps", (Once,), {"on": lambda self, event, sink: kept.append(sink)})).makespan_ps == 0
    with pytest.raises(RuntimeError, match="valid during on"):
        kept[0].now_ps


class Greedy:
    """Everything at once."""

    def decide(self, view):
        return {"admit": [(i, r["wanted"]) for i, r in enumerate(view["waiting"])]}


def test_schedulers():
    known = photonrail.Registries().add_scheduler("greedy", Greedy)
    assert "case 0: " in known.check_scheduler("greedy")
    assert known.check_scheduler("shortest_first") == ""
    assert '"scheduler": "greedy"' in known.fuzz("greedy")
    assert known.fuzz("shortest_first", cases=20) == ""
    with pytest.raises(TypeError, match="has no decide"):
        known.add_scheduler("none", object)
    wrong = {"a list": [], "a key": {"rune": []}, "a pair": {"run": [1]}}
    for name, answer in wrong.items():
        known.add_scheduler(name, type("Wrong", (), {"decide": lambda self, view, answer=answer: answer}))
        assert "decide() failed: " in known.check_scheduler(name)


def test_a_scheduler_of_engines():
    known = runpy.run_path(str(EXAMPLE), run_name="example")["known"]
    served = {"cluster": {"servers": 1, "gpus_per_server": 2, "gpu": "h100", "scale_up": {"gb_per_s": 450}, "rail": {"kind": "electrical"}},
              "workload": {"serving": {"model": "llama3_8b", "pools": [{"tp": 2}], "engine": {"scheduler": "one_at_a_time"},
                                       "requests": {"concurrency": 4, "input": 500, "output": 20, "count": 4},
                                       "times": {"law": {"fixed_us": 1000, "prefill_token_us": 10, "decode_us": 20}}}}}
    # 6 ms of prompt and 19 decodes of 1.02 ms, four times.
    assert photonrail.simulate(served, registries=known).makespan_ps == 4 * (6 * 10**9 + 19 * 1_020_000_000)


def test_served_requests_are_a_frame():
    served = {"cluster": {"servers": 2, "gpus_per_server": 1, "gpu": "h100", "nic": {"port_gb_per_s": 50}, "rail": {"kind": "electrical"}},
              "workload": {"serving": {"model": "llama3_8b", "pools": [{"role": "prefill", "servers": [0]}, {"role": "decode"}],
                                       "requests": {"concurrency": 2, "input": 100, "output": 5, "count": 6},
                                       "times": {"law": {"fixed_us": 1000}}}}}
    result = photonrail.simulate(served)
    requests = result.requests
    assert list(requests.index) == list(range(6)) and (requests["output_tokens"] == 5).all()
    assert (requests["decode_engine"] == 1).all() and (requests["delivered_s"] > requests["prefilled_s"]).all()
    assert requests["ttft_s"].mean() == pytest.approx(result.json["serving"]["ttft_s"]["mean"])
    assert (abs(requests["tpot_s"] - 0.001) < 1e-9).all()
    trained = {"cluster": {"servers": 2, "gpus_per_server": 1, "nic": {"port_gb_per_s": 50}, "rail": {"kind": "electrical"}},
               "workload": {"collective": {"op": "barrier", "ranks": 2}}}
    assert photonrail.simulate(trained).requests.empty
