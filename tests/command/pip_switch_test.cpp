// `pip-switch`.
#include "command/command.hpp"

#include <set>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Command, PipSwitchTellsTheFewestMatchings) {
  const Outcome told = run("pip-switch --ports 16 --mesh 9x9 -o mesh.svg --matching 14");
  EXPECT_EQ(told.status, 0) << told.err;
  // n-1 matchings of n/2 pairs join the n(n-1)/2 pairs once each.
  EXPECT_THAT(told.out, HasSubstr("16 ports on 9x9 hexagons (278 cells): 15 matchings join every two ports, the fewest"));
  EXPECT_THAT(read(folder_ / "mesh.svg"), HasSubstr("</svg>"));
}

TEST_F(Command, PipSwitchAsJsonJoinsEveryTwoPorts) {
  const Outcome told = run("pip-switch --ports 8 --mesh 1x3 --json");
  ASSERT_EQ(told.status, 0) << told.err;
  const json cover = json::parse(told.out);
  EXPECT_EQ(cover["lower_bound"], 8);  // proved by exhaustive search: 7 do not suffice
  EXPECT_EQ(cover["proven_minimal"], true);
  std::set<json> pairs;
  for (const json& matching : cover["matchings"]) {
    for (const json& route : matching) pairs.insert(route["ports"]);
  }
  EXPECT_EQ(pairs.size(), 28);
}

// 16 ports on 9x9 with cells of 0.1 dB that leak -60 dB: the loss is that of the cells and of two ends of 1 dB.
TEST_F(Command, PipSwitchHasTheLossOfItsCells) {
  const std::string options = "pip-switch --ports 16 --mesh 9x9 --cell-loss-db 0.1 --crosstalk-db -60";
  const Outcome told = run(options + " --json");
  ASSERT_EQ(told.status, 0) << told.err;
  const json cover = json::parse(told.out);
  ASSERT_EQ(cover["budgets"].size(), cover["matchings"].size());
  for (const json& budget : cover["budgets"]) {
    EXPECT_NEAR(budget["loss_db"], 2.0 + 0.1 * budget["cells"].get<int>(), 0.01);
    EXPECT_GT(budget["penalty_db"], 0.0);
  }
  EXPECT_THAT(run(options).out, HasSubstr("so much is the \"insertion_loss_db\" of a rail's switch"));
  EXPECT_THAT(run(options + " --port-loss-db 21").err, HasSubstr("port_loss_db"));
  EXPECT_THAT(run("pip-switch --ports 4 --mesh 2x2 --cell-loss-db 0.1 --crosstalk-db -3").out,
              HasSubstr("No budget bridges"));
}

TEST_F(Command, PipSwitchSaysWhatIsWrong) {
  for (const auto& [arguments, what] :
       {std::pair{"--mesh 9", "\"9\" is not ROWSxCOLUMNS"}, std::pair{"--mesh 9x9x9", "is not ROWSxCOLUMNS"},
        std::pair{"--mesh 1x1 --ports 13", "have 12 open ends"}, std::pair{"--mesh 1x1 --ports 4", "has no way from port"},
        std::pair{"--ports 8 -o a.svg --matching 7", "0 to 6"}}) {
    const Outcome told = run("pip-switch " + std::string(arguments));
    EXPECT_EQ(told.status, 2) << arguments;
    EXPECT_THAT(told.err, HasSubstr(what));
    EXPECT_EQ(told.out, "");
  }
}

}  // namespace
}  // namespace photonrail::test
