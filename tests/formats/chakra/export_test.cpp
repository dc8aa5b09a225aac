// A job of any workload kind, exported as a Chakra trace and read again, runs as before.
#include "formats/kineto/kineto_support.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"

#include <vector>

namespace photonrail::test {
namespace {

struct Kind {
  std::string name;
  std::string workload;
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

class ChakraExport : public ::testing::TestWithParam<Kind> {
 protected:
  // What the workloads name: a small graph, and a Kineto trace of four ranks.
  void SetUp() override {
    folder_.write("graph.json", R"({ "schema": "photonrail.graph/1", "ranks": 4,
        "communicators": { "row": { "ranks": [0, 1], "dimension": "dp" }, "all": { "ranks": "all" } },
        "tasks": [ { "rank": "all", "id": "a", "compute_us": 1.5 }, { "rank": "all", "id": "b", "flops": 1e10, "after": ["a"] },
          { "rank": [0, 1], "id": "c", "collective": "broadcast", "communicator": "row", "root": 1, "bytes": 1000, "after": ["a"] },
          { "rank": "all", "id": "d", "collective": "barrier", "communicator": "all", "after": ["b"] },
          { "rank": 3, "send_to": 0, "bytes": 5000000, "tag": 7, "after": ["b"] },
          { "rank": 0, "receive_from": 3, "bytes": 5000000, "tag": 7, "after": ["d"] } ] })");
    const std::string trace =
        kineto_trace({kernel(0, 20), nccl(22.5, 30, {"allreduce", 1000, 1000, "Float", "0", "[0, 1, 2, 3]", 4}),
                      kernel(30, 10), kernel(60, 5)});
    put_kineto(folder_, {trace, trace, trace, trace});
  }

  [[nodiscard]] Scenario read(const std::string& workload) const {
    return parse_scenario(R"({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 2,
        "nic": { "latency_ns": 900 } }, "run": { "iterations": 2 }, "workload": )" +
                              workload + "}",
                          folder_.path());
  }

  Folder folder_;
};

TEST_P(ChakraExport, RunsAsTheOriginal) {
  const Scenario original = read(GetParam().workload);
  write_chakra(original.graph, folder_.path() / "copy");
  const Scenario copy = read(R"({ "chakra": { "prefix": "copy", "comm_groups": "copy.json" } })");
  const RunResult a = simulate(original);
  const RunResult b = simulate(copy);
  EXPECT_GT(a.makespan, Duration{});
  EXPECT_EQ(a.makespan, b.makespan);
  EXPECT_EQ(a.iterations, b.iterations);
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    EXPECT_EQ(a.ranks[r].compute, b.ranks[r].compute);
    EXPECT_EQ(a.ranks[r].exposed_communication, b.ranks[r].exposed_communication);
  }
  Bytes bytes_a, bytes_b;
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    bytes_a += a.traffic[d].bytes;
    bytes_b += b.traffic[d].bytes;
  }
  EXPECT_EQ(bytes_a.count, bytes_b.count);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChakraExport,
                         ::testing::ValuesIn(std::vector<Kind>{
                             Kind{"training", R"({ "training": { "model": "llama3_8b", "sequence": 1024, "global_batch": 4,
                            "parallelism": { "tp": 2, "pp": 2, "dp": 1 } } })"},
                             Kind{"fsdp", R"({ "training": { "model": "llama3_8b", "sequence": 1024, "global_batch": 4,
                        "parallelism": { "tp": 2, "dp": 2, "fsdp": true } } })"},
                             Kind{"collective", R"({ "collective": { "op": "reduce_scatter", "bytes": 1000001, "repeat": 3,
                              "arrival_delay_us": { "1": 0.000001, "3": 500 } } })"},
                             Kind{"rooted", R"({ "collective": { "op": "scatter", "bytes": 1000001, "root": 2 } })"},
                             Kind{"barrier", R"({ "collective": { "op": "barrier" } })"},
                             Kind{"graph", R"({ "graph": "graph.json" })"},
                             Kind{"kineto", R"({ "kineto": { "files": "." } })"}}));

}  // namespace
}  // namespace photonrail::test
