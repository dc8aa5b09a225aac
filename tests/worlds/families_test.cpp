// A fixed share of the files of each family beside scenarios, and that the judges see what is wrong.
#include "support/test_cases.hpp"
#include "worlds/campaign.hpp"
#include "worlds/family.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace photonrail::worlds {
namespace {

void expect_nothing_wrong(const std::string& name, std::uint64_t usual) {
  CampaignOptions options;
  options.family = name;
  options.cases = test::test_cases(usual);
  options.shrink_tries = 100;
  const CampaignReport report = run_campaign(options);
  EXPECT_EQ(report.worlds, options.cases);
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.symptom << ", seed " << finding.seed << ": " << finding.detail << '\n'
                  << to_text(finding.smallest);
  }
  EXPECT_LT(report.refused, report.worlds / 2) << to_json_text(report);
}

TEST(Families, NothingIsWrongWithWorkThatIsDecidedInTheRun) { expect_nothing_wrong("agents", 80); }
TEST(Families, NothingIsWrongWithMonthsOfAJob) { expect_nothing_wrong("goodput", 60); }
TEST(Families, NothingIsWrongWithPlans) { expect_nothing_wrong("plan", 40); }
TEST(Families, NothingIsWrongWithStudiesOfSlices) { expect_nothing_wrong("allocation", 300); }

TEST(Families, AreTheSameForOneNumber) {
  for (const Family& one : families()) {
    EXPECT_EQ(to_text(one.draw(3)), to_text(one.draw(3))) << one.name;
    EXPECT_NE(to_text(one.draw(3)), to_text(one.draw(4))) << one.name;
  }
  EXPECT_THROW(static_cast<void>(family("x")), std::runtime_error);
}

}  // namespace
}  // namespace photonrail::worlds
