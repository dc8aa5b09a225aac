// Every scenario in configs/ runs, at both fidelities, and keeps the promises that every scenario must keep.
#include "golden/golden.hpp"
#include "support/folded.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

namespace photonrail::test {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether the scenario runs a trace that is not part of the project.
bool names_data(const std::string& file) {
  return text_of(configs() / file).find("${PHOTONRAIL_SHARED_DATA}") != std::string::npos;
}

/// Paths below configs/ of the scenarios with such a trace, or of the others; sweeps and other documents are none.
std::vector<std::string> scenario_files(bool with_data) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(configs())) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = text_of(entry.path());
    if (text.find("\"photonrail.scenario/1\"") == std::string::npos) continue;
    if (text.find("\"photonrail.sweep/1\"") != std::string::npos) continue;  // has one inside
    if (text.find("\"photonrail.plan/1\"") != std::string::npos) continue;   // has one inside
    if (text.find("\"photonrail.rows/1\"") != std::string::npos) continue;   // has one in each row
    files.push_back(entry.path().lexically_relative(configs()).generic_string());
  }
  std::erase_if(files, [&](const std::string& file) { return names_data(file) != with_data; });
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.size() - std::string(".json").size());
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

/// Small collectives inside a server, and a job whose tensor-parallel exchanges are.
bool is_of_latency(const std::string& file) {
  static const std::set<std::string> files{"scale-up/steps-on-a-rack-switch.json",
                                           "scale-up/ring-with-bypass.json",
                                           "all-gather-inside-a-server.json",
                                           "llama3-8b-operator-tables.json",
                                           "unlike-gpus-uneven-stages.json",
                                           "switches/pip-switch.json",
                                           "leaf-spine/two-sites.json",
                                           "two-gpu-models.json",
                                           "scale-up/pip-switch-in-a-server.json",
                                           "checkpoint-to-peers.json"};  // the copy to the host counts as latency
  return files.contains(file);
}

class Configs : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (names_data(GetParam()) && !is_smoke(GetParam()) && !shared_data()) {
      GTEST_SKIP() << "SKIPPED, NOT CHECKED: " << GetParam()
                   << " needs traces that are not here; set PHOTONRAIL_SHARED_DATA";
    }
    scenario_ = load(GetParam());
  }

  [[nodiscard]] Scenario at(Fidelity fidelity) const {
    Scenario scenario = scenario_;
    scenario.run.fidelity = fidelity;
    return scenario;
  }

  /// Folded and unfolded; what agents launch is never folded.
  [[nodiscard]] RunResult run_twice(Fidelity fidelity) const {
    if (scenario_.workload != nullptr) return simulate(at(fidelity));
    RunResult folded = expect_same_folded(at(fidelity));
    RecordProperty("classes", std::to_string(folded.folding.classes));
    RecordProperty("off", folded.folding.off);
    return folded;
  }

  Scenario scenario_;
};

TEST_P(Configs, SaysWhyItIsThere) {
  EXPECT_FALSE(scenario_.name.empty());
  EXPECT_FALSE(scenario_.why.empty());
}

TEST_P(Configs, FoldedAndUnfoldedAreEqualFidelitiesAgreeWithinTheLatencyTermAndTheBooksBalance) {
  const RunResult exact = run_twice(Fidelity::kExact);
  const RunResult stream = run_twice(Fidelity::kStream);
  expect_balanced(exact);
  expect_balanced(stream);
  if (stream.cost) {
    EXPECT_GT(stream.cost->bill.usd(), 0.0);
  } else {  // meshes have no price, and some switches of the tests are smaller than any that is sold
    EXPECT_THAT(stream.warnings, Contains(StartsWith("no cost: ")));
  }
  // What an agent launches is not in the graph: it differs by less than a ten-thousandth of the run, where messages inside
  // engines are flows by less than a thousandth.
  const std::int64_t parts = GetParam() == "rl/phases.json" ? 1'000 : 10'000;
  const Duration room = scenario_.workload != nullptr ? exact.makespan / parts : latency_term(scenario_);
  const Duration apart = std::chrono::abs(exact.makespan - stream.makespan);
  RecordProperty("apart_ps", std::to_string(apart.count()));
  RecordProperty("room_ps", std::to_string(room.count()));
  EXPECT_LE(apart, room);
  if (room >= exact.makespan / 100) {  // a bound that allows anything says nothing: the latency is what these are about
    EXPECT_TRUE(is_of_latency(GetParam())) << room.count() << " of " << exact.makespan.count();
    EXPECT_LT(apart, exact.makespan / 100) << GetParam();
  }
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    EXPECT_EQ(exact.traffic[d].bytes, stream.traffic[d].bytes);
    EXPECT_EQ(exact.traffic[d].operations, stream.traffic[d].operations);
  }
}

TEST_P(Configs, TheSameHistoryInTwoThreadsAtOnce) {
  for (const Fidelity fidelity : {Fidelity::kStream, Fidelity::kExact}) {
    const Scenario scenario = at(fidelity);
    std::uint64_t other = 0;
    std::thread beside([&] { other = history(scenario); });
    const std::uint64_t one = history(scenario);
    beside.join();
    EXPECT_EQ(one, other);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Configs, ::testing::ValuesIn(scenario_files(false)), test_name);
INSTANTIATE_TEST_SUITE_P(WithData, Configs, ::testing::ValuesIn(scenario_files(true)), test_name);

/// The demands of the all-to-alls of all iterations, without the pairs inside a server of two GPUs.
std::vector<TrafficMatrix> demands_on_rails(const Scenario& scenario) {
  std::vector<TrafficMatrix> all;
  for (std::uint32_t iteration = 0; iteration < scenario.run.iterations; ++iteration) {
    for (const Task& task : scenario.graph.program(RankId{0}).tasks()) {
      TrafficMatrix demand =
          scenario.graph.demands()->matrix({CommunicatorId{0}, task.demand(), iteration, scenario.run.seed});
      for (Member m = 0; m < demand.members(); m += 2) demand.at(m, m + 1) = demand.at(m + 1, m) = Bytes{};
      all.push_back(std::move(demand));
    }
  }
  return all;
}

/// What the port of the busiest receiver needs. A sender may have the ports of both GPUs of its server.
Duration hottest_receiver(const TrafficMatrix& demand, Bandwidth rate) {
  Bytes most{};
  for (Member to = 0; to < demand.members(); ++to) {
    Bytes sum{};
    for (Member from = 0; from < demand.members(); ++from) sum += demand.at(from, to);
    most = std::max(most, sum);
  }
  return transfer_time(most, rate);
}

/// For each shift of servers of two GPUs, one after another, what its circuits need: a circuit carries to a GPU what both
/// GPUs of a server send it.
struct ServerShifts {
  Duration busiest{};  ///< what the busiest circuit carries, without a pause
  Duration in_turn{};  ///< the same, and then the largest pair to the other local index once more
};

ServerShifts server_shifts(const TrafficMatrix& demand, Bandwidth rate) {
  const Member servers = demand.members() / 2;
  ServerShifts sum;
  for (Member shift = 1; shift < servers; ++shift) {
    Bytes circuit{};
    Bytes other{};
    for (Member m = 0; m < demand.members(); ++m) {
      const Member to = (m / 2 + shift) % servers * 2 + m % 2;
      other = std::max(other, demand.at(m ^ 1u, to));
      circuit = std::max(circuit, demand.at(m, to) + demand.at(m ^ 1u, to));
    }
    sum.busiest += transfer_time(circuit, rate);
    sum.in_turn += transfer_time(circuit, rate) + transfer_time(other, rate);
  }
  return sum;
}

TEST(Families, MixtureOfExpertsWaitsForEveryRoundOnCircuits) {
  const Scenario scenario = load("moe-all-to-all.json");
  const RunResult electrical = run("moe-all-to-all-electrical.json");
  const RunResult optical = simulate(scenario);
  Duration hottest{};
  ServerShifts shifts;
  const std::vector<TrafficMatrix> demands = demands_on_rails(scenario);
  ASSERT_EQ(demands.size(), 8u);  // 2 iterations x 2 layers x dispatch and combine
  for (const TrafficMatrix& demand : demands) {
    hottest += hottest_receiver(demand, scenario.cluster.nic.per_port);
    const ServerShifts of = server_shifts(demand, scenario.cluster.nic.per_port);
    shifts.busiest += of.busiest;
    shifts.in_turn += of.in_turn;
  }
  // 2 x 2 x 16 members x 8192 tokens x 8 experts x 2048 elements x (1 + 2) bytes are 24 GiB, with what stays at home: a
  // sixteenth where members choose alike, and they nearly do.
  const std::int64_t bytes = traffic(optical, Dimension::kEp).bytes.count;
  EXPECT_EQ(traffic(electrical, Dimension::kEp).bytes.count, bytes);
  EXPECT_NEAR(static_cast<double>(bytes), 22.5 * (1 << 30), 0.01 * 22.5 * (1 << 30));
  // Electrical, all at once: no port carries more than its rate.
  EXPECT_GT(electrical.makespan, hottest);
  // Optical: the 8 servers are shifted 7 times, and each shift points both rails at once and waits 80 us. Its two steps, to
  // the same local index and to the other, take at least what the busiest circuit carries; a member whose first step shared
  // its circuit with another's second one has its own second step still to go, so that both take at most the largest pair
  // of that more. What is left is latency, of the rail and of the way to another local index, and overhead: at most 2.01 us
  // a step.
  EXPECT_EQ(optical.reconfigurations.count, 8u * 14);
  EXPECT_GT(optical.makespan, shifts.busiest + 8 * 7 * ms(0.08));
  EXPECT_LE(optical.makespan, shifts.in_turn + 8 * 7 * ms(0.08) + 8 * 15 * ms(0.00201));
  EXPECT_LT(electrical.makespan, optical.makespan);
}

// At the delays of the files. Faster than electrical is possible in principle where circuits keep two flows from sharing a
// port (see quickstart_test.cpp), slower to announce than not to announce is not, while the order of the phases is fixed.
TEST(Families, ElectricalIsFastestThenProvisionedThenOnDemand) {
  const auto in_order = [](const std::string& electrical, const std::string& provisioned, const std::string& on_demand) {
    const Duration a = run(electrical).makespan;
    const Duration b = run(provisioned).makespan;
    const Duration c = run(on_demand).makespan;
    EXPECT_LE(a, b) << provisioned;
    EXPECT_LE(b, c) << on_demand;
  };
  in_order("quickstart-electrical.json", "quickstart.json", "quickstart-on-demand.json");
  in_order("papers/opus/smoke-electrical.json", "papers/opus/smoke-provisioned.json", "papers/opus/smoke-on-demand.json");
  in_order("papers/opus/smoke-electrical.json", "papers/opus/smoke-provisioned-one-lane.json",
           "papers/opus/smoke-on-demand-one-lane.json");
}

}  // namespace
}  // namespace photonrail::test
