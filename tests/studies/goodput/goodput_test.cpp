// Studies of goodput: threads, folders that are gone on with, the step simulator behind histories.
#include "photonrail/study/goodput.hpp"

#include "photonrail/error.hpp"
#include "photonrail/study/sweep.hpp"
#include "studies/goodput/known_steps.hpp"
#include "studies/goodput/section/faults.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"
#include "support/shared_data.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <tuple>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;
using goodput::GoodputScenario;
using goodput::History;
using goodput::TimeUse;

GoodputScenario dark_ports(const std::vector<Override>& set = {}) {
  return goodput::read_goodput(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput/dark-ports.json", set, Registries{});
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What is not run here for its size is read, each of its points.
TEST(Goodput, EveryPointOfTheConfigsIsAScenario) {
  std::size_t points = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput")) {
    const std::string text = text_of(entry.path());
    EXPECT_NE(text.find("\"why\""), std::string::npos) << entry.path();
    if (text.find("\"photonrail.sweep/1\"") == std::string::npos) continue;
    const Sweep sweep = read_sweep(entry.path());
    for (const SweepPoint& point : sweep.points) {
      const auto scenario =
          goodput::parse_goodput(sweep.base, sweep.base_directory, sweep.base_name, point.patch, Registries{});
      EXPECT_TRUE(scenario.job.has_value() || scenario.step > Duration{});
      EXPECT_FALSE(scenario.spec.failures.empty() && !scenario.spec.trace);
      ++points;
    }
  }
  EXPECT_GE(points, 10u);
}

// The first week of 16,384 GPUs without spares, whose steps with missing replicas and slow NICs are folded (54 days of 100
// seeds take 6 s), and a month of the recorded trace without spares.
TEST(Goodput, TheLargeConfigsRun) {
  goodput::KnownSteps known_steps;
  for (const auto& [file, points, days] :
       {std::tuple{"llama3-16384.json", 1U, 7.0}, {"trace-400-servers.json", 3U, 30.0}}) {
    const Sweep sweep = read_sweep(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput" / file);
    ASSERT_GE(sweep.points.size(), points);
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < points; ++i) {
      auto scenario =
          goodput::parse_goodput(sweep.base, sweep.base_directory, sweep.base_name, sweep.points[i].patch, Registries{});
      scenario.spec.seeds = 1;
      scenario.spec.days = days;
      GoodputOptions options;
      options.known_steps = &known_steps;
      const GoodputResult result = run_goodput(scenario, options);
      EXPECT_EQ(result.histories[0].books.total(), result.histories[0].wall);
      EXPECT_GT(result.summary.ettr.mean, 0.7) << sweep.points[i].name;
      distinct = std::max(distinct, result.summary.configurations);
      // Steps of scenarios that differ in the section alone are simulated once.
      EXPECT_TRUE(i != 2 || result.simulated == 0);
    }
    EXPECT_GE(distinct, 5u) << file;
  }
}

// The dark ports with a checkpoint in their step in place of a given stall.
GoodputScenario saving(const std::string& checkpoint, std::vector<Override> set = {}) {
  set.insert(set.begin(), {{"/reliability/checkpoint", R"({"interval": "young"})"},
                           {"/workload/checkpoint", checkpoint},
                           {"/reliability/seeds", "2"}});
  return dark_ports(set);
}

// 25 GB at 12.5 GB/s and 5 us: the months are those of a stall of that length, which is what the step takes longer.
TEST(Goodput, ACheckpointInTheStepStallsAsLongAsItTakes) {
  const GoodputScenario scenario =
      saving(R"({"to": "own_network", "gb_per_s": 12.5, "latency_us": 5, "bytes_per_rank": 25000000000})");
  const GoodputResult simulated = run_goodput(scenario, {});
  EXPECT_EQ(*simulated.checkpoint_step - simulated.step, from_seconds(2.000005));
  EXPECT_DOUBLE_EQ(simulated.summary.stall_s, 2.000005);
  EXPECT_EQ(simulated.summary.copy_s, 0.0);
  const GoodputResult given =
      run_goodput(dark_ports({{"/reliability/checkpoint", R"({"interval": "young", "stall_s": 2.000005})"},
                              {"/reliability/seeds", "2"}}),
                  {});
  EXPECT_EQ(simulated.histories, given.histories);
  EXPECT_EQ(simulated.step, given.step) << "without a checkpoint";
  EXPECT_FALSE(goodput_timeline(scenario, simulated, 1).empty());
}

// Beside the step nothing stalls while the transfer is shorter; it is durable at the end of its last step.
TEST(Goodput, AnAsynchronousCheckpointIsHiddenAndDurableLater) {
  const GoodputResult hidden = run_goodput(
      saving(
          R"({"to": "own_network", "mode": "asynchronous", "over_steps": 3, "gb_per_s": 12.5, "bytes_per_rank": 25000000000})"),
      {});
  EXPECT_GT(hidden.step, from_seconds(2.0 / 3.0)) << "so that a third is hidden";
  EXPECT_EQ(hidden.summary.stall_s, 0.0);
  EXPECT_DOUBLE_EQ(hidden.summary.copy_s, to_seconds(hidden.step * 3));
}

// Through the NICs and over circuits that are asked for: what the run of the same file says, and kept in the folder.
TEST(Goodput, ACheckpointToPeersIsTheRunOfTheSameFile) {
  const Folder folder;
  const std::string peers = R"({"to": "peer", "bytes_per_rank": 1000000000})";
  const GoodputResult result = run_goodput(saving(peers), {folder.path(), 1});
  const fs::path file = fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput/dark-ports.json";
  const std::vector<Override> set{{"/workload/checkpoint", peers}, {"/reliability/checkpoint", R"({"interval": "young"})"}};
  EXPECT_EQ(*result.checkpoint_step, simulate(read_scenario(file, set)).step_time());
  // A GB over two ports of 12.5 GB/s, and 15 ms for circuits that the step does not have.
  EXPECT_GT(result.summary.stall_s, 0.04);
  EXPECT_LT(result.summary.stall_s, 0.08);
  const GoodputResult again = run_goodput(saving(peers, {{"/reliability/seeds", "3"}}), {folder.path(), 1});
  EXPECT_EQ(again.resumed, 2u);
  EXPECT_EQ(again.checkpoint_step, result.checkpoint_step);
  const std::string steps = text_of(folder.path() / ("steps-" + saving(peers).step_hash + ".jsonl"));
  EXPECT_NE(steps.find("\"checkpoint "), std::string::npos);
  EXPECT_EQ(steps.find("\"checkpoint "), steps.rfind("\"checkpoint ")) << "simulated once";
}

TEST(Goodput, ThreadsChangeNothing) {
  const GoodputScenario scenario = dark_ports();
  const GoodputResult one = run_goodput(scenario, {{}, 1});
  const GoodputResult four = run_goodput(scenario, {{}, 4});
  EXPECT_EQ(one.histories, four.histories);
  EXPECT_EQ(one.configurations, four.configurations);
  EXPECT_EQ(one.histories.size(), 20u);
  EXPECT_GT(one.summary.configurations, 5u);
  for (const History& h : one.histories) EXPECT_EQ(h.books.total(), h.wall);
}

TEST(Goodput, AFolderIsGoneOnWith) {
  const Folder folder;
  const GoodputScenario ten = dark_ports({{"/reliability/seeds", "10"}});
  const GoodputResult first = run_goodput(ten, {folder.path(), 1});
  EXPECT_GT(first.simulated, 0u);
  {  // as a process leaves it that was killed while it wrote
    std::ofstream out(folder.path() / "seeds.jsonl", std::ios::app | std::ios::binary);
    out << "{\"seed\":11,\"wall_ps\":\"12";
  }
  const GoodputScenario more = dark_ports({{"/reliability/seeds", "15"}});
  const GoodputResult second = run_goodput(more, {folder.path(), 1});
  EXPECT_EQ(second.resumed, 10u);
  const GoodputResult fresh = run_goodput(more, {{}, 1});
  EXPECT_EQ(second.histories, fresh.histories);
  EXPECT_EQ(second.configurations, fresh.configurations) << "those of the histories of the folder too";
  const GoodputResult third = run_goodput(more, {folder.path(), 1});
  EXPECT_EQ(third.resumed, 15u);
  EXPECT_EQ(third.simulated, 0u);
  EXPECT_EQ(third.configurations, fresh.configurations);
  EXPECT_EQ(third.summary.configurations, fresh.summary.configurations);
  const GoodputScenario other = dark_ports({{"/reliability/days", "91"}});
  EXPECT_NE(error_of([&] {
              static_cast<void>(run_goodput(other, {folder.path(), 1}));
            })
                .problem()
                .find("another scenario"),
            std::string::npos);
}

// SIGKILL while histories are written: those whose lines are complete are there, the same as without the kill.
TEST(Goodput, AKillLosesNoFinishedSeed) {
  const Folder folder;
  const GoodputScenario scenario = dark_ports({{"/reliability/seeds", "100000"}, {"/reliability/days", "30"}});
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(run_goodput(scenario, {folder.path(), 1}));
    ::_exit(0);
  }
  const fs::path file = folder.path() / "seeds.jsonl";
  const auto lines = [&] {
    const std::string text = text_of(file);
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int i = 0; i < 60'000 && lines() < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it was complete before the kill";
  const auto complete = static_cast<std::uint32_t>(lines() - 1);
  ASSERT_GE(complete, 19u);
  GoodputScenario some = scenario;
  some.spec.seeds = complete;
  const GoodputResult resumed = run_goodput(some, {folder.path(), 1});
  EXPECT_EQ(resumed.resumed, complete);
  some.spec.seeds = 20;
  const GoodputResult fresh = run_goodput(some, {{}, 1});
  for (std::size_t i = 0; i < 19; ++i) EXPECT_EQ(resumed.histories[i], fresh.histories[i]);
}

TEST(Goodput, TheTimelineCoversTheHistory) {
  const GoodputScenario scenario = dark_ports({{"/reliability/seeds", "1"}});
  const GoodputResult result = run_goodput(scenario);
  const auto periods = goodput_timeline(scenario, result, 1);
  ASSERT_FALSE(periods.empty());
  EXPECT_EQ(periods.front().from, LongTime{});
  for (std::size_t i = 1; i < periods.size(); ++i) EXPECT_EQ(periods[i - 1].to, periods[i].from);
  EXPECT_EQ(periods.back().to, result.histories[0].wall);
}

// The published trace: what follows from it, computed here from its events alone.
class Trace : public ::testing::Test {
 protected:
  static std::vector<goodput::TraceFault> faults(const fs::path& data) {
    return goodput::read_faults(data / "faults/trace.csv");
  }

  /// Time with so many of the 400 servers down, in days.
  static std::vector<double> time_with(const std::vector<goodput::TraceFault>& all, double days) {
    std::vector<std::pair<double, std::pair<int, std::uint32_t>>> events;
    for (const auto& f : all) {
      events.push_back({f.start_d, {1, f.server}});
      events.push_back({f.end_d, {-1, f.server}});
    }
    std::sort(events.begin(), events.end());
    std::vector<int> causes(400, 0);
    std::vector<double> time(60, 0.0);
    double last = 0.0;
    std::size_t down = 0;
    for (const auto& [at, change] : events) {
      const double t = std::min(at, days);
      time[down] += t - last;
      last = t;
      int& count = causes[change.second];
      down -= count > 0 ? 1 : 0;
      count += change.first;
      down += count > 0 ? 1 : 0;
    }
    time[down] += days - last;
    return time;
  }
};

TEST_F(Trace, HasItsPublishedStatistics) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto all = faults(data);
  ASSERT_EQ(all.size(), 584u);
  EXPECT_NEAR(584.0 / (400.0 * 348.9798) * 1000.0, 4.184, 0.001);
  std::vector<double> repairs;
  double sum = 0.0;
  for (const auto& f : all) {
    repairs.push_back(f.end_d - f.start_d);
    sum += repairs.back();
  }
  std::sort(repairs.begin(), repairs.end());
  EXPECT_NEAR(sum / 584.0, 5.535, 0.001);
  EXPECT_NEAR((repairs[291] + repairs[292]) / 2.0, 0.85, 0.001);
  const std::vector<double> time = time_with(all, 348.9798);
  double mean = 0.0;
  std::size_t most = 0;
  double below = 0.0;
  std::size_t p99 = 0;
  for (std::size_t n = 0; n < time.size(); ++n) {
    mean += static_cast<double>(n) * time[n] / 348.9798 / 400.0;
    if (time[n] > 0.0) most = n;
    below += time[n];
    if (below < 0.99 * 348.9798) p99 = n + 1;
  }
  EXPECT_NEAR(mean, 0.0231, 0.00005);
  EXPECT_EQ(p99, 31u);   // 7.75 %
  EXPECT_EQ(most, 35u);  // 8.75 %
}

// A job of 400 - k servers with k spares, whose recoveries take no time, waits exactly while more than k servers are down.
TEST_F(Trace, TheReplayWaitsWhileTooManyServersAreDown) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto all = faults(data);
  const std::vector<double> time = time_with(all, 348.9798);
  for (const std::uint32_t spares : {0U, 7U, 20U}) {
    GoodputScenario scenario;
    scenario.name = "trace";
    scenario.step = from_seconds(10.0);
    scenario.spec.job.servers = 400 - spares;
    scenario.spec.spares.anywhere = spares;
    scenario.spec.days = 348.9798;
    scenario.spec.seeds = 2;
    scenario.spec.trace = goodput::FaultTrace{all, true, {}};
    scenario.spec.checkpoint.interval_s = 1e8;
    goodput::RecoveryOption swap;
    swap.action = goodput::RecoveryAction::kSwap;
    swap.rollback = goodput::Rollback::kStep;
    goodput::RecoveryOption wait;
    wait.rollback = goodput::Rollback::kStep;
    scenario.spec.recovery = {swap, wait};
    double expected = 0.0;
    for (std::size_t n = spares + 1; n < time.size(); ++n) expected += time[n];
    for (const History& h : run_goodput(scenario).histories) {
      EXPECT_NEAR(h.books[TimeUse::kWaiting].days(), expected, 1e-6) << spares;
    }
  }
}

}  // namespace
}  // namespace photonrail::test
