// What the command prints fits a terminal of 80 columns.
#include "command/command.hpp"
#include "report/text.hpp"
#include "support/source_dir.hpp"

#include <sstream>

namespace photonrail::test {
namespace {

class Terminal : public Command {
 protected:
  static std::string file(const char* name) {
    return " '" + (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs" / name).string() + "'";
  }

  void expect_narrow(const std::string& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    EXPECT_FALSE(outcome.out.empty()) << arguments;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(report::columns(line), 80u) << "photonrail " << arguments << ": " << line;
  }
};

TEST_F(Terminal, TablesOfRunsFit) {
  expect_narrow("run" + file("quickstart-electrical.json") + file("quickstart-on-demand.json") + file("quickstart.json"));
  expect_narrow("run" + file("serving/quickstart.json") + " --set /workload/serving/requests/count=200");
  expect_narrow("run" + file("rl/quickstart.json"));
  expect_narrow("explain" + file("quickstart.json"));
}

TEST_F(Terminal, TablesOfStudiesFit) {
  expect_narrow("cost --gpus 512,8192");
  expect_narrow("cost" + file("quickstart.json") + " --set '/cost={}'");
  expect_narrow("goodput" + file("goodput/ocs-technologies.json") + " --seeds 2");
  expect_narrow("allocate" + file("slices/tpu-v4-queue.json") + " --set /jobs/drawn/count=40");
  expect_narrow("allocate" + file("slices/photonic-rack.json"));
  expect_narrow("allocate" + file("slices/availability.json"));
}

// Four years of 365 days are 126,144,000 s: a GPU that costs 126.144 $ is 1e-6 $ a second, which is what GPUs add to each
// step.
TEST_F(Terminal, TheBillOfASweepHasCostOfAStepAndOfARun) {
  ASSERT_EQ(run("sweep" + file("sweeps/optical-against-2-to-1.json") + " --quiet --out rails").status, 0)
      << read(folder_ / ".err");
  expect_narrow("cost rails --gpu-usd 30000 --usd-per-kwh 0.1 --tokens 1e12");
  const json plain = json::parse(run("cost rails --json").out);
  const json priced = json::parse(run("cost rails --json --gpu-usd 126.144 --tokens 1e12").out);
  ASSERT_EQ(plain.size(), priced.size());
  ASSERT_GT(plain.size(), 3u);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double gpus = plain[i]["gpus"];
    const double step = plain[i]["step_s"];
    EXPECT_EQ(gpus, 128.0);
    EXPECT_GT(plain[i]["switches"], 0.0);
    const double more = static_cast<double>(priced[i]["usd_per_step"]) - static_cast<double>(plain[i]["usd_per_step"]);
    EXPECT_NEAR(more, 1e-6 * gpus * step, 1e-9 * gpus * step) << plain[i]["name"];
    EXPECT_DOUBLE_EQ(priced[i]["usd_of_run"], priced[i]["usd_per_trillion_tokens"]);
    EXPECT_NEAR(static_cast<double>(priced[i]["bought_usd"]) - static_cast<double>(plain[i]["bought_usd"]), 126.144 * gpus,
                1e-3);
  }
  EXPECT_THAT(run("cost .").err, ::testing::HasSubstr("has no results.csv and no result.json with a cost"));
}

}  // namespace
}  // namespace photonrail::test
