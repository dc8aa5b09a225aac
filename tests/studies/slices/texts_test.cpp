// run_allocation() of a file and of a text, as programs of users call it.
#include "photonrail/error.hpp"
#include "photonrail/study/slices.hpp"
#include "studies/slices/study.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

/// Two jobs of a whole pod of eight accelerators: the second waits for the first.
constexpr const char* kTwoJobs = R"({"schema": "photonrail.allocation/1",
    "pod": {"torus": [2, 2, 2], "block": 2, "server": [2, 2, 1]}, "policies": ["firstfit"], "orders": ["fifo"],
    "jobs": {"list": [{"arrival_s": 0, "duration_s": 10, "shape": [2, 2, 2]},
                      {"arrival_s": 4, "duration_s": 10, "shape": [2, 2, 2]}]}})";

TEST(AllocationTexts, OfAFileAreThoseOfItsText) {
  const Folder folder;
  const auto file = folder.write("study.json", kTwoJobs);
  const AllocationTexts texts = run_allocation(file);
  const AllocationTexts same = run_allocation(kTwoJobs, folder.path(), "a study");
  EXPECT_EQ(texts.json, same.json);
  EXPECT_EQ(texts.jobs, same.jobs);
  // Until 10 s the first, until 20 s the second, which waited for 6 s.
  EXPECT_THAT(texts.jobs,
              ElementsAre(Pair("firstfit fifo", HasSubstr("1,8,2x2x2,4.000000,10.000000,20.000000,6.000000,0"))));
  const auto stream = nlohmann::json::parse(texts.json).at("streams").at(0);
  EXPECT_EQ(stream.at("makespan_s"), 20.0);
}

TEST(AllocationTexts, TakeOverridesAndPoliciesOfTheCaller) {
  const Folder folder;
  const auto file = folder.write("study.json", kTwoJobs);
  slices::AllocatorRegistry own = slices::AllocatorRegistry::builtin();
  slices::AllocatorFactory factory = own.find("firstfit");
  factory.name = "mine";
  own.add(factory);
  const std::vector<Override> set{{"/policies", R"(["mine"])"}};
  EXPECT_THAT(run_allocation(file, set, {}, own).jobs, ElementsAre(Pair("mine fifo", StartsWith("job,"))));
  EXPECT_THAT(error_of([&] { static_cast<void>(run_allocation(file, set)); }).where(), HasSubstr("/policies/0"));
}

}  // namespace
}  // namespace photonrail::test
