"""An agent and a scheduler of one's own in Python."""
import photonrail

MS = 10**9  # picoseconds


class AdaptiveBatch:
    """The next batch follows from the time of the last step."""
    parameters = {"samples": 100, "target_ps": 20.0 * MS}
    kinds = ["computation", "gradients"]

    def __init__(self, job, samples, target_ps):
        self.ranks, self.left, self.target_ps, self.batch, self.began_ps = list(range(job.ranks)), samples, target_ps, 1, 0

    def on(self, event, sink):
        if event.kind == "launch_done" and event.token == 0:  # the computation
            sink.collective(self.ranks, "all_reduce", 100_000_000, kind=1, token=1)
            return
        if event.kind == "launch_done":
            self.left -= min(self.batch, self.left)
            self.batch = 2 * self.batch if event.now_ps - self.began_ps < self.target_ps else max(self.batch // 2, 1)
        if self.left > 0:
            self.began_ps = sink.now_ps
            sink.compute(self.ranks, min(self.batch, self.left) * MS)

    def finished(self):
        return self.left == 0


class OneAtATime:
    """One request after another."""

    def decide(self, view):
        most = view["longest_prefill"] or view["token_budget"]
        if view["running"]:
            return {"run": [(0, min(view["running"][0]["wanted"], most))]}
        request = view["waiting"][0]
        tokens = min(request["wanted"], most)
        blocks = -(-(request["computed"] + tokens) // view["block_tokens"]) - request["blocks"]
        return {"admit": [(0, tokens)]} if blocks <= view["free_blocks"] else {}  # else others' KV that was sent here is in the way


known = photonrail.Registries().add_agent("adaptive_batch", AdaptiveBatch).add_scheduler("one_at_a_time", OneAtATime)

if __name__ == "__main__":
    assert known.check_agent("adaptive_batch") == "" and known.check_scheduler("one_at_a_time") == ""
    scenario = {"cluster": {"servers": 4, "gpus_per_server": 1, "rail": {"kind": "electrical"}},
                "workload": {"agent": {"name": "adaptive_batch"}}}
    print(photonrail.simulate(scenario, registries=known).makespan_s)
