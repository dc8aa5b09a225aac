// No memory and no room at any moment: one message, exit 1 or 2, and files that are whole.
#include "command/command.hpp"
#include "support/sanitizers.hpp"
#include "support/source_dir.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

class FailingCalls : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    write("a.json", tiny("a"));
    write("s.json", {{"schema", "photonrail.sweep/1"},
                     {"base", "a.json"},
                     {"axes", {{{"pointer", "/workload/collective/bytes"}, {"values", {1000, 2000}}}}}});
    write("p.json", {{"schema", "photonrail.plan/1"},
                     {"base", "a.json"},
                     {"axes", {{{"pointer", "/workload/collective/bytes"}, {"values", {1000, 2000}}}}}});
    write("g.json", {{"schema", "photonrail.scenario/1"},
                     {"reliability",
                      {{"step_s", 1},
                       {"job", {{"servers", 10}}},
                       {"days", 30},
                       {"seeds", 2},
                       {"failures", {{{"of", "server"}, {"mtbf_h", 1000}, {"repair_h", 10}}}},
                       {"recovery", {{{"action", "wait"}}}}}}});
    json served = json::parse(read(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/serving/quickstart.json"));
    served["workload"]["serving"]["requests"]["count"] = 5;
    served["workload"]["serving"]["warm_up"] = 0;
    write("served.json", served);
    write("al.json", {{"schema", "photonrail.allocation/1"},
                      {"pod", {{"torus", {4, 4}}}},
                      {"policies", {"firstfit"}},
                      {"orders", {"fifo"}},
                      {"jobs", {{"list", {{{"arrival_s", 0}, {"duration_s", 5}, {"shape", {2, 2}}}}}}}});
  }

  [[nodiscard]] Outcome run_failing(const std::string& call, long number, const std::string& arguments) const {
    const std::string line = "cd '" + folder_.string() + "' && " + call + "=" + std::to_string(number) +
                             " LD_PRELOAD='" PHOTONRAIL_PLUGINS "/failing_calls.so' '" PHOTONRAIL_COMMAND "' " + arguments +
                             " >.out 2>.err";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(folder_ / ".out"), read(folder_ / ".err")};
  }

  // What is written is the whole of a file, before and after: JSON can be read, and nothing half-written stays behind.
  void expect_whole(const std::string& what) const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      EXPECT_THAT(entry.path().filename().string(), ::testing::Not(HasSubstr(".partial"))) << what;
      if (entry.path().extension() != ".json") continue;
      EXPECT_TRUE(json::accept(read(entry.path()))) << what << ": " << entry.path();
    }
  }

  void expect_clean_end(const Outcome& done, const std::string& what) const {
    // A sweep goes on without the points that failed, says so and ends with 3.
    const bool some_points = done.status == 3 && done.err.find("points failed") != std::string::npos;
    EXPECT_TRUE(some_points || (done.status >= 0 && done.status <= 2)) << what << '\n' << done.err;
    if (done.status != 0) {
      EXPECT_THAT(done.err, HasSubstr("photonrail: error: ")) << what;
    }
    EXPECT_THAT(done.err, ::testing::Not(HasSubstr("std::bad_alloc"))) << what;
    expect_whole(what);
  }
};

const char* const kVerbs[] = {"run a.json --trace --quiet -o run",
                              "run served.json --quiet -o served",
                              "sweep s.json --quiet --retry-failed -o sweep",
                              "plan p.json --jobs 1 --limit 1h -o plan",
                              "goodput g.json --jobs 1 -o goodput",
                              "allocate al.json -o allocate",
                              "validate a.json --graphviz v.dot",
                              "collective export --op all_reduce --algorithm ring --ranks 4 -o c.xml"};

TEST_F(FailingCalls, ACommandWithoutMemorySaysSo) {
  if (PHOTONRAIL_SANITIZED) GTEST_SKIP() << "the sanitizer has to be loaded first";
  for (const std::string verb : kVerbs) {
    std::size_t failed = 0;
    for (long number = 1; number < 100'000; number += 1 + number / 2) {
      const Outcome done = run_failing("PHOTONRAIL_FAIL_NEW", number, verb);
      expect_clean_end(done, verb + ", allocation " + std::to_string(number));
      if (done.status == 0) continue;
      ++failed;
      if (done.status == 3) continue;  // the message is in the table of the points
      EXPECT_THAT(done.err, HasSubstr("out of memory")) << verb << ", allocation " << number;
    }
    EXPECT_GT(failed, 5u) << verb;
    EXPECT_EQ(run(verb).status, 0) << verb << " after all that";
  }
}

TEST_F(FailingCalls, AFullDiskLosesNothing) {
  if (PHOTONRAIL_SANITIZED) GTEST_SKIP() << "the sanitizer has to be loaded first";
  for (const std::string verb : kVerbs) {
    std::size_t failed = 0;
    for (long number = 1; number < 24; ++number) {
      const Outcome done = run_failing("PHOTONRAIL_FAIL_WRITE", number, verb);
      expect_clean_end(done, verb + ", write " + std::to_string(number));
      failed += done.status != 0 ? 1 : 0;
      const Outcome half = run_failing("PHOTONRAIL_SHORT_WRITE", number, verb);
      expect_clean_end(half, verb + ", half of write " + std::to_string(number));
    }
    EXPECT_GT(failed, 0u) << verb;
    EXPECT_EQ(run(verb).status, 0) << verb << " after all that";
  }
}

}  // namespace
}  // namespace photonrail::test
