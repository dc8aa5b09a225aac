// Scenarios that once went wrong, small: kept beside the traces, in a folder "repros". Each does what its "why" asks for.
#include "golden/golden.hpp"
#include "photonrail/study/sweep.hpp"
#include "photonrail/study/work.hpp"
#include "studies/rows/measured_rows.hpp"
#include "support/processor_time.hpp"
#include "support/sanitizers.hpp"

#include <algorithm>

namespace photonrail::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class Repro : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    PHOTONRAIL_REQUIRE_SHARED_DATA(data);
    folder_ = data.parent_path() / "repros";
    if (!std::filesystem::is_directory(folder_)) GTEST_SKIP() << "SKIPPED, NOT CHECKED: no folder " << folder_;
  }

  [[nodiscard]] RunResult run(const std::string& name, const std::string& change = "") const {
    std::vector<Override> changes;
    if (!change.empty()) changes.push_back(Override::parse(change));
    return simulate(read_scenario(folder_ / (name + ".json"), changes));
  }
  [[nodiscard]] Duration time(const std::string& name, const std::string& change = "") const {
    return run(name, change).makespan;
  }

  std::filesystem::path folder_;
};

TEST_P(Repro, IsDone) { EXPECT_GT(time(GetParam()), Duration{0}); }

INSTANTIATE_TEST_SUITE_P(WithData, Repro,
                         ::testing::Values("coalesce-locks-up", "dark-port-overflow", "fault-of-no-length",
                                           "jobs-ccl-bench", "jobs-dark-switch-later-start", "planes-coalesce",
                                           "planes-oracle", "port-fails-for-a-moment", "rate-zero-inf-days",
                                           "rotor-batching", "rotor-dark-switch", "rotor-jobs-ranks",
                                           "rotor-no-time-passes", "rotor-partial-servers", "small-job-large-cluster",
                                           "solstice-partial-servers", "static-jobs", "xss-scenario"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class Repros : public Repro {};

TEST_P(Repros, AreRefusedOrCannotFinishForTheirReason) {
  EXPECT_THROW(run("bytes-overflow"), ConfigError);
  EXPECT_THROW(static_cast<void>(read_sweep(folder_ / "sweep-derived-pointer.json")), ConfigError);
  try {
    static_cast<void>(run("no-reason"));
    ADD_FAILURE() << "the ring needs two circuits into one port";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wants 2 circuits at once from ranks"));
  }
}

TEST_P(Repros, NothingBeatsTheOracle) {
  for (const char* name : {"oracle-collective-in-rounds", "oracle-slower-than-opus-provisioned", "oracle-two-ports"}) {
    for (const char* mode : {"on_demand", "provisioned"}) {
      const std::string opus = std::string("/controller={\"name\": \"opus\", \"mode\": \"") + mode + "\"}";
      EXPECT_LE(time(name), time(name, opus)) << name << ", " << mode;
    }
  }
}

TEST_P(Repros, TwoPortsAreNotSlowerThanOne) {
  for (const char* name : {"bvn-two-ports-slower", "harvest-two-ports-slower"})
    EXPECT_LE(time(name, "/cluster/nic/ports=2"), time(name, "/cluster/nic/ports=1")) << name;
}

// The pairs of a pipeline of 4 stages that send are 6: to the next, and back. Each is joined once, on each of the 4 rails.
TEST_P(Repros, APortForEachNeighbourIsPointedOnce) {
  EXPECT_THAT(run("opus-two-ports-pipeline").reconfigurations.per_rail, Each(6u));
}

// Ranks look again at their next event: once it was after 10 s for each lost wake-up, 210 s in all.
TEST_P(Repros, TheArtifactDoesNotWaitForItsTimeOut) {
  EXPECT_LT(time("opus-artifact-210-s"), ms(1000));
  const Duration once = time("opus-artifact-faster-nic");
  const double rate = read_scenario(folder_ / "opus-artifact-faster-nic.json").cluster.nic.per_port.bytes_per_second / 1e9;
  EXPECT_LE(time("opus-artifact-faster-nic", "/cluster/nic/port_gb_per_s=" + std::to_string(2 * rate)), once);
}

// Two servers: one shift, one delay of 10 ms on all rails at once, and less than 1 ms for the bytes.
TEST_P(Repros, AStepOfAnAllToAllAsksAllRailsAtOnce) {
  const Duration all = time("pairwise-all-to-all-rail-by-rail");
  EXPECT_GE(all, ms(10));
  EXPECT_LT(all, ms(11));
}

// Chunks: each send but the first of a channel waits for the overhead of the one before, at both fidelities. With
// forwarding every send is simulated.
TEST_P(Repros, BothFidelitiesTakeTheSameTime) {
  EXPECT_EQ(time("topoopt-stream-against-exact", "/run/fidelity=stream"),
            time("topoopt-stream-against-exact", "/run/fidelity=exact"));
  const Duration stream = time("stream-chunk-overhead", "/run/fidelity=stream");
  const Duration exact = time("stream-chunk-overhead", "/run/fidelity=exact");
  EXPECT_NEAR(to_seconds(stream), to_seconds(exact), 0.01 * to_seconds(exact));
}

// A mesh with a budget of light took 36 s. A ring of 4,608 ranks over links has 85 million sends, which a fault keeps from
// being folded: they are announced.
TEST_P(Repros, TakeNoLongerThanTheyAreExpectedTo) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  const double before = processor_seconds();
  EXPECT_GT(time("mesh-budget-36s"), Duration{0});
  EXPECT_LE(processor_seconds() - before, 10.0);
  const WorkEstimate work = work_of(read_scenario(folder_ / "railrings-stopped-gpu-slow.json"));
  EXPECT_NEAR(work.largest().count, 2.0 * 4608 * 9214, 1e6);
  EXPECT_GE(work.seconds(), 5.0);
  EXPECT_LE(work.seconds(), 60.0);
}

TEST_P(Repros, ThatDiedAreRefusedOrDone) {
  EXPECT_THROW(run("training-predictions-segfault"), ConfigError);
  EXPECT_GT(time("server-fault-accuracy-segfault"), Duration{0});
  EXPECT_GT(time("ring-bypass-fault-internal"), Duration{0});
  EXPECT_THROW(static_cast<void>(rows::read_measured_rows(folder_ / "rows-fit-internal.json")), ConfigError);
  try {
    static_cast<void>(run("static-split-barrier"));
    ADD_FAILURE() << "a barrier has no bytes, by which the policy gives ports";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("controller 'static_split' leaves server 0 on rail 0 without circuit"));
  }
}

INSTANTIATE_TEST_SUITE_P(WithData, Repros, ::testing::Values("all"));

}  // namespace
}  // namespace photonrail::test
