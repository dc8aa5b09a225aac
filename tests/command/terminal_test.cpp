// What the command prints fits a terminal of 80 columns.
#include "command/command.hpp"
#include "report/text.hpp"
#include "support/source_dir.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

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
  expect_narrow("explain" + file("rl/quickstart.json"));
  expect_narrow("explain" + file("serving/quickstart.json") + " --set /workload/serving/requests/count=200");
}

TEST_F(Terminal, TablesOfStudiesFit) {
  expect_narrow("cost --gpus 512,8192");
  expect_narrow("cost" + file("quickstart.json") + " --set '/cost={}'");
  expect_narrow("goodput" + file("goodput/ocs-technologies.json") + " --seeds 2");
  expect_narrow("allocate" + file("slices/tpu-v4-queue.json") + " --set /jobs/drawn/count=40");
  expect_narrow("allocate" + file("slices/photonic-rack.json"));
  expect_narrow("allocate" + file("slices/availability.json"));
}

// The commands that a help lists: lines of two blanks and a word behind "Subcommands:".
std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(std::min(help.find("Subcommands:"), help.size())));
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 2 && line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST_F(Terminal, EveryHelpFits) {
  std::vector<std::string> asked{""};
  for (std::size_t i = 0; i < asked.size(); ++i) {  // grows by the commands of each
    const std::string verb = asked[i];
    expect_narrow(verb + " --help");
    for (const std::string& name : commands_in(run(verb + " --help").out)) asked.push_back(verb + " " + name);
  }
  EXPECT_GT(asked.size(), 30u);
}

TEST_F(Terminal, ListsFit) {
  for (const char* kind : {"controllers", "collectives", "models", "gpus", "switches", "schedules", "catalogues"})
    expect_narrow(std::string("list ") + kind);
  expect_narrow("list collectives --explain --op all_to_all --bytes 8000000 --ranks 16 --reconfiguration-ms 1");
  expect_narrow("operators info");
  expect_narrow("operators check h200");
  expect_narrow("validate" + file("serving/quickstart.json") + file("leaf-spine/two-sites.json"));
  expect_narrow("trace info" + file("quickstart.json"));
}

TEST_F(Terminal, PlansComparisonsAndFitsFit) {
  expect_narrow("plan --model llama3_8b --gpus 16 --gpu h100 --out planned");
  expect_narrow("calibrate --rows" + file("rows/opus-testbed.json"));
  for (const char* name : {"quickstart", "serving/quickstart"}) {
    const std::string at = file((std::string(name) + ".json").c_str());
    ASSERT_EQ(run("run" + at + " --quiet --out r/" + name).status, 0);
  }
  const Outcome differ = run("compare r/quickstart/result.json r/serving/quickstart/result.json");
  EXPECT_EQ(differ.status, 1);
  std::istringstream lines(differ.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::columns(line), 80u) << line;
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
    // 8 rails of 32 ports, switches of 12. Even: 6 ports down, 6 leaves, 32 uplinks, 3 spines. 2:1: 8 down, 4 leaves of 4
    // uplinks, 2 spines; with the leaves of before 5 x 3 + 1 uplinks, 2 spines. 4:1: 9 down, 4 leaves, 3 x 3 + 2 uplinks, a
    // spine. An OCS of 192 ports has 96 circuits, for 3 rails of 32.
    const double switches = i == 0 ? 8 * 9 : i == 1 ? 8 * 6 : i == 2 ? 8 * 8 : i == 3 ? 8 * 5 : 3;
    EXPECT_EQ(plain[i]["switches"], switches) << plain[i]["name"];
    EXPECT_NEAR(plain[i]["usd_per_step"], static_cast<double>(plain[i]["network_usd"]) * step / 126'144'000.0, 1e-9);
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
