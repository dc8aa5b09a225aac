// A sweep file that was edited: points with the same scenario are taken over, in a folder, by shards and after a way back.
#include "studies/sweep/earlier.hpp"
#include "photonrail/error.hpp"
#include "studies/sweep/sweep_support.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class PointListener : public SweepObserver {
 public:
  void recorded(const SweepPoint& point, const std::string&) override { ran.push_back(point.name); }
  void reused(std::uint64_t points) override { taken += points; }

  std::vector<std::string> ran;
  std::uint64_t taken = 0;
};

std::string servers(const std::string& values) {
  return R"("axes": [{"pointer": "/cluster/servers", "values": )" + values + "}]";
}

class EarlierStates : public InFolder {
 protected:
  SweepSummary run(const Sweep& sweep, PointListener& listener, std::optional<Shard> shard = {}) const {
    SweepOptions options;
    options.directory = out_;
    options.jobs = 1;
    options.shard = shard;
    return run_sweep(sweep, options, listener);
  }
  [[nodiscard]] std::string table() const { return content(out_ / "results.csv"); }
  /// The table of the sweep in a folder that never held another state.
  [[nodiscard]] std::string table_of_its_own(const Sweep& sweep) const {
    PointListener listener;
    SweepOptions options;
    options.directory = folder_ / "fresh";
    fs::remove_all(options.directory);
    run_sweep(sweep, options, listener);
    return content(options.directory / "results.csv");
  }

  fs::path out_ = folder_ / "out";
};

TEST_F(EarlierStates, OnlyNewPointsRun) {
  PointListener first;
  run(sweep_of(servers("[2, 4, 8]")), first);
  ASSERT_EQ(first.ran.size(), 3);
  const Sweep edited = sweep_of(servers("[3, 8, 2]"));
  PointListener second;
  EXPECT_EQ(run(edited, second).done, 3);
  EXPECT_THAT(second.ran, ElementsAre("servers 3"));
  EXPECT_EQ(second.taken, 2);
  EXPECT_EQ(table(), table_of_its_own(edited));  // numbers and names of points are those of the edited sweep
}

TEST_F(EarlierStates, AnotherNameOfAParameterOrAnotherAxisChangesNoScenario) {
  PointListener first;
  run(sweep_of(servers("[2, 4]")), first);
  const Sweep edited = sweep_of(
      R"("axes": [{"pointer": "/cluster/servers", "name": "hosts", "values": [4, 2]},
                  {"pointer": "/cluster/nic/port_gb_per_s", "values": [50, 100]}])");
  PointListener second;
  run(edited, second);
  // 50 GB/s is what the base has, so the scenarios of two points are those that ran.
  EXPECT_THAT(second.ran, UnorderedElementsAre("hosts 4, 100 GB/s", "hosts 2, 100 GB/s"));
  EXPECT_EQ(table(), table_of_its_own(edited));
}

TEST_F(EarlierStates, TheWayBackRunsNothing) {
  const std::string one = servers("[2, 4, 8]");
  PointListener listener;
  run(sweep_of(one), listener);
  const std::string before = table();
  run(sweep_of(servers("[5]")), listener);
  PointListener back;
  run(sweep_of(one), back);
  EXPECT_THAT(back.ran, IsEmpty());
  EXPECT_EQ(table(), before);
}

TEST_F(EarlierStates, WhatShardsWroteAndNoProcessMergedCountsToo) {
  PointListener listener;
  run(sweep_of(servers("[2, 4, 8]")), listener, Shard{1, 2});  // points 0 and 2
  ASSERT_FALSE(fs::exists(out_ / "results.db"));
  const Sweep edited = sweep_of(servers("[8, 3, 2]"));
  PointListener shard;
  run(edited, shard, Shard{1, 1});
  EXPECT_THAT(shard.ran, ElementsAre("servers 3"));
  EXPECT_EQ(table(), table_of_its_own(edited));
}

TEST_F(EarlierStates, AnEditThatIsNoScenarioLeavesTheTables) {
  PointListener listener;
  run(sweep_of(servers("[2, 4]")), listener);
  const std::string before = table();
  EXPECT_THROW(run(sweep_of(servers("[2, 0]")), listener), ConfigError);
  EXPECT_EQ(table(), before);
  EXPECT_FALSE(sweep::has_earlier_states(out_));
}

TEST_F(EarlierStates, APointThatFailedIsRunAgain) {
  json base = small_scenario();
  base["workload"] = {{"graph", "stuck.json"}};
  write("stuck.json",
        json({{"schema", "photonrail.graph/1"},
              {"ranks", 2},
              {"tasks", {{{"rank", 0}, {"send_to", 1}, {"bytes", 100000000}}, {{"rank", 1}, {"compute_us", 5}}}}})
            .dump());
  const auto sweep_with = [&](const std::string& keys) {
    return read_sweep(
        write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": )" + base.dump() + ", " + keys + "}"));
  };
  PointListener first;
  EXPECT_EQ(run(sweep_with(servers("[2]")), first).failed, 1);
  PointListener second;
  EXPECT_EQ(run(sweep_with(servers("[2, 4]")), second).failed, 2);
  EXPECT_EQ(second.taken, 0);
}

}  // namespace
}  // namespace photonrail::test
