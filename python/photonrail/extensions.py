"""Policies, collectives, agents and schedulers written in Python, and what proves them."""
import difflib

from . import _native
from ._checked import named_values, said_plainly, text, whole

for _method in ("launch", "open", "enter", "announce", "compute", "collective", "send", "wake_at"):
    setattr(_native.WorkSink, _method, said_plainly(getattr(_native.WorkSink, _method)))


class Registries:
    """The policies, collectives, agents and schedulers that a scenario may name: those of photonrail, and yours.

    A policy is a class whose objects are made with (rail, gpus_per_server, ports_per_gpu), one a rail, and have

        def decide(self, view): ...

    which returns None (keep), a list of (from_port, to_port) to connect now, a dict with connect, disconnect, when ("now",
    "drained", "at"), at_ps and preempt, or {"steps": [...], "ask_again_ps": ...}. Words of the class say what it needs:
    `view` ({"bytes", "schedule", ...}), `rank_symmetric`, `work_conserving`, `announce` ("on_demand", "ahead"), `order` ("free", "scheduled"),
    `service` ("by_round", "by_pair"), `parameters`; or a dict `needs` of them. `parameters` is {key: default}: keys that the
    "controller" of a scenario may have, given to the class as keyword arguments. A default is True or False, a number, or a list of
    words, of which the first is the default. A request has its "bytes" where `view` has "bytes", "expected_ps" and
    "due_ps" where it has "due_times".

    A collective is an object with supports(op, members) and plan(call), which returns (chunk_count, sends); a send is a dict
    with from, to, chunk, chunks, round, reduce, after.
    """

    def __init__(self):
        self._native = _native.Registries()

    def add_policy(self, name, policy):
        """Lets scenarios name the class `policy` as their controller. Raises ConfigError when the name is taken."""
        if not callable(policy):
            raise TypeError(f"the policy {name} is {policy!r}; it must be a class, or a function that makes its objects")
        if isinstance(policy, type) and not callable(getattr(policy, "decide", None)):
            raise TypeError(f"the policy {policy.__name__} has no decide(self, view)")
        given = _words_of(policy)
        view = given.get("view", ())
        words = _native.PolicyWords()
        words.view = sorted({text("a word of view", word) for word in ([view] if isinstance(view, str) else view)})
        words.rank_symmetric = bool(given.get("rank_symmetric", False))
        words.work_conserving = bool(given.get("work_conserving", False))
        words.ahead = _word(policy, given, "announce", ("on_demand", "ahead")) == "ahead"
        words.scheduled = _word(policy, given, "order", ("free", "scheduled")) == "scheduled"
        words.parameters = named_values(f"parameters of {getattr(policy, '__name__', repr(policy))}", given.get("parameters", {}))
        words.by_pair = _word(policy, given, "service", ("by_round", "by_pair")) == "by_pair"
        self._native.add_policy(text("the name of a policy", name), _summary(policy, name), policy, words)
        return self

    def add_collective(self, name, collective):
        """Lets scenarios name `collective` as an algorithm."""
        _native.add_collective(self._native, text("the name of a collective", name), _summary(type(collective), name), collective)
        return self

    def add_agent(self, name, agent):
        """Lets scenarios name the class `agent` as the agent of their workload.

        Its objects are made with (job, **parameters), one a run: job.ranks, job.seed, job.step (of the job beside the agent, or None),
        job.times_ps. They have on(event, sink), which launches with `sink`, and finished(); they may have waiting() and kinds(), lists
        of words. Words of the class are `parameters`, as those of a policy, `needs_step`, `takes_times`, `hears_ranks` and
        `announces`: it calls sink.announce(launch, rank), so that policies that provision are allowed.
        """
        _require_class(agent, f"the agent {name}", {"on": "on(self, event, sink)", "finished": "finished(self)"})
        parameters = named_values(f"parameters of {getattr(agent, '__name__', repr(agent))}", getattr(agent, "parameters", {}))
        _native.add_agent(self._native, text("the name of an agent", name), _summary(agent, name), agent, parameters,
                          bool(getattr(agent, "needs_step", False)), bool(getattr(agent, "takes_times", False)))
        return self

    def add_scheduler(self, name, scheduler):
        """Lets engines that serve requests name the class `scheduler`: decide(view) maps a dict of the queue and the blocks to the next
        step, {"preempt": [request, ...], "run": [(request, tokens), ...], "admit": [(request, tokens), ...]}, by the places of requests
        in view["running"] and view["waiting"]. Preempting one frees its "frees" blocks, as others hold "shared" of its "blocks" too.
        The same view must have the same decision.
        """
        _require_class(scheduler, f"the scheduler {name}", {"decide": "decide(self, view)"})
        _native.add_scheduler(self._native, text("the name of a scheduler", name), _summary(scheduler, name), scheduler)
        return self

    def check_agent(self, agent, ranks=8, cases=50, seed=1, policies=("lru",), most_events=100_000):
        """The first law that an agent without a step breaks on drawn clusters, electrical or under `policies`; "" when none.
        One that is told of more than `most_events` events and is not finished never ends.
        """
        return _native.agent_problem(self._native, text("agent", agent), whole("ranks", ranks), whole("cases", cases), _seed(seed),
                                     [text("a policy", policy) for policy in policies], whole("most_events", most_events, 0, 2**64 - 1))

    def check_scheduler(self, scheduler, cases=40, seed=1):
        """The first law that a scheduler breaks on drawn queues; "" when none."""
        return _native.scheduler_problem(self._native, text("scheduler", scheduler), whole("cases", cases), _seed(seed))

    @property
    def policies(self):
        """The names of all policies."""
        return list(self._native.policies())

    def check_laws(self, policy):
        """What breaks each law that every policy must keep: {law: problem or ""}. Runs many small jobs."""
        return dict(_native.law_problems(self._native, text("policy", policy)))

    def fuzz(self, policy, cases=200, seed=1):
        """What the policy, or the scheduler, breaks in random small jobs, with the scenario that repeats it; "" when nothing."""
        return _native.fuzz_problem(self._native, text("policy", policy), whole("cases", cases), _seed(seed))

    def replay(self, algorithm, op, members, bytes=1 << 20):
        """What is wrong with a plan of the collective, whatever order messages arrive in; "" when nothing."""
        return _native.replay_problem(self._native, text("algorithm", algorithm), text("op", op), whole("members", members),
                                      whole("bytes", bytes, 0, 2**63 - 1))


def native_of(registries):
    """The compiled registries: the given ones, or those of what is built in."""
    if not isinstance(registries or Registries(), Registries):
        raise TypeError(f"registries is {registries!r}; it must be a photonrail.Registries")
    return (registries or Registries())._native


def _seed(seed):
    return whole("seed", seed, 0, 2**64 - 1)


def _summary(part, name):
    return ((part.__doc__ or "").strip() or name).splitlines()[0]


def _require_class(part, what, methods):
    if not callable(part):
        raise TypeError(f"{what} is {part!r}; it must be a class, or a function that makes its objects")
    for method, signature in methods.items():
        if isinstance(part, type) and not callable(getattr(part, method, None)):
            raise TypeError(f"{what} has no {signature}")


_WORDS = ("view", "rank_symmetric", "work_conserving", "announce", "order", "service", "parameters")


def _words_of(policy):
    """The words of a class, given one by one or together as its dict `needs`; one that is none is an error, not silence."""
    title = getattr(policy, "__name__", repr(policy))
    words = {word: getattr(policy, word) for word in _WORDS if hasattr(policy, word)}
    needs = getattr(policy, "needs", {})
    if not isinstance(needs, dict):
        raise TypeError(f"needs of {title} is {needs!r}; a dict with any of {', '.join(_WORDS)}")
    for word, value in needs.items():
        if word not in _WORDS:
            raise ValueError(f"needs of {title} has {word!r}; known: {', '.join(_WORDS)}")
        if word in words:
            raise ValueError(f"{title} has {word} twice: by itself and in needs")
        words[word] = value
    for name in (name for name in dir(policy) if not name.startswith("_") and name not in (*_WORDS, "needs")):
        close = difflib.get_close_matches(name, (*_WORDS, "needs"), n=1, cutoff=0.8)
        if close and not callable(getattr(policy, name)):
            raise ValueError(f"{title} has {name}: did you mean {close[0]}?")
    return words


def _word(policy, given, name, known):
    word = given.get(name, known[0])
    if word not in known:
        raise ValueError(f"{name} of {getattr(policy, '__name__', repr(policy))} is {word!r}; one of {', '.join(known)}")
    return word
