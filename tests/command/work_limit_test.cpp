// Every verb that may work for long refuses what is beyond --work-limit before it begins, with what makes the work and what
// would do, and announces what takes more than some seconds.
#include "command/command.hpp"

#include <ostream>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A verb whose file asks for hours, or years.
struct Endless {
  const char* name;
  const char* arguments;
  const char* counted;  ///< what is counted
  const char* lever;    ///< what would do
};

std::ostream& operator<<(std::ostream& out, const Endless& verb) { return out << verb.name; }

class WorkLimit : public Command, public ::testing::WithParamInterface<Endless> {
 protected:
  void SetUp() override {
    Command::SetUp();
    json run = tiny("run");
    run["cluster"]["servers"] = 1000;
    run["workload"]["collective"].erase("ranks");
    run["stragglers"] = {{{"ranks", "random"}, {"delay_us", 1}}};
    run["run"] = {{"iterations", 1'000'000}, {"fidelity", "exact"}};
    write("run.json", run);
    write("sweep.json",
          {{"schema", "photonrail.sweep/1"},
           {"base", "run.json"},
           {"axes", {{{"name", "bytes"}, {"pointer", "/workload/collective/bytes"}, {"values", {1e6, 2e6}}}}}});
    write("months.json", {{"schema", "photonrail.scenario/1"},
                          {"reliability",
                           {{"step_s", 1},
                            {"job", {{"servers", 10'000}}},
                            {"days", 365},
                            {"seeds", 1'000'000},
                            {"failures", {{{"of", "server"}, {"mtbf_h", 1}, {"repair_h", 1}}}},
                            {"recovery", {{{"action", "wait"}}}}}}});
    write("pod.json", {{"schema", "photonrail.allocation/1"},
                       {"pod", {{"torus", {64, 64, 64}}}},
                       {"policies", {"bestfit", "firstfit", "folding"}},
                       {"orders", {"irs", "backfill"}},
                       {"jobs",
                        {{"drawn",
                          {{"count", 1'000'000},
                           {"slices", {{{"shape", {4, 4, 4}}, {"share", 1}}}},
                           {"mean_interarrival_s", 1},
                           {"mean_duration_s", 600}}}}}});
    json row = run;
    row["run"]["iterations"] = 1'000'000;
    write("rows.json",
          {{"schema", "photonrail.rows/1"}, {"rows", {{{"name", "a"}, {"measured_step_s", 1}, {"scenario", row}}}}});
  }
};

TEST_P(WorkLimit, RefusesBeforeItBegins) {
  const Endless& verb = GetParam();
  const Outcome refused = run(verb.arguments);
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_THAT(refused.out, IsEmpty());
  EXPECT_THAT(refused.err, AllOf(HasSubstr("would take about "), HasSubstr(verb.counted),
                                 HasSubstr(", more than the limit of 24 h (raise --work-limit"), HasSubstr(verb.lever)));
  const Outcome below = run(std::string("--work-limit 30h ") + verb.arguments);
  EXPECT_THAT(below.err, HasSubstr(", more than the limit of 30 h (")) << below.err;
}

INSTANTIATE_TEST_SUITE_P(
    , WorkLimit,
    ::testing::Values(Endless{"run", "run run.json", "run.json: would take", "/run/iterations"},
                      Endless{"sweep", "sweep sweep.json", "(points: 2)", "fewer points, or a shorter one: point "},
                      Endless{"point", "sweep sweep.json --point 1", "(tasks and sends: ", "/run/fidelity"},
                      Endless{"goodput", "goodput months.json", "(failures: 8.76e+13", "/reliability/seeds"},
                      Endless{"allocate", "allocate pod.json", "(arrivals and ends of jobs: 1.2e+07)", "fewer jobs"},
                      Endless{"calibrate", "calibrate run.json --step-s 1", "(tasks and sends: ", "/run/iterations"},
                      Endless{"rows", "calibrate --rows rows.json", "(tasks and sends: ", "/run/iterations"},
                      Endless{"fuzz", "fuzz opus --cases 100000000", "(small jobs: 1e+08)", "--cases"},
                      Endless{"export", "collective export --op all_to_all --algorithm pairwise --ranks 60000 --chunks 60",
                              "(sends: 2.16e+11", "--ranks, --chunks"}),
    [](const auto& verb) { return std::string(verb.param.name); });

class WorkLimits : public Command {};

TEST_F(WorkLimits, AreTimes) {
  write("a.json", tiny("a"));
  for (const char* time : {"1s", "0.5min", "3h", "7d", "none"})
    EXPECT_EQ(run(std::string("run a.json --quiet --work-limit ") + time).status, 0) << time;
  for (const char* time : {"1", "h", "-1h", "0s", "1 week", "nan", "infd"}) {
    const Outcome told = run(std::string("run a.json --work-limit '") + time + "'");
    EXPECT_EQ(told.status, 2) << time;
    EXPECT_THAT(told.err, HasSubstr("--work-limit")) << time;
  }
}

// A job of some 15 s by estimate, which is announced, and stopped after a second.
TEST_F(WorkLimits, LongWorkIsAnnounced) {
  json busy = tiny("busy");
  busy["cluster"]["servers"] = 64;
  busy["workload"]["collective"]["ranks"] = 64;
  busy["run"] = {{"iterations", 20'000}, {"fidelity", "exact"}, {"folding", false}};
  busy["stragglers"] = {{{"ranks", "random"}, {"delay_us", 1}}};
  write("busy.json", busy);
  const Outcome loud = run("run busy.json >.out 2>.err & sleep 1; kill -TERM $!; wait $!; exit $?; :");
  EXPECT_EQ(loud.status, 143);
  EXPECT_THAT(loud.err, StartsWith("photonrail: busy.json will take about "));
  EXPECT_THAT(loud.err, HasSubstr(" (tasks and sends: "));
  const Outcome quiet = run("run busy.json --quiet >.out 2>.err & sleep 1; kill -TERM $!; wait $!; exit $?; :");
  EXPECT_THAT(quiet.err, Not(HasSubstr("will take about")));
}

}  // namespace
}  // namespace photonrail::test
