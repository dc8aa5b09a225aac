// The "reliability" section: units of rates, and messages of what is wrong.
#include "photonrail/reliability/scenario_file.hpp"

#include "photonrail/simulate.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using reliability::GoodputScenario;

constexpr const char* kSection = R"({"schema": "photonrail.scenario/1", "reliability": {
  "step_s": 10, "job": {"servers": 16}, "days": 2,
  "failures": [{"of": "gpu", "per_1000_server_days": 4, "repair_h": 3}],
  "checkpoint": {"interval": "young", "stall_s": 20},
  "recovery": [{"action": "wait", "stages": [{"name": "restart", "time_s": {"distribution": "uniform", "least": 5, "greatest": 20}}]}]}})";

GoodputScenario parsed(const std::vector<Override>& set = {}) {
  return reliability::parse_goodput(kSection, {}, "s.json", set, Registries{});
}

std::string problem(const std::vector<Override>& set) {
  return error_of([&] { static_cast<void>(parsed(set)); }).what();
}

// Per 1,000 server-days: the 8 GPUs of a server share the rate, so that each fails every 2,000 days. A FIT is a failure in
// 10^9 hours.
TEST(ReliabilitySection, RatesInTheUnitsOfOperators) {
  EXPECT_DOUBLE_EQ(parsed().spec.failures[0].time_to_failure.mean_s, 2000.0 * 86400.0);
  const auto mean = [](const char* failure) {
    return parsed({{"/reliability/failures/0", failure}}).spec.failures[0].time_to_failure.mean_s;
  };
  EXPECT_DOUBLE_EQ(mean(R"({"of": "nic", "fit": 1000})"), 1e6 * 3600.0);
  EXPECT_DOUBLE_EQ(mean(R"({"of": "server", "mtbf_h": 1000})"), 3.6e6);
  EXPECT_DOUBLE_EQ(mean(R"({"of": "ocs", "share_per_day": 0.0004})"), 86400.0 / 0.0004);
  EXPECT_GT(mean(R"({"of": "server", "fit": 0})"), 1e14);  // never, within any history
}

TEST(ReliabilitySection, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem({{"/reliability/failures/0/fit", "3"}}),
            "s.json: /reliability/failures/0: needs exactly one of \"per_1000_server_days\", \"fit\", \"mtbf_h\", "
            "\"share_per_day\"");
  EXPECT_NE(problem({{"/reliability/sparse", "3"}}).find("s.json: /reliability/sparse: unknown key"), std::string::npos);
  EXPECT_NE(problem({{"/reliability/recovery/0/action", "\"swap\""}})
                .find("s.json: /reliability/recovery: has no option \"wait\""),
            std::string::npos);
  EXPECT_NE(problem({{"/reliability/recovery/0/sources", "[\"gpus\"]"}}).find("/reliability/recovery"), std::string::npos);
  EXPECT_NE(problem({{"/reliability/failures/0/effect", "\"slow\""}}).find("/reliability/failures/0/degrade"),
            std::string::npos);
  EXPECT_NE(problem({{"/reliability/job/replicas", "5"}}).find("/reliability/job/replicas"), std::string::npos);
  EXPECT_NE(problem({{"/reliability/failures/0/repair_d", "5"}}).find("two units"), std::string::npos);
}

TEST(ReliabilitySection, NamesAndSeedsAreNotInTheHash) {
  const std::string hash = parsed().hash;
  EXPECT_EQ(parsed({{"/name", "x"}, {"/reliability/seeds", "7"}}).hash, hash);
  EXPECT_NE(parsed({{"/reliability/days", "3"}}).hash, hash);
  EXPECT_EQ(parsed({{"/reliability/days", "3"}}).step_hash, parsed().step_hash);
}

TEST(ReliabilitySection, ARunIgnoresItButChecksIt) {
  const std::string scenario = R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 1,
    "rail": {"kind": "electrical"}}, "workload": {"collective": {"op": "all_reduce", "bytes": 1000}},
    "reliability": {"recovery": [{"action": "wait"}]}})";
  EXPECT_NO_THROW(static_cast<void>(parse_scenario(scenario, {})));
  const auto wrong = error_of([&] {
    static_cast<void>(parse_scenario(scenario, {}, "s.json", std::vector{Override{"/reliability/days", "-1"}}));
  });
  EXPECT_EQ(wrong.where(), "s.json: /reliability/days");
}

TEST(Faults, CsvAndJsonAreTheSame) {
  const Folder folder;
  const auto csv = folder.write(
      "f.csv", "server,start_day,end_day,level,class,description\n3,2.5,4,Hardware,NIC,\"a, b\"\n1,1,1.5,x,GPU,y\n");
  const auto json = folder.write("f.json", R"([{"server": 1, "start_day": 1, "end_day": 1.5, "class": "GPU"},
    {"server": 3, "start_day": 2.5, "end_day": 4, "class": "NIC"}])");
  const auto a = reliability::read_faults(csv);
  const auto b = reliability::read_faults(json);
  ASSERT_EQ(a.size(), 2u);
  ASSERT_EQ(b.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(a[i].server, b[i].server);
    EXPECT_EQ(a[i].start_d, b[i].start_d);
    EXPECT_EQ(a[i].end_d, b[i].end_d);
    EXPECT_EQ(a[i].cause, b[i].cause);
  }
  const auto bad = folder.write("g.csv", "server,start_day\n1,x\n");
  EXPECT_EQ(error_of([&] { static_cast<void>(reliability::read_faults(bad)); }).where(), bad.string() + ":2");
}

}  // namespace
}  // namespace photonrail::test
