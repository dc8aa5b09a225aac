#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace photonrail {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ConfigErrorTest, TellsPlaceProblemAndHint) {
  const ConfigError error("/nic/ports", "must be 1 or more, not 0", "2 is usual");
  EXPECT_STREQ(error.what(), "/nic/ports: must be 1 or more, not 0 (2 is usual)");
  EXPECT_EQ(error.where(), "/nic/ports");
  EXPECT_EQ(error.problem(), "must be 1 or more, not 0");
  EXPECT_EQ(error.hint(), "2 is usual");
}

TEST(ConfigErrorTest, LeavesOutWhatItDoesNotKnow) {
  EXPECT_STREQ(ConfigError("", "too long").what(), "too long");
  EXPECT_STREQ(ConfigError("/a", "too long").what(), "/a: too long");
}

TEST(ConfigErrorTest, InsideAFileKeepsPlaceProblemAndHint) {
  const ConfigError error = ConfigError("/a", "too long", "cut it").inside("x.json");
  EXPECT_STREQ(error.what(), "x.json: /a: too long (cut it)");
  EXPECT_EQ(error.where(), "x.json: /a");
  EXPECT_EQ(ConfigError("", "empty").inside("x.json").where(), "x.json");
}

TEST(DeadlockErrorTest, NamesEveryStuckRank) {
  const DeadlockError error({"rank 0 waits for 1", "rank 1 waits for 0"});
  EXPECT_EQ(error.stuck().size(), 2u);
  EXPECT_THAT(error.what(), HasSubstr("rank 0 waits for 1\n"));
  EXPECT_THAT(error.what(), HasSubstr("rank 1 waits for 0"));
}

TEST(Check, NamesConditionAndPlace) {
  try {
    PHOTONRAIL_CHECK(1 + 1 == 3);
    FAIL() << "the check did not throw";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 + 1 == 3"));
    EXPECT_THAT(error.what(), HasSubstr("error_test.cpp:"));
  }
  EXPECT_NO_THROW(PHOTONRAIL_CHECK(1 + 1 == 2));
}

const std::vector<std::string> kSwitches{"polatis_6000", "polatis_7000", "rotor", "dicon_mems", "mems_2d"};

TEST(Suggest, OffersWhatIsFewLettersAway) {
  EXPECT_EQ(suggest("rotr", kSwitches), "did you mean rotor?");  // one insertion
  // 11 letters allow 11 / 3 = 3 edits: from "polatis_600" one insertion makes polatis_6000, two edits polatis_7000.
  EXPECT_EQ(suggest("polatis_600", kSwitches), "did you mean polatis_6000 or polatis_7000?");
}

TEST(Suggest, OffersWhatContainsTheWord) { EXPECT_EQ(suggest("mems", kSwitches), "did you mean dicon_mems or mems_2d?"); }

TEST(Suggest, ListsEverythingWhenNothingIsNear) {
  EXPECT_EQ(suggest("crossbar", kSwitches), "known: polatis_6000, polatis_7000, rotor, dicon_mems, mems_2d");
  EXPECT_EQ(suggest("", kSwitches), "known: polatis_6000, polatis_7000, rotor, dicon_mems, mems_2d");
}

TEST(Suggest, ListsEverythingWhenTooMuchIsNear) {
  EXPECT_THAT(suggest("a0", {"a1", "a2", "a3", "a4"}), StartsWith("known: "));  // four names, one letter away each
}

}  // namespace
}  // namespace photonrail
