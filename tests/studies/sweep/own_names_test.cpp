// Sweeps over controllers and collectives of the caller.
#include "support/own_names.hpp"
#include "photonrail/error.hpp"
#include "studies/sweep/sweep_support.hpp"

#include <gmock/gmock.h>

#include <map>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SweepOwnNames : public InFolder {
 protected:
  /// small_scenario() on optical rails of 1 ms, under a controller, its key and a collective that are not built in.
  [[nodiscard]] Sweep sweep() const {
    return sweep_of(R"("axes": [
      {"name": "hold", "pointer": "/controller/hold_us", "values": [0, 500]},
      {"name": "ring", "pointer": "/workload/collective/algorithm", "values": ["ring", "own_ring"]},
      {"name": "rails", "variants": {"optical": {
        "/cluster/rail": {"kind": "optical", "switch": {"reconfiguration_ms": 1}},
        "/controller/name": "lights_once"}}}])");
  }
};

// 1 MB among 4 at 50 GB/s: 6 steps of 5 us; before them 1 ms of switching, which begins 0 or 0.5 ms after the request.
TEST_F(SweepOwnNames, RunAndGiveWhatSimulateGives) {
  const Registries known = own_names();
  const Sweep points = sweep();
  ASSERT_EQ(points.points.size(), 4u);
  SweepOptions options;
  options.directory = folder_ / "results";
  SweepObserver observer;
  const SweepSummary summary = run_sweep(points, options, observer, known);
  EXPECT_EQ(summary.done, 4u);
  const std::string table = content(options.directory / "results.csv");
  EXPECT_THAT(table, HasSubstr("own_ring"));
  EXPECT_THAT(table, HasSubstr("0.00103"));
  EXPECT_THAT(table, HasSubstr("0.00153"));
  const Scenario last = scenario_of(points, points.points.back(), known);
  EXPECT_EQ(simulate(last, {}, known).makespan, Duration{1'530'000'000});
}

TEST_F(SweepOwnNames, AreCheckedBeforeAnythingRuns) {
  EXPECT_NO_THROW(check_sweep(sweep(), own_names()));
  try {
    check_sweep(sweep());
    FAIL() << "the built-in names do not have lights_once";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("4 of 4 points cannot run"));
    EXPECT_THAT(error.what(), HasSubstr("there is no controller 'lights_once'"));
  }
  EXPECT_THROW(static_cast<void>(scenario_of(sweep(), sweep().points.front())), ConfigError);
}

TEST_F(SweepOwnNames, AMisspeltKeyOfTheirsIsFoundByTheTable) {
  const Sweep wrong = sweep_of(R"("axes": [{"pointer": "/controller", "values": [{"name": "lights_once", "hold_uss": 1}]},
      {"name": "rails", "variants": {"optical": {"/cluster/rail": {"kind": "optical", "switch": {"reconfiguration_ms": 1}}}}}])");
  try {
    check_sweep(wrong, own_names());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/controller/hold_uss"));
    EXPECT_THAT(error.what(), HasSubstr("hold_us"));
    EXPECT_THAT(error.what(), Not(HasSubstr("there is no controller")));
  }
}

}  // namespace
}  // namespace photonrail::test
