// Every point of every sweep in configs/sweeps is a scenario, or a study of slices, and those at its ends run.
#include "golden/golden.hpp"
#include "photonrail/study/sweep.hpp"

#include <algorithm>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> sweep_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(configs() / "sweeps")) files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  return files;
}

class ReadySweeps : public ::testing::TestWithParam<std::string> {};

TEST_P(ReadySweeps, EveryPointIsAScenarioAndTheEndsRun) {
  const Sweep sweep = read_sweep(configs() / "sweeps" / (GetParam() + ".json"));
  EXPECT_FALSE(sweep.why.empty());
  EXPECT_GE(sweep.points.size(), 10u);
  if (sweep.base.find("photonrail.allocation/1") != std::string::npos)
    return check_sweep(sweep);  // run in tests/studies/sweep
  std::vector<Scenario> ends;
  for (const SweepPoint& point : sweep.points) {
    Scenario scenario = scenario_of(sweep, point);
    EXPECT_TRUE(scenario.pricing.has_value());
    if (point.index == 0 || point.index + 1 == sweep.points.size()) ends.push_back(std::move(scenario));
  }
  ASSERT_EQ(ends.size(), 2u);
  const RunResult first = simulate(ends[0]);
  const RunResult last = simulate(ends[1]);
  expect_balanced(first);
  expect_balanced(last);
  EXPECT_NE(first.makespan, last.makespan) << "what varies changes nothing";
  EXPECT_TRUE(first.cost && last.cost);
}

INSTANTIATE_TEST_SUITE_P(Every, ReadySweeps, ::testing::ValuesIn(sweep_files()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace photonrail::test
