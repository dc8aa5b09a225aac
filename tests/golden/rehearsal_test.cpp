// Rehearsals of the folded job choose what rehearsals of every rank choose.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/folded.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace photonrail::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct FoldedJob {
  const char* name;
  int tp, dp, pp;
  bool fsdp;
  int ports;
  double reconfiguration_ms;
};

std::ostream& operator<<(std::ostream& out, const FoldedJob& job) {
  return out << job.name << " tp" << job.tp << " dp" << job.dp << " pp" << job.pp << " " << job.reconfiguration_ms << " ms";
}

Scenario scenario_of(const FoldedJob& job) {
  const int ranks = job.tp * job.dp * job.pp;
  const json text = {{"schema", "photonrail.scenario/1"},
                     {"cluster",
                      {{"servers", ranks / job.tp},
                       {"gpus_per_server", job.tp},
                       {"gpu", {{"preset", "h200"}, {"compute_efficiency", 0.5}}},
                       {"nic", {{"ports", job.ports}, {"port_gb_per_s", 50}, {"latency_us", 2}}},
                       {"rail", {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", job.reconfiguration_ms}}}}}}},
                     {"controller", {{"name", "coalesce"}}},
                     {"workload",
                      {{"training",
                        {{"model", {{"preset", "llama3_8b"}, {"layers", 8}}},
                         {"sequence", 1024},
                         {"global_batch", 4 * job.dp},
                         {"parallelism", {{"tp", job.tp}, {"dp", job.dp}, {"pp", job.pp}, {"fsdp", job.fsdp}}}}}}},
                     {"run", {{"iterations", 2}}}};
  return parse_scenario(text.dump(), ".");
}

class FoldedRehearsals : public ::testing::TestWithParam<FoldedJob> {};

TEST_P(FoldedRehearsals, ChooseTheSameWayAndGiveTheSameRun) {
  Scenario scenario = scenario_of(GetParam());
  scenario.run.folding = true;
  const RunResult folded = simulate(scenario);
  scenario.run.folding = false;
  const RunResult whole = simulate(scenario);
  ASSERT_FALSE(whole.choices.empty());
  EXPECT_THAT(whole.choices[0], HasSubstr("coalesce rehearsed 10 ways and took number "));
  EXPECT_EQ(folded.choices, whole.choices);
  expect_same_results(folded, whole);
}

INSTANTIATE_TEST_SUITE_P(Jobs, FoldedRehearsals,
                         ::testing::ValuesIn(std::vector<FoldedJob>{
                             FoldedJob{"fast", 2, 4, 2, true, 1, 0.01}, FoldedJob{"quick", 2, 4, 2, true, 1, 1},
                             FoldedJob{"slow", 2, 4, 2, true, 1, 15}, FoldedJob{"slowest", 2, 4, 2, true, 1, 200},
                             FoldedJob{"deep", 1, 2, 4, true, 1, 5}, FoldedJob{"plain", 2, 8, 2, false, 1, 5},
                             FoldedJob{"wide", 2, 16, 1, true, 1, 5}, FoldedJob{"ports", 2, 4, 2, true, 2, 5}}));

}  // namespace
}  // namespace photonrail::test
