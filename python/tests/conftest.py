"""Small jobs for the tests."""
import pytest

import photonrail


@pytest.fixture
def optical():
    """Two rings of data parallelism over four servers of two GPUs, 10 ms switches, Opus on demand."""
    return {
        "name": "small",
        "cluster": {"servers": 4, "gpus_per_server": 2, "nic": {"ports": 1, "port_gb_per_s": 50},
                    "rail": {"kind": "optical", "switch": {"reconfiguration_ms": 10}}},
        "controller": {"name": "opus"},
        "workload": {"collective": {"op": "all_reduce", "algorithm": "hierarchical", "bytes": 400000000, "ranks": 8, "repeat": 3}},
    }


@pytest.fixture
def electrical():
    """An all-reduce of 400 MB in a ring of four, 50 GB/s: 2 x 3 steps of 100 MB at 2 ms."""
    return {
        "name": "ring",
        "cluster": {"servers": 4, "gpus_per_server": 1, "nic": {"ports": 1, "port_gb_per_s": 50}, "rail": {"kind": "electrical"}},
        "workload": {"collective": {"op": "all_reduce", "algorithm": "ring", "bytes": 400000000, "ranks": 4}},
    }


class InTurn:
    """Serves requests in turn, as far as their ports are idle."""
    rank_symmetric = True                     # equal ranks may be simulated once

    def __init__(self, rail, gpus_per_server, ports_per_gpu):
        pass

    def decide(self, view):
        wanted = []                      # pairs of positions, joined at the same time
        for request in view.requests:     # complete ones, the oldest first; others wait for more than circuits
            more = [pair for pair in request["pairs"] if pair not in wanted]
            if request["blocking"] and view.connect(wanted + more) is not None:
                wanted += more
        return view.connect(wanted) or None


@pytest.fixture
def registries():
    return photonrail.Registries().add_policy("in_turn", InTurn)
