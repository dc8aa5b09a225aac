// Every run of the reference data: finishing cycles of ASTRA-sim's binaries for single collectives given by parameters.
#include "photonrail/formats/astra.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace photonrail {
namespace {

using nlohmann::json;

AnalyticalImplementation implementation_of(const std::string& word) {
  static const std::map<std::string, AnalyticalAlgorithm> known{
      {"ring", AnalyticalAlgorithm::kRing},
      {"direct", AnalyticalAlgorithm::kDirect},
      {"halvingDoubling", AnalyticalAlgorithm::kHalvingDoubling},
      {"doubleBinaryTree", AnalyticalAlgorithm::kDoubleBinaryTree}};
  return {.algorithm = known.at(word)};
}

AnalyticalJob job_of(const json& run) {
  static const std::map<std::string, AnalyticalShape> shapes{{"Ring", AnalyticalShape::kRing},
                                                             {"Switch", AnalyticalShape::kSwitch},
                                                             {"FullyConnected", AnalyticalShape::kFullyConnected}};
  AnalyticalJob job;
  AnalyticalImplementations how;
  for (std::size_t d = 0; d < run["topology"].size(); ++d) {
    job.network.push_back({shapes.at(run["topology"][d]), run["npus"][d], run["bandwidth_gib_s"][d], run["latency_ns"][d]});
    how.push_back(implementation_of(run["algorithm"][d]));
  }
  const json& system = run["system"];
  job.system.order = system["scheduling-policy"] == "LIFO" ? AnalyticalOrder::kLifo : AnalyticalOrder::kFifo;
  job.system.endpoint_delay_ns = system["endpoint-delay"];
  job.system.active_chunks = system["active-chunks-per-dimension"];
  job.system.chunks = system["preferred-dataset-splits"];
  job.system.memory_gb_per_s = system["local-mem-bw"];
  job.system.hierarchical_all_reduce = system["collective-optimization"] == "localBWAware";
  job.system.all_reduce = job.system.all_gather = job.system.reduce_scatter = job.system.all_to_all = how;
  AnalyticalTask task;
  task.kind = AnalyticalTask::Kind::kCollective;
  task.op = *collective_op_from(run["collective"].get<std::string>());
  task.bytes = run["comm_size"];
  job.ranks.assign(job.rank_count(), {task});
  return job;
}

TEST(AnalyticalData, EveryRunTakesTheCyclesOfTheBinary) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json file = json::parse(std::ifstream(data / "astra" / "runs.json"));
  ASSERT_GE(file["runs"].size(), 15U);
  for (const json& run : file["runs"]) {
    const bool aware = run["backend"] == "aware";
    const AnalyticalResult result = simulate_analytical(
        job_of(run), aware ? AnalyticalBackend::kCongestionAware : AnalyticalBackend::kCongestionUnaware);
    const json& expected = run["finish_cycles"];
    for (std::size_t r = 0; r < result.finish_ns.size(); ++r) {
      const std::uint64_t cycles = expected.is_array() ? expected[r].get<std::uint64_t>() : expected.get<std::uint64_t>();
      EXPECT_EQ(result.finish_ns[r], cycles) << run["id"] << " rank " << r;
    }
  }
}

}  // namespace
}  // namespace photonrail
