// Work that a few bytes of a file ask for: each of these once took minutes to months, and is bounded by the seconds of the
// processor that the command may use.
#include "command/command.hpp"

#include <string>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

class BoundedWork : public Command {
 protected:
  /// As run(); the command is ended by a signal (status -1 or above 128) after so many seconds of the processor.
  [[nodiscard]] Outcome run_within(int seconds, const std::string& arguments) const {
    const std::string line = "cd '" + folder_.string() + "' && ulimit -t " + std::to_string(seconds) +
                             " && '" PHOTONRAIL_COMMAND "' " + arguments + " >.out 2>.err";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(folder_ / ".out"), read(folder_ / ".err")};
  }
};

json failing(const json& reliability) {
  json scenario = tiny("job");
  scenario["workload"] = {{"collective", {{"op", "all_reduce"}, {"bytes", 1000}}}};
  scenario["reliability"] = reliability;
  return scenario;
}

// A checkpoint that costs nothing is best after every step: a month of steps of some microseconds has 1e11 of them.
TEST_F(BoundedWork, GoodputGoesOverStepsAndCheckpointsBetweenFailures) {
  write("short.json", failing({{"days", 30},
                               {"seeds", 1},
                               {"failures", {{{"of", "server"}, {"mtbf_h", 5000}, {"repair_h", 24}}}},
                               {"checkpoint", {{"interval", "daly"}}},
                               {"recovery", {{{"action", "wait"}}}}}));
  const Outcome told = run_within(10, "goodput short.json");
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("1 seed"));
}

TEST_F(BoundedWork, GoodputCountsStepsInSixtyThreeBits) {
  write("many.json", failing({{"days", 36500},
                              {"seeds", 1},
                              {"step_s", 1e-12},
                              {"failures", {{{"of", "server"}, {"mtbf_h", 500000}}}},
                              {"recovery", {{{"action", "wait"}}}}}));
  const Outcome told = run_within(10, "goodput many.json");
  EXPECT_EQ(told.status, 2);
  EXPECT_THAT(told.err, HasSubstr("a history has more than 4e18 steps"));
}

}  // namespace
}  // namespace photonrail::test
