// The generator, the judge and the sandbox; and a fixed share of worlds that nothing may be wrong with.
#include "worlds/campaign.hpp"
#include "worlds/shrink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>

namespace photonrail::worlds {
namespace {

using ::testing::Each;
using ::testing::Ge;

std::uint64_t cases(std::uint64_t usual) {
  const char* given = std::getenv("PHOTONRAIL_TEST_CASES");
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

// What a scenario says: pointers with the numbers of elements left out, and words with what they are for.
void list_words(const Json& value, const std::string& at, std::set<std::string>& words) {
  if (value.is_string()) words.insert(at + "=" + value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items()) {
    const std::string place = value.is_array() ? at : at + "/" + key;
    words.insert(place);
    list_words(inner, place, words);
  }
}

TEST(Worlds, NothingIsWrongWithAFixedShare) {
  CampaignOptions options;
  options.cases = cases(250);
  options.shrink_tries = 300;
  const CampaignReport report = run_campaign(options);
  EXPECT_EQ(report.worlds, options.cases);
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.symptom << ", seed " << finding.seed << ": " << finding.detail << '\n'
                  << to_text(finding.smallest);
  }
  // A generator whose worlds are refused examines the reader only.
  EXPECT_LT(report.refused, 2 * report.worlds / 5) << to_json_text(report);
  EXPECT_GT(report.done, report.worlds / 2);
}

// Each note is there where it is true, and not elsewhere; the truth comes from the file, the books and the twins alone.
// Nightly 400 drawn scenarios are examined, and fewer in the gate.
TEST(Worlds, NotesAreTrue) {
  const std::uint64_t wanted = std::min<std::uint64_t>(cases(20), 400);
  CampaignOptions options;
  options.judge.only_law = "notes";
  options.seed = 1001;  // the first children are drawn without a second plan
  options.cases = 50;
  options.shrink_tries = 100;
  std::uint64_t examined = 0;
  for (int batch = 0; batch < 100 && examined < wanted; ++batch, options.seed += options.cases) {
    const CampaignReport report = run_campaign(options);
    for (const Finding& finding : report.findings) {
      ADD_FAILURE() << finding.symptom << ", seed " << finding.seed << ": " << finding.detail << '\n'
                    << to_text(finding.smallest);
    }
    const auto notes = report.laws.find("notes");
    if (notes != report.laws.end()) examined += notes->second;
  }
  EXPECT_GE(examined, wanted);
  RecordProperty("examined", static_cast<int>(examined));
}

TEST(Worlds, AreTheSameForOneSeed) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) EXPECT_EQ(to_text(draw_world(seed)), to_text(draw_world(seed)));
  EXPECT_NE(to_text(draw_world(1)), to_text(draw_world(2)));
}

// The words of as many worlds as say all of `wanted`, or of 3,000. Worlds that one test has drawn count for the others.
const std::set<std::string>& words_of_worlds(const std::set<std::string>& wanted) {
  static std::set<std::string> words;
  static std::uint64_t drawn = 0;
  while (drawn < 3000 && !std::includes(words.begin(), words.end(), wanted.begin(), wanted.end()))
    list_words(draw_world(++drawn).scenario, "", words);
  return words;
}

TEST(Worlds, SayEverythingThatAScenarioCanSay) {
  const std::set<std::string> wanted = {"/cluster/rail/kind=electrical",
                                        "/cluster/rail/radix",
                                        "/cluster/rail/switch/batching_us",
                                        "/cluster/rail/switch/commands_per_s",
                                        "/cluster/rail/switch/dark=switch",
                                        "/cluster/rail/switch/reconfiguration_us/distribution=log_normal",
                                        "/cluster/rail/switch/pip/rows",
                                        "/cluster/rail/switch/pip/crosstalk_db",
                                        "/cluster/rail/switch/insertion_loss_db",
                                        "/cluster/nic/optical_budget_db",
                                        "/cluster/rail/forwarding",
                                        "/cluster/rail/on_dark=pause",
                                        "/cluster/rail/planes",
                                        "/cluster/rail/pods/joined_by=optical",
                                        "/cluster/rail/faults/kind=stuck",
                                        "/cluster/rail/faults/kind=slow",
                                        "/cluster/rail/faults/lasts_us",
                                        "/cluster/rail/faults/plane",
                                        "/cluster/rail/faults/detection_us",
                                        "/stragglers/stops",
                                        "/cluster/scale_up/faults/rate",
                                        "/cluster/scale_up/faults/lasts_us",
                                        "/cluster/scale_up/faults/switch/at",
                                        "/cluster/scale_up/torus/rail_rings",
                                        "/cluster/scale_up/curve/step_ns",
                                        "/cluster/nic/gpus",
                                        "/cluster/unlike_gpus/memory_gb",
                                        "/cluster/unlike_gpus/gpu/peak_tflops",
                                        "/executor/sm_share/ep",
                                        "/controller/circuits",
                                        "/controller/messages/loss",
                                        "/controller/restarts/down_us",
                                        "/controller/shims",
                                        "/controller/placement=hierarchical",
                                        "/controller/mode=provisioned",
                                        "/controller/order=free",
                                        "/executor/comm_lanes=one",
                                        "/jobs/servers",
                                        "/jobs/start_us",
                                        "/jobs/controller/name=oracle",
                                        "/stragglers/slowdown",
                                        "/workload/checkpoint/to=peer",
                                        "/workload/checkpoint/mode=asynchronous",
                                        "/workload/checkpoint/host_gb_per_s",
                                        "/server_faults/detection_us",
                                        "/workload/graph/tasks/send_to",
                                        "/workload/collective/moe",
                                        "/workload/moe_layer/execution=pipelined",
                                        "/workload/training/schedule=dualpipe",
                                        "/workload/training/parallelism/ep",
                                        "/run/fidelity=exact",
                                        "/run/critical_path",
                                        "/placement/rank_to_gpu",
                                        "/collectives/chunks",
                                        "/network/accuracy"};
  EXPECT_THAT(words_of_worlds(wanted), ::testing::IsSupersetOf(wanted));
}

TEST(Worlds, HaveUplinksAndSites) {
  std::set<std::string> wanted;
  for (const char* word : {"rail/uplinks/routing=hash", "rail/uplinks/routing=equal", "rail/uplinks/routing=least_loaded",
                           "rail/uplinks/routing=shares", "rail/uplinks/shares", "rail/uplinks/gb_per_s",
                           "rail/faults/uplink", "rail/faults/site_link", "sites/links/between"}) {
    wanted.insert(std::string("/cluster/") + word);
  }
  EXPECT_THAT(words_of_worlds(wanted), ::testing::IsSupersetOf(wanted));
}

TEST(Worlds, HaveEveryPartOfTraining) {
  std::set<std::string> wanted;
  for (const char* word :
       {"dispatch=hybrid_ep", "model/latent_attention/query_rank", "model/pattern", "operators/bf16_layers/last",
        "operators/host/graphs=none", "operators/precision_of/attention", "operators/recompute=experts",
        "operators/stash_experts", "operators/times=tables", "overlap/experts", "overlap/tensor", "stage_layers"}) {
    wanted.insert(std::string("/workload/training/") + word);
  }
  EXPECT_THAT(words_of_worlds(wanted), ::testing::IsSupersetOf(wanted));
}

TEST(Worlds, HaveEveryPolicy) {
  std::set<std::string> wanted;
  for (const char* policy : {"static", "opus", "opus_artifact", "oracle", "coalesce", "static_split", "topoopt", "rotor",
                             "max_weight", "mixnet", "bvn", "solstice", "harvest", "lru", "phases", "polling"}) {
    wanted.insert(std::string("/controller/name=") + policy);
  }
  EXPECT_THAT(words_of_worlds(wanted), ::testing::IsSupersetOf(wanted));
}

// Most worlds are too small for the network to take flows together.
TEST(Worlds, OfThoseWithAnAccuracySomeHaveEpochs) {
  std::uint64_t runs = 0;
  std::uint64_t with_epochs = 0;
  // The children of two worlds are refused more often: those of one drawer are looked at.
  for (std::uint64_t seed = 1; runs < 160 && with_epochs < 3; seed += 2) {
    const World world = draw_world(seed);
    if (!world.scenario.contains("network")) continue;
    const Outcome outcome = run(world.scenario);
    ++runs;
    if (outcome.ending == Ending::kDone && outcome.result.engine.epochs > 0) ++with_epochs;
  }
  EXPECT_GE(with_epochs, 3u);
}

std::vector<World> three_worlds() { return {{1, Json::object()}, {2, Json::object()}, {3, Json::object()}}; }

std::vector<std::string> symptoms_of(const Judge& judge, const Limits& limits = {}) {
  std::vector<std::string> symptoms;
  judge_apart(three_worlds(), judge, limits,
              [&](const World&, const Verdict& verdict) { symptoms.push_back(verdict.symptom); });
  return symptoms;
}

// The second world goes wrong; the third is judged all the same.
TEST(Sandbox, ASignalIsAFinding) {
  const auto judge = [](const World& world) -> Verdict {
    if (world.seed == 2) std::raise(SIGABRT);
    return {};
  };
  EXPECT_EQ(symptoms_of(judge), (std::vector<std::string>{"", "signal", ""}));
}

TEST(Sandbox, AnEndlessRunIsAFinding) {
  const auto judge = [](const World& world) -> Verdict {
    for (volatile bool on = world.seed == 2; on;) {
    }
    return {};
  };
  Limits limits;
  limits.cpu_s = 0.2;
  EXPECT_EQ(symptoms_of(judge, limits), (std::vector<std::string>{"", "hang", ""}));
}

TEST(Sandbox, AnExitIsAFinding) {
  const auto judge = [](const World& world) -> Verdict {
    if (world.seed == 2) std::_Exit(0);
    return {};
  };
  EXPECT_EQ(symptoms_of(judge), (std::vector<std::string>{"", "exit", ""}));
}

TEST(Shrinking, LeavesOnlyWhatTheFaultNeeds) {
  const World world = draw_world(7);
  const World smallest = shrink(
      world, [](const World& w) { return w.scenario.contains("/cluster/nic/ports"_json_pointer); }, 10000);
  // Everything else is gone, and the number of ports is as small as it can be.
  EXPECT_EQ(smallest.scenario, Json::parse(R"({"schema": "photonrail.scenario/1", "cluster": {"nic": {"ports": 0}}})"));
}

TEST(Judge, SeesTimesThatDoNotAddUp) {
  RunResult result;
  result.makespan = Duration{10};
  result.ranks = {{Duration{4}, Duration{3}, Duration{2}, Duration{1}}};
  EXPECT_EQ(problem_of(result), "");
  result.ranks[0].compute = Duration{5};
  EXPECT_EQ(problem_of(result), "the time of rank 0 does not add up to the makespan");
  result.ranks[0] = {Duration{12}, Duration{-2}, {}, {}};
  EXPECT_EQ(problem_of(result), "a part of the time of rank 0 is negative");
}

TEST(Judge, SeesAmountsThatCannotBe) {
  RunResult result;
  result.traffic[0].bytes = Bytes{-1};
  EXPECT_EQ(problem_of(result), "negative traffic");
  result.traffic[0].bytes = Bytes{1};
  result.reconfigurations.count = 3;
  result.reconfigurations.per_rail = {1, 1};
  EXPECT_EQ(problem_of(result), "the commands of the rails do not add up");
  result.reconfigurations.per_rail = {1, 2};
  result.reconfigurations.exposed = Duration{1};
  EXPECT_EQ(problem_of(result), "more time of commands is exposed than there was");
}

}  // namespace
}  // namespace photonrail::worlds
