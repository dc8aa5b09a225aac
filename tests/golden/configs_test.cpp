// Every scenario in configs/ runs, at both fidelities, and keeps the promises that every scenario must keep.
#include "golden/golden.hpp"
#include "support/folded.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <thread>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Paths below configs/; sweeps and other documents are not scenarios.
std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(configs())) {
    if (entry.path().extension() != ".json") continue;
    if (text_of(entry.path()).find("\"photonrail.scenario/1\"") == std::string::npos) continue;
    files.push_back(entry.path().lexically_relative(configs()).generic_string());
  }
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

class Configs : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const bool needs_data = text_of(configs() / GetParam()).find("${PHOTONRAIL_SHARED_DATA}") != std::string::npos;
    if (needs_data && !shared_data()) {
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

  Scenario scenario_;
};

TEST_P(Configs, SaysWhyItIsThere) {
  EXPECT_FALSE(scenario_.name.empty());
  EXPECT_FALSE(scenario_.why.empty());
}

TEST_P(Configs, FidelitiesAgreeWithinTheLatencyTermAndTheBooksBalance) {
  const RunResult exact = simulate(at(Fidelity::kExact));
  const RunResult stream = simulate(at(Fidelity::kStream));
  expect_balanced(exact);
  expect_balanced(stream);
  const Duration room = latency_term(scenario_);
  const Duration apart = std::chrono::abs(exact.makespan - stream.makespan);
  RecordProperty("apart_ps", std::to_string(apart.count()));
  RecordProperty("room_ps", std::to_string(room.count()));
  EXPECT_LE(apart, room);
  EXPECT_LT(room, exact.makespan / 100) << "a bound that allows anything says nothing";
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    EXPECT_EQ(exact.traffic[d].bytes, stream.traffic[d].bytes);
    EXPECT_EQ(exact.traffic[d].operations, stream.traffic[d].operations);
  }
}

TEST_P(Configs, FoldedAndUnfoldedAreEqual) {
  for (const Fidelity fidelity : {Fidelity::kStream, Fidelity::kExact}) {
    const RunResult folded = expect_same_folded(at(fidelity));
    RecordProperty("classes", std::to_string(folded.folding.classes));
    RecordProperty("off", folded.folding.off);
  }
}

TEST_P(Configs, TheSameHistoryTwiceAndInTwoThreadsAtOnce) {
  for (const Fidelity fidelity : {Fidelity::kStream, Fidelity::kExact}) {
    const Scenario scenario = at(fidelity);
    const std::uint64_t alone = history(scenario);
    EXPECT_EQ(history(scenario), alone);
    std::uint64_t hashes[2] = {};
    std::thread first([&] { hashes[0] = history(scenario); });
    std::thread second([&] { hashes[1] = history(scenario); });
    first.join();
    second.join();
    EXPECT_EQ(hashes[0], alone);
    EXPECT_EQ(hashes[1], alone);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Configs, ::testing::ValuesIn(scenario_files()), test_name);

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
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  ASSERT_TRUE(std::filesystem::exists(data / "chakra"));
  in_order("papers/opus/smoke-electrical.json", "papers/opus/smoke-provisioned.json", "papers/opus/smoke-on-demand.json");
  in_order("papers/opus/smoke-electrical.json", "papers/opus/smoke-provisioned-one-lane.json",
           "papers/opus/smoke-on-demand-one-lane.json");
}

}  // namespace
}  // namespace photonrail::test
