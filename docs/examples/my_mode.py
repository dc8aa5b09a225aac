"""A mode of reinforcement learning of one's own: a step trains the responses that are complete first, the longest go on in the next."""
import random

import photonrail


class TailLater:
    """More responses are begun than a step trains; those that are left over go on when the next ones begin."""
    parameters = {"begun": 640, "trained": 512, "steps": 4, "token_ps": 2e10, "weights_gb": 16.0}
    kinds = ["generation", "training", "refit"]
    needs_step = True

    def __init__(self, job, begun, trained, steps, token_ps, weights_gb):
        self.step, self.random, self.left = job.step, random.Random(job.seed), steps
        self.begun, self.trained, self.token_ps, self.weights = begun, trained, token_ps, int(weights_gb * 1e9)
        self.tokens = []  # that each response in flight still needs

    def on(self, event, sink):
        ranks = range(self.step.ranks)
        if event.kind == "launch_done" and event.token == 0:  # generation
            sink.launch(self.step, ranks, kind=1, token=1)
        elif event.kind == "launch_done" and event.token == 1:  # training
            sink.collective(ranks, "broadcast", self.weights, "refit", kind=2, token=2)
            self.left -= 1
        elif self.left > 0:
            fresh = [self.random.lognormvariate(6.5, 0.8) for _ in range(self.begun - len(self.tokens))]
            self.tokens = sorted(self.tokens + fresh)
            longest = self.tokens[self.trained - 1]
            self.tokens = [tokens - longest for tokens in self.tokens[self.trained:]]
            sink.compute(ranks, int(longest * self.token_ps))

    def finished(self):
        return self.left == 0


known = photonrail.Registries().add_agent("tail_later", TailLater)
scenario = {"cluster": {"servers": 4, "gpus_per_server": 8, "gpu": {"preset": "h100", "compute_efficiency": 0.5}, "scale_up": "h100",
                        "nic": {"port_gb_per_s": 50}, "rail": {"kind": "electrical"}},
            "workload": {"training": {"model": "llama3_8b", "parallelism": {"tp": 8, "dp": 4}, "sequence": 1024, "micro_batch": 16,
                                      "global_batch": 512}}}

if __name__ == "__main__":
    for begun in (512, 640):
        scenario["workload"]["agent"] = {"name": "tail_later", "begun": begun}
        print(photonrail.simulate(scenario, registries=known).makespan_s / 4)
