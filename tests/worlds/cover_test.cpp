// Worlds, months and studies together say every key that a file may have, every word that a key chooses from, and pairs of
// them.
#include "worlds/cover.hpp"

#include "json/json_reader.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/schema.hpp"
#include "studies/slices/reader.hpp"
#include "worlds/family.hpp"
#include "worlds/inputs.hpp"
#include "worlds/plan.hpp"
#include "worlds/words.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
    {"/workload/collective/algorithm/", "names files: tests/formats/msccl"},
    {"/workload/training/model/huggingface", "names a file: tests/config/huggingface"},
    {"/workload/training/operators/folder", "names files: tests/formats/operators"},
};

bool is_algorithm_file(const std::string& word) {
  return word.starts_with("/collectives/") && std::count(word.begin(), word.end(), '/') == 3;
}

// A router of weights is an object with weights: the word alone is refused.
bool is_refused_always(const std::string& word) { return word.ends_with("/router=weights"); }

Words said_in_scenarios() {
  Words said;
  for (std::uint64_t number = 1; number <= 30'000; ++number) {
    const World world = draw_ordinary(number);
    const Words words = words_of(world.scenario);
    const bool has_news = !std::includes(said.begin(), said.end(), words.begin(), words.end());
    if (has_news && is_accepted(world.scenario)) said.insert(words.begin(), words.end());
  }
  return said;
}

Words said_in_months() {
  Words said;
  for (std::uint64_t number = 1; number <= 3000; ++number) {
    for (const std::string& word : words_of(draw_goodput(number).scenario)) {
      if (word.starts_with("/reliability")) said.insert(word);
    }
  }
  return said;
}

TEST(Cover, EveryKeyAndWordOfAScenarioIsSaid) {
  const Words known = words_of_schema(Json::parse(json_schema("scenario")));
  ASSERT_GT(known.size(), 1000u);
  Words said = said_in_scenarios();
  said.merge(said_in_months());
  for (const std::string& word : known) {
    const bool unsaid =
        std::any_of(kUnsaid.begin(), kUnsaid.end(), [&](const Unsaid& of) { return word.starts_with(of.begin); });
    if (unsaid || is_algorithm_file(word) || is_refused_always(word)) {
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

// Half of the worlds are children of two others: what they are drawn for stands together in most of them.
TEST(Cover, ChildrenHaveTheTwoWordsThatTheyAreDrawnFor) {
  std::uint64_t found = 0;
  constexpr std::uint64_t kTried = 200;
  for (std::uint64_t number = 1; number <= kTried; ++number) {
    const auto [one, other] = Plan::of_worlds().wanted(number);
    for (const Words& words : words_by_job(Plan::of_worlds().child(number).scenario)) {
      if (!words.contains(one) || !words.contains(other)) continue;
      ++found;
      break;
    }
  }
  EXPECT_GT(found, kTried / 2);
}

TEST(Cover, WhatIsExcludedIsInNoWorldThatIsAccepted) {
  for (const Exclusion& exclusion : exclusions()) EXPECT_FALSE(exclusion.why.empty()) << exclusion.one;
  for (std::uint64_t number = 1; number <= 300; ++number) {
    const World world = draw_world(number);
    if (!is_accepted(world.scenario)) continue;
    for (const Words& words : words_by_job(world.scenario)) {
      for (const Exclusion& of : exclusions()) {
        const auto one = words.lower_bound(of.one);
        const auto other = words.lower_bound(of.other);
        const bool both = one != words.end() && other != words.end() && one->starts_with(of.one) &&
                          other->starts_with(of.other) && *one != *other;
        EXPECT_FALSE(both) << "world " << number << ": " << *one << " and " << *other << " (" << of.why << ")";
      }
    }
  }
}

}  // namespace
}  // namespace photonrail::worlds
