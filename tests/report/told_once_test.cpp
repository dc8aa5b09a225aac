#include "report/told_once.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace photonrail::report {
namespace {

using ::testing::ElementsAre;

TEST(ToldOnce, NamesThoseThatShareASentence) {
  const std::vector<Told> told{{"a, 1 ms", "fast"}, {"b", "slow"}, {"a, 2 ms", "fast"}};
  EXPECT_THAT(told_once(told, 3), ElementsAre("a, 1 ms; a, 2 ms: fast", "b: slow"));
}

TEST(ToldOnce, CountsTheRunsWhereAllSayIt) {
  const std::vector<Told> told{{"a", "fast"}, {"b", "fast"}, {"b", "dear"}};
  EXPECT_THAT(told_once(told, 2), ElementsAre("each of the 2 runs: fast", "b: dear"));
  EXPECT_THAT(told_once(std::vector<Told>{{"a", "fast"}}, 1), ElementsAre("a: fast"));
  EXPECT_THAT(told_once(std::vector<Told>{{"", "fast"}}, 1), ElementsAre("fast"));
}

TEST(ToldOnce, NamesFourOfMany) {
  std::vector<Told> told;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) told.push_back({name, "fast"});
  EXPECT_THAT(told_once(told, 7), ElementsAre("a; b; c; d and 2 more: fast"));
}

TEST(ToldOnce, NamesDoNotSpeakToTheTerminal) {
  EXPECT_THAT(told_once(std::vector<Told>{{"red \x1b[31m\nand\a", "fast"}}, 1), ElementsAre("red ?[31m?and?: fast"));
}

}  // namespace
}  // namespace photonrail::report
