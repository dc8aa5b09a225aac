// The published steps of Opus: simulated on 128 ranks, with the trace of figure 12, and measured on 16 GPUs. Both sets are
// data of tests/validation, from which docs/validation is made; here what they call ours is run again.
#include "golden/golden.hpp"
#include "photonrail/formats/astra.hpp"
#include "studies/rows/measured_rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;

fs::path validation() { return fs::path(PHOTONRAIL_SOURCE_DIR) / "tests" / "validation"; }

/// The row of a figure.
nlohmann::json row_of(const std::string& file, const std::string& figure) {
  const nlohmann::json data = nlohmann::json::parse(std::ifstream(validation() / file));
  for (const nlohmann::json& row : data.at("rows")) {
    if (row.at("figure") == figure) return row;
  }
  throw std::runtime_error(file + " has no row " + figure);
}

/// The traces, unpacked once.
fs::path traces(const fs::path& data) {
  const fs::path folder = fs::path(::testing::TempDir()) / "figure12";
  if (!fs::exists(folder / "unpacked")) {
    fs::create_directories(folder);
    const fs::path archive = data / "chakra" / "opus-figure12-dp4-pp4-tp8" / "traces.tar.xz";
    const std::string unpack = "tar xJf '" + archive.string() + "' -C '" + folder.string() + "'";
    if (std::system(unpack.c_str()) != 0) throw std::runtime_error("failed: " + unpack);
    std::ofstream(folder / "unpacked") << "whole\n";
  }
  ::setenv("FIGURE12", folder.c_str(), 1);
  return folder;
}

double step(const std::vector<std::string>& sets) {
  std::vector<Override> overrides;
  for (const std::string& set : sets) overrides.push_back(Override::parse(set));
  return to_seconds(simulate(read_scenario(validation() / "figure12" / "scenario.json", overrides)).makespan);
}

void expect_row(const std::string& figure, const std::vector<std::string>& sets, double within) {
  const nlohmann::json row = row_of("opus-figure12.json", figure);
  for (const auto& [delay, published] : row.at("published").items()) {
    std::vector<std::string> all = sets;
    all.push_back("/cluster/rail/switch/reconfiguration_ms=" + delay.substr(0, delay.size() - 2));
    const double ours = step(all);
    EXPECT_NEAR(ours, row.at("ours").at(delay).get<double>(), 1e-4) << figure << " at " << delay;
    EXPECT_NEAR(ours / published.get<double>(), 1.0, within) << figure << " at " << delay;
  }
}

constexpr const char* kTogether = "/executor/concurrent_collectives=together";
constexpr const char* kSetProvisioned = "/controller/mode=provisioned";

// Every optical row within 0.25 % where collectives that are ready together share the links, as in the published simulator.
TEST(Figure12, OpticalStepsAreThePublishedOnesWithSharedLinks) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  traces(data);
  expect_row("on demand, collectives together", {kTogether}, 0.0025);
  expect_row("provisioned, collectives together", {kTogether, kSetProvisioned}, 0.0025);
  expect_row("on demand, collectives in turn", {}, 0.065);
  expect_row("provisioned, collectives in turn", {kSetProvisioned}, 0.065);
}

// The published electrical step lies between two gathers in turn and two that share the links: it is that of a queue of
// chunks, of which a dimension has one active. ASTRA-sim's rules have that queue.
TEST(Figure12, TheElectricalStepIsThatOfAQueueOfChunks) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const fs::path folder = traces(data);
  const nlohmann::json row = row_of("opus-figure12.json", "electrical");
  const std::vector<std::string> electrical{R"(/cluster/rail={"kind": "electrical"})",
                                            R"(/controller={"name": "electrical"})"};
  std::vector<std::string> together = electrical;
  together.emplace_back(kTogether);
  EXPECT_NEAR(step(electrical), row.at("ours").at("in turn").get<double>(), 1e-4);
  EXPECT_NEAR(step(together), row.at("ours").at("together").get<double>(), 1e-4);
  const fs::path rules = validation() / "figure12";
  const AnalyticalResult result = simulate_analytical(
      read_astra({rules / "system.json", rules / "network.yml", folder / "workload", folder / "workload.json", {}}),
      AnalyticalBackend::kCongestionAware);
  const double queued = static_cast<double>(*std::max_element(result.finish_ns.begin(), result.finish_ns.end())) / 1e9;
  EXPECT_NEAR(queued, row.at("ours").at("ASTRA-sim's rules, rings").get<double>(), 1e-4);
  EXPECT_NEAR(queued / row.at("published").at("in turn").get<double>(), 1.0, 0.002);
}

// One number is fitted, the efficiency, to the electrical step.
TEST(Testbed, MeasuredStepsAreMetAtEveryDelay) {
  const rows::MeasuredRows rows = rows::read_measured_rows(configs() / "rows" / "opus-testbed.json");
  const auto outcomes = run_rows(rows, Registries{});
  ASSERT_EQ(outcomes.size(), 21U);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_EQ(outcomes[i].problem, "") << rows.rows[i].name;
    const double error = outcomes[i].error(rows.rows[i]);
    if (i == 0) {
      EXPECT_NEAR(error, 0.0, 1e-4);
    }
    EXPECT_GT(error, -0.035) << rows.rows[i].name;
    EXPECT_LT(error, 0.067) << rows.rows[i].name;
  }
}

// docs/validation is made from tests/validation.
TEST(ValidationPages, SayWhatTheirDataSay) {
  const std::string check = "python3 '" + std::string(PHOTONRAIL_SOURCE_DIR) + "/tools/validation/tables.py' --check";
  EXPECT_EQ(std::system(check.c_str()), 0) << check;
}

}  // namespace
}  // namespace photonrail::test
