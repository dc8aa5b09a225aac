// Training jobs drawn at random with experts, context parallelism, tiers, slow GPUs, several jobs and pods, under every
// policy that treats equal ranks or equal rails equally: folded or not, they end in the same result.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "run/drawing.hpp"
#include "support/folded.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using Json = nlohmann::json;

const int kTrainingCases = static_cast<int>(test_cases(100));

/// What a drawn job has, so that a test can say that each was met, folded.
using Features = std::set<std::string>;

/// What the drawn jobs run on.
enum class Drawn {
  kAll,
  kEqualRails,  ///< groups of tensor parallelism fill servers, under a policy that serves pairs or forwards
};

class TrainingDrawing {
 public:
  explicit TrainingDrawing(std::uint64_t seed, Drawn drawn = Drawn::kAll) : dice_(seed), drawn_(drawn) {
    draw_shape();
    draw_cluster();
    draw_controller();
    scenario_["schema"] = "photonrail.scenario/1";
    scenario_["name"] = "drawn";
    scenario_["run"] = {{"fidelity", dice_.one_in(3) ? "exact" : "stream"},
                        {"iterations", dice_.one_in(8) ? dice_.from_to(20, 30) : dice_.from_to(1, 2)},
                        {"spread_seeds", 0}};
    if (drawn_ == Drawn::kAll && dice_.one_in(5)) {
      draw_jobs();
    } else {
      draw_job(scenario_);
    }
  }

  [[nodiscard]] Scenario scenario(bool folding) {
    scenario_["run"]["folding"] = folding;
    return parse_scenario(scenario_.dump(), ".");
  }
  [[nodiscard]] const Features& features() const { return features_; }
  [[nodiscard]] std::string text() const { return scenario_.dump(); }

 private:
  void draw_shape() {
    tp_ = drawn_ == Drawn::kAll ? dice_.pick<std::uint32_t>({1, 1, 2, 4}) : dice_.pick<std::uint32_t>({2, 4});
    cp_ = dice_.pick<std::uint32_t>({1, 1, 2, 4});
    pp_ = dice_.pick<std::uint32_t>({1, 2, 2, 4});
    dp_ = dice_.pick<std::uint32_t>({1, 2, 4, 8});
    while (tp_ * cp_ * pp_ * dp_ > 64) {
      std::uint32_t& largest =
          std::max({std::ref(tp_), std::ref(cp_), std::ref(pp_), std::ref(dp_)}, std::less<std::uint32_t>()).get();
      largest /= 2;
    }
    if (tp_ * cp_ * pp_ * dp_ < 4) dp_ *= 4;
    servers_ = drawn_ == Drawn::kEqualRails ? ranks() / tp_ : std::max(2U, ranks() / dice_.pick<std::uint32_t>({2, 4, 8}));
    servers_ = std::min(servers_, ranks());
    if (cp_ > 1) features_.insert("cp");
  }
  [[nodiscard]] std::uint32_t ranks() const { return tp_ * cp_ * pp_ * dp_; }

  void draw_cluster() {
    Json& cluster = scenario_["cluster"];
    cluster = {
        {"servers", servers_},
        {"gpus_per_server", ranks() / servers_},
        {"gpu", {{"peak_tflops", 900}, {"memory_gb_per_s", 3000}}},
        {"scale_up", {{"latency_ns", dice_.pick<double>({0, 936.25})}}},
        {"nic", {{"port_gb_per_s", dice_.pick<double>({50, 33.3})}, {"latency_ns", dice_.pick<double>({0, 936.25})}}}};
    if (dice_.one_in(4)) cluster["nic"]["ports"] = 2;
    optical_ = drawn_ == Drawn::kEqualRails || !dice_.one_in(3);
    Json& rail = cluster["rail"];
    if (optical_) {
      rail = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", dice_.pick<double>({0, 0.02, 1, 10})}}}};
      if (drawn_ == Drawn::kAll && dice_.one_in(12)) {
        features_.insert("pods");
        rail["pods"] = {{"servers", dice_.from_to(1, servers_ - 1)}, {"joined_by", "electrical"}};
      }
      return;
    }
    rail["kind"] = "electrical";
    if (dice_.one_in(3)) return;
    features_.insert("tiers");
    rail["radix"] = dice_.pick<std::uint32_t>({4, 8, 16});
    rail["oversubscription"] = dice_.pick<double>({1, 1, 1, 3});
  }

  void draw_controller() {
    if (!optical_) return;
    std::string policy = dice_.pick<std::string>({"opus", "opus", "opus", "coalesce", "phases", "pairs or forwards"});
    if (drawn_ == Drawn::kEqualRails) policy = "pairs or forwards";
    Json controller{{"name", policy}};
    if (policy == "opus") {
      controller["mode"] = dice_.one_in(3) ? "on_demand" : "provisioned";
      if (dice_.one_in(4)) controller["order"] = "free";
    }
    if (policy == "coalesce") controller["rehearse"] = dice_.one_in(2);
    features_.insert(policy);
    if (policy == "pairs or forwards") {
      controller["name"] = policy = dice_.pick<std::string>(
          {"lru", "max_weight", "mixnet", "rotor", "static_split", "topoopt", "harvest", "bvn", "solstice"});
      features_.insert(policy);
    }
    scenario_["controller"] = controller;
  }

  void draw_job(Json& job) {
    const std::uint32_t micro = pp_ * dice_.from_to(1, 2);
    Json parallelism{{"tp", tp_}, {"cp", cp_}, {"pp", pp_}, {"dp", dp_}};
    Json model{{"layers", pp_ * dice_.from_to(1, 2)},
               {"hidden", 64 * tp_},
               {"ffn", 128 * tp_},
               {"heads", 8 * tp_},
               {"kv_heads", 4 * tp_},
               {"vocabulary", 256 * tp_}};
    if (dp_ > 1 && dice_.one_in(2)) {
      features_.insert("experts");
      const std::uint32_t ep = dice_.one_in(2) ? dp_ : 2;
      model["moe"] = {{"experts", 2 * ep}, {"top_k", dice_.from_to(1, 2)}, {"ffn", 32}};
      parallelism["ep"] = ep;
    } else if (dp_ * cp_ > 1 && dice_.one_in(2)) {
      parallelism["fsdp"] = true;
    }
    job["workload"]["training"] = {{"model", model},
                                   {"sequence", 32 * cp_ * tp_},
                                   {"global_batch", dp_ * micro},
                                   {"schedule", dice_.one_in(4) ? "gpipe" : "1f1b"},
                                   {"parallelism", parallelism}};
    if (drawn_ == Drawn::kAll && dice_.one_in(2)) {
      std::vector<std::string> order{"tp", "cp", "dp", "pp"};
      dice_.shuffle(order);
      job["placement"] = {{"order", order}};
    }
    if (!dice_.one_in(4)) return;
    features_.insert("slow GPUs");
    job["stragglers"] = Json::array({{{"ranks", slow_ranks()}, {"slowdown", dice_.pick<double>({1.5, 3})}}});
  }

  // One rank; or a stage, so that its ranks are slow alike.
  [[nodiscard]] std::vector<std::uint32_t> slow_ranks() {
    if (dice_.one_in(2)) return {dice_.from_to(0, ranks() - 1)};
    const std::uint32_t first = ranks() / pp_ * dice_.from_to(0, pp_ - 1);
    std::vector<std::uint32_t> slow(ranks() / pp_);
    std::iota(slow.begin(), slow.end(), first);
    return slow;
  }

  // As many servers again for each further job; the pods and tiers are those of all.
  void draw_jobs() {
    features_.insert("jobs");
    const std::uint32_t count = dice_.from_to(2, 3);
    scenario_["cluster"]["servers"] = count * servers_;
    if (optical_ && dice_.one_in(2)) {
      features_.insert("pods");
      scenario_["cluster"]["rail"]["pods"] = {{"servers", servers_ * dice_.from_to(1, count - 1)}};
      scenario_["cluster"]["rail"]["pods"]["joined_by"] = dice_.one_in(2) ? "electrical" : "optical";
    }
    const bool alike = dice_.one_in(2);
    for (std::uint32_t j = 0; j < count; ++j) {
      Json job;
      if (alike && j > 0) {
        job = scenario_["jobs"][0];
      } else {
        draw_job(job);
      }
      job["servers"] = Json::array();
      for (std::uint32_t s = 0; s < servers_; ++s) job["servers"].push_back(j * servers_ + s);
      scenario_["jobs"].push_back(job);
    }
  }

  Dice dice_;
  Drawn drawn_;
  Json scenario_;
  Features features_;
  std::uint32_t tp_ = 1;
  std::uint32_t cp_ = 1;
  std::uint32_t pp_ = 1;
  std::uint32_t dp_ = 1;
  std::uint32_t servers_ = 1;
  bool optical_ = false;
};

struct TrainingOutcome {
  std::optional<RunResult> result;
  std::string error;
};

TrainingOutcome training_outcome(TrainingDrawing& job, bool folding) {
  try {
    return {simulate(job.scenario(folding)), ""};
  } catch (const std::exception& e) {
    return {std::nullopt, e.what()};
  }
}

void expect_same_jobs(const RunResult& a, const RunResult& b) {
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t j = 0; j < a.jobs.size(); ++j) {
    EXPECT_EQ(a.jobs[j].iterations, b.jobs[j].iterations) << "job " << j;
  }
}

/// How many jobs with each feature were folded, and how often what kept others from it.
struct FoldedCases {
  std::map<std::string, int> with{};
  std::map<std::string, int> off{};
  int finished = 0;
};

FoldedCases expect_all_fold_exactly(Drawn drawn) {
  FoldedCases cases;
  for (int seed = 0; seed < kTrainingCases; ++seed) {
    TrainingDrawing job(static_cast<std::uint64_t>(seed), drawn);
    const TrainingOutcome folded = training_outcome(job, true);
    const TrainingOutcome unfolded = training_outcome(job, false);
    EXPECT_EQ(folded.error, unfolded.error) << "case " << seed;
    ++cases.off[folded.result ? folded.result->folding.off : "error: " + folded.error.substr(0, 60)];
    if (!folded.result || !unfolded.result) continue;
    ++cases.finished;
    expect_same_results(*folded.result, *unfolded.result);
    expect_same_jobs(*folded.result, *unfolded.result);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "case " << seed << ", off: " << folded.result->folding.off << "\n" << job.text();
      break;
    }
    if (folded.result->folding.classes == folded.result->folding.ranks) continue;
    ++cases.with[""];
    for (const std::string& feature : job.features()) ++cases.with[feature];
  }
  for (const auto& [why, of] : cases.off) ::testing::Test::RecordProperty(why.empty() ? "folded" : why, of);
  for (const auto& [feature, of] : cases.with) ::testing::Test::RecordProperty("folded with " + feature, of);
  return cases;
}

TEST(FoldingProperty, TrainingJobsWithAllThatFolds) {
  FoldedCases cases = expect_all_fold_exactly(Drawn::kAll);
  EXPECT_GT(cases.finished, kTrainingCases * 3 / 4);
  EXPECT_GT(cases.with[""], kTrainingCases / 4) << "too few were folded to say anything";
  for (const char* const feature : {"experts", "cp", "tiers", "slow GPUs", "opus", "coalesce", "phases", "jobs", "pods"}) {
    EXPECT_GT(cases.with[feature], 0) << "none was folded with " << feature;
  }
}

// Each rail is run as it is, pair by pair or over other GPUs, and stands for those that are equal to it.
TEST(FoldingProperty, WholeRailsUnderPoliciesThatServePairsOrForward) {
  FoldedCases cases = expect_all_fold_exactly(Drawn::kEqualRails);
  EXPECT_GT(cases.with[""], kTrainingCases / 4) << "too few were folded to say anything";
  for (const char* const policy :
       {"lru", "max_weight", "mixnet", "rotor", "static_split", "topoopt", "harvest", "bvn", "solstice"}) {
    EXPECT_GT(cases.with[policy], 0) << "none was folded under " << policy;
  }
}

}  // namespace
}  // namespace photonrail::test
