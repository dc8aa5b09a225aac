// Observers are told that a run goes on while rehearsals, profiling runs and runs of fewer steps are made for it, and may
// end it there.
#include "run/heartbeat.hpp"
#include "photonrail/config.hpp"
#include "photonrail/observer.hpp"
#include "photonrail/simulate.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace photonrail::test {
namespace {

struct EnoughProgress {};

/// Ends the run at a call of progress().
class ProgressCounter : public Observer {
 public:
  explicit ProgressCounter(std::uint64_t end_at = std::numeric_limits<std::uint64_t>::max()) : end_at_(end_at) {}
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void progress(std::uint64_t done, std::uint64_t /*of*/, Time /*simulated*/) override {
    if (done == 0) ++before;
    if (++calls >= end_at_) throw EnoughProgress{};
  }
  std::uint64_t calls = 0;
  std::uint64_t before = 0;  // while nothing of the run is done

 private:
  std::uint64_t end_at_;
};

Scenario watched_job(const std::string& rail, const std::string& controller, int steps) {
  return parse_scenario(R"({
    "schema": "photonrail.scenario/1", "name": "small",
    "cluster": {"servers": 4, "gpus_per_server": 4, "gpu": {"peak_tflops": 100, "memory_gb_per_s": 1000},
                "nic": {"port_gb_per_s": 25}, "rail": )" +
                            rail + R"(},
    "controller": {"name": ")" +
                            controller + R"("},
    "workload": {"training": {"model": {"layers": 8, "hidden": 1024, "ffn": 4096, "heads": 16, "kv_heads": 4,
                                        "vocabulary": 32000},
                              "parallelism": {"tp": 4, "pp": 2, "dp": 2}, "sequence": 1024, "global_batch": 16}},
    "run": {"iterations": )" +
                            std::to_string(steps) + "}}",
                        ".");
}

const char* const kOpticalRails = R"({"kind": "optical", "switch": {"reconfiguration_ms": 1}})";

TEST(Heartbeat, TellsThatNothingOfTheRunIsDone) {
  ProgressCounter counter;
  Observer* const observers[] = {&counter};
  run::Heartbeat heartbeat(observers);
  ASSERT_EQ(heartbeat.list().size(), 1u);
  heartbeat.list().front()->progress(5, 10, Time{});
  EXPECT_EQ(counter.before, 1u);
  EXPECT_TRUE(run::Heartbeat({}).list().empty());
}

// coalesce rehearses several ways, each of them a run in which nothing of the run itself is done.
TEST(Heartbeat, IsFeltInRehearsals) {
  const Scenario scenario = watched_job(kOpticalRails, "coalesce", 2);
  ProgressCounter counter;
  Observer* const observers[] = {&counter};
  const RunResult watched = simulate(scenario, observers);
  EXPECT_GT(counter.before, 5u);
  EXPECT_GT(counter.calls, counter.before);
  EXPECT_EQ(watched.makespan, simulate(scenario).makespan);
}

TEST(Heartbeat, EndsARehearsal) {
  ProgressCounter first(1);
  Observer* const observers[] = {&first};
  EXPECT_THROW(static_cast<void>(simulate(watched_job(kOpticalRails, "coalesce", 2), observers)), EnoughProgress);
  EXPECT_EQ(first.before, 1u);
}

// 200 equal steps are made of few that run.
TEST(Heartbeat, IsFeltInRunsOfFewerSteps) {
  const Scenario scenario = watched_job(R"({"kind": "electrical"})", "electrical", 200);
  ProgressCounter counter;
  Observer* const observers[] = {&counter};
  const RunResult watched = simulate(scenario, observers);
  EXPECT_GT(counter.before, 0u);
  EXPECT_EQ(watched.makespan, simulate(scenario).makespan);
}

}  // namespace
}  // namespace photonrail::test
