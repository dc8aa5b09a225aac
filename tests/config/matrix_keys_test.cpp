// The key "matrix" of the static controller: circuits by shares of what servers send.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace photonrail::test {
namespace {

std::string controlled_by(const std::string& controller) {
  return R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 3, "gpus_per_server": 2,
      "nic": {"ports": 2, "port_gb_per_s": 50}, "rail": {"kind": "optical", "switch": {"preset": "polatis_6000"}}},
      "workload": {"collective": {"op": "barrier", "ranks": 6}}, "controller": )" +
         controller + "}";
}

std::string matrix_refusal(const std::string& controller) {
  try {
    static_cast<void>(parse_scenario(controlled_by(controller), "."));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

// Two ports to two others: every pair has a circuit, on both rails.
TEST(MatrixKeys, WithoutSharesAllServersAreJoined) {
  const Scenario scenario = parse_scenario(controlled_by(R"({"name": "static", "matrix": {}})"), ".");
  EXPECT_EQ(scenario.controller.circuits.size(), 2U * 3U * 2U);
  for (const StaticCircuit& circuit : scenario.controller.circuits) {
    EXPECT_EQ(circuit.from.value % 2, circuit.to.value % 2);
    EXPECT_NE(circuit.from.value / 2, circuit.to.value / 2);
  }
}

TEST(MatrixKeys, SayWhatIsWrong) {
  using ::testing::HasSubstr;
  EXPECT_THAT(matrix_refusal(R"({"name": "opus", "matrix": {}})"),
              HasSubstr("/controller/matrix: the opus controller has no"));
  EXPECT_THAT(matrix_refusal(R"({"name": "static", "matrix": {}, "circuits": []})"), HasSubstr("no effect beside"));
  EXPECT_THAT(matrix_refusal(R"({"name": "static", "matrix": {"from": [0], "to": [1], "shares": [[1, 1]]}})"),
              HasSubstr("/controller/matrix/shares: is no row for each server"));
  EXPECT_THAT(matrix_refusal(R"({"name": "static", "matrix": {"from": [0], "to": [0]}})"), HasSubstr("joins no server"));
  EXPECT_THAT(matrix_refusal(R"({"name": "static", "matrix": {"from": [0], "to": [9]}})"),
              HasSubstr("/controller/matrix/to/0: must be a whole number from 0 to 2"));
}

}  // namespace
}  // namespace photonrail::test
