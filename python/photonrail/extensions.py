"""Policies and collectives written in Python, and what proves them."""
from . import _native


class Registries:
    """The policies and collectives that a scenario may name: those of photonrail, and yours.

    A policy is a class whose objects are made with (rail, gpus_per_server, ports_per_gpu), one a rail, and have

        def decide(self, view): ...

    which returns None (keep), a list of (from_port, to_port) to connect now, a dict with connect, disconnect, when ("now",
    "drained", "at"), at_ps and preempt, or {"steps": [...], "ask_again_ps": ...}. Words of the class say what it needs:
    `view` ({"bytes", "schedule", ...}), `rank_symmetric`, `work_conserving`, `announce` ("on_demand", "ahead"), `order` ("free", "scheduled"),
    `service` ("by_round", "by_pair").

    A collective is an object with supports(op, members) and plan(call), which returns (chunk_count, sends); a send is a dict
    with from, to, chunk, chunks, round, reduce, after.
    """

    def __init__(self):
        self._native = _native.Registries()

    def add_policy(self, name, policy):
        """Lets scenarios name the class `policy` as their controller. Raises ConfigError when the name is taken."""
        words = _native.PolicyWords()
        words.view = sorted(getattr(policy, "view", ()))
        words.rank_symmetric = bool(getattr(policy, "rank_symmetric", False))
        words.work_conserving = bool(getattr(policy, "work_conserving", False))
        words.ahead = _word(policy, "announce", ("on_demand", "ahead")) == "ahead"
        words.scheduled = _word(policy, "order", ("free", "scheduled")) == "scheduled"
        words.by_pair = _word(policy, "service", ("by_round", "by_pair")) == "by_pair"
        self._native.add_policy(name, (policy.__doc__ or name).strip().splitlines()[0], policy, words)
        return self

    def add_collective(self, name, collective):
        """Lets scenarios name `collective` as an algorithm."""
        _native.add_collective(self._native, name, (type(collective).__doc__ or name).strip().splitlines()[0], collective)
        return self

    @property
    def policies(self):
        """The names of all policies."""
        return list(self._native.policies())

    def check_laws(self, policy):
        """What breaks each law that every policy must keep: {law: problem or ""}. Runs many small jobs."""
        return dict(_native.law_problems(self._native, policy))

    def fuzz(self, policy, cases=200, seed=1):
        """What the policy breaks in random small jobs, with the scenario that repeats it; "" when nothing."""
        return _native.fuzz_problem(self._native, policy, cases, seed)

    def replay(self, algorithm, op, members, bytes=1 << 20):
        """What is wrong with a plan of the collective, whatever order messages arrive in; "" when nothing."""
        return _native.replay_problem(self._native, algorithm, op, members, bytes)


def _word(policy, name, known):
    word = getattr(policy, name, known[0])
    if word not in known:
        raise ValueError(f"{name} of {policy.__name__} is {word!r}; one of {', '.join(known)}")
    return word
