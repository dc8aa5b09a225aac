// Worlds, months and studies together say every key that a file may have, every word that a key chooses from, and pairs of
// them.
#include "worlds/cover.hpp"

#include "json/json_reader.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "schema/schema.hpp"
#include "studies/slices/reader.hpp"
#include "worlds/family.hpp"
#include "worlds/inputs.hpp"
#include "worlds/plan.hpp"
#include "worlds/words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace photonrail::worlds {
namespace {

/// Words that no drawn file says, and why.
struct Unsaid {
  std::string begin;
  std::string why;
};
const std::vector<Unsaid> kUnsaid{
    {"/astra", "names files: tests/formats/astra"},
    {"/workload/chakra", "names files: tests/formats/chakra"},
    {"/workload/kineto", "names files: tests/formats/kineto"},
    {"/workload/serving/requests/rate_factor", "is of a trace"},
    {"/workload/serving/requests/trace", "names a file: tests/serving"},
    {"/workload/serving/times/kernels", "names files: tests/serving"},
    {"/workload/collective/algorithm/", "names files: tests/formats/msccl"},
    {"/workload/training/model/huggingface", "names a file: tests/config/huggingface"},
    {"/workload/training/operators/folder", "names files: tests/formats/operators"},
};

/// Tables that are drawn elsewhere: of training, models, engines and the times of their steps.
const std::vector<std::string> kTablesOfOthers{
    "/workload/rl/generation/batching/", "/workload/rl/generation/times/",  "/workload/rl/training/",
    "/workload/serving/model/",          "/workload/serving/pools/engine/", "/workload/serving/pools/times/"};

bool is_algorithm_file(const std::string& word) {
  return word.starts_with("/collectives/") && std::count(word.begin(), word.end(), '/') == 3;
}

bool is_of_others(const std::string& word) {
  return std::any_of(kTablesOfOthers.begin(), kTablesOfOthers.end(),
                     [&](const std::string& table) { return word.starts_with(table); });
}

// A router of weights is an object with weights: the word alone is refused.
bool is_refused_always(const std::string& word) { return word.ends_with("/router=weights"); }

bool is_unsaid(const std::string& word) {
  return is_algorithm_file(word) || is_refused_always(word) ||
         std::any_of(kUnsaid.begin(), kUnsaid.end(), [&](const Unsaid& of) { return word.starts_with(of.begin); });
}

// Those of the plan, and where some of `wanted` are left more ordinary worlds.
void add_said_in_scenarios(const Words& wanted, Words& said) {
  const Words& planned = Plan::of_worlds().said();
  said.insert(planned.begin(), planned.end());
  const auto is_said = [&](const std::string& word) { return said.contains(word); };
  for (std::uint64_t number = 3001; number <= 15'000; ++number) {
    if (std::all_of(wanted.begin(), wanted.end(), is_said)) return;
    const World world = draw_ordinary(number);
    const Words words = words_of(world.scenario);
    if (!std::all_of(words.begin(), words.end(), is_said) && is_accepted(world.scenario))
      said.insert(words.begin(), words.end());
  }
}

// What is served and learned is drawn in a family of its own.
void add_said_by_agents(const Words& wanted, Words& said) {
  const auto is_of_agents = [](const std::string& word) {
    return word.starts_with("/workload/serving") || word.starts_with("/workload/rl") || word.starts_with("/workload/agent");
  };
  const auto is_done = [&](const std::string& word) { return !is_of_agents(word) || said.contains(word); };
  for (std::uint64_t number = 1; number <= 10'000 && !std::all_of(wanted.begin(), wanted.end(), is_done); ++number) {
    Json scenario = draw_agents(number).scenario;
    scenario.erase("agents");
    if (!is_accepted(scenario)) continue;
    for (const std::string& word : words_of(scenario)) {
      if (is_of_agents(word)) said.insert(word);
    }
  }
}

Words said_in_months() {
  Words said;
  for (std::uint64_t number = 1; number <= 1500; ++number) {
    for (const std::string& word : words_of(draw_goodput(number).scenario)) {
      if (word.starts_with("/reliability")) said.insert(word);
    }
  }
  return said;
}

TEST(Cover, EveryKeyAndWordOfAScenarioIsSaid) {
  const Words known = words_of_schema(Json::parse(json_schema("scenario")));
  ASSERT_GT(known.size(), 1000u);
  Words wanted = known;
  std::erase_if(wanted, [](const std::string& word) { return is_unsaid(word) || is_of_others(word); });
  Words said = said_in_months();
  add_said_by_agents(wanted, said);
  add_said_in_scenarios(wanted, said);
  for (const std::string& word : known) {
    if (is_of_others(word)) continue;
    if (is_unsaid(word)) {
      EXPECT_FALSE(said.contains(word)) << word << " is said: take it from the list";
    } else {
      EXPECT_TRUE(said.contains(word)) << word;
    }
  }
}

TEST(Cover, EveryKeyAndWordOfAStudyOfSlicesIsSaid) {
  Words said;
  for (std::uint64_t number = 1; number <= 2000; ++number) {
    const World world = draw_allocation(number);
    try {
      const std::string text = world.scenario.dump();
      static_cast<void>(
          slices::read_study_json(json::parse_json(text, "study"), inputs(), slices::AllocatorRegistry::builtin()));
      const Words words = words_of(world.scenario);
      said.insert(words.begin(), words.end());
    } catch (const ConfigError&) {
      continue;
    }
  }
  const Words known = words_of_schema(Json::parse(json_schema("allocation")));
  ASSERT_GT(known.size(), 90u);
  for (const std::string& word : known) EXPECT_TRUE(said.contains(word)) << word;
}

bool stand_together(const Json& scenario, const std::pair<std::string, std::string>& pair) {
  const std::vector<Words> jobs = words_by_job(scenario);
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](const Words& words) { return words.contains(pair.first) && words.contains(pair.second); });
}

void expect_nothing_excluded(std::uint64_t number, const Json& scenario) {
  for (const Words& words : words_by_job(scenario)) {
    for (const Exclusion& of : exclusions()) {
      const auto one = words.lower_bound(of.one);
      const auto other = words.lower_bound(of.other);
      const bool both = one != words.end() && other != words.end() && one->starts_with(of.one) &&
                        other->starts_with(of.other) && *one != *other;
      EXPECT_FALSE(both) << "world " << number << ": " << *one << " and " << *other << " (" << of.why << ")";
    }
  }
}

// One test, since the plan is made once for it. Half of the worlds are children, and most have the two words that they are
// drawn for; a nightly draws 6,000 (95.5 % of the pairs), and asks the readers which of the others they refuse. None is
// run.
TEST(Cover, PairsOfWordsStandTogether) {
  for (const Exclusion& exclusion : exclusions()) EXPECT_FALSE(exclusion.why.empty()) << exclusion.one;
  const bool night = std::getenv("PHOTONRAIL_TEST_CASES") != nullptr;
  const std::uint64_t worlds = night ? 6000 : 200;
  Cover cover;
  std::uint64_t as_wanted = 0;
  for (std::uint64_t number = 1; number <= worlds; ++number) {
    const World world = draw_world(number);
    if (!is_accepted(world.scenario)) continue;
    cover.add(world.scenario);
    expect_nothing_excluded(number, world.scenario);
    const bool child = number % 2 == 0;
    if (child && stand_together(world.scenario, Plan::of_worlds().wanted(number / 2))) ++as_wanted;
  }
  EXPECT_GT(as_wanted, worlds / 4);
  EXPECT_GT(cover.words(), night ? 950u : 800u);
  if (night) EXPECT_LT(cover.leave_out_refused(), cover.possible() / 50);
  EXPECT_GT(cover.share(), night ? 0.95 : 0.4);
}

}  // namespace
}  // namespace photonrail::worlds
