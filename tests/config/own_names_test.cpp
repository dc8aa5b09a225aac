// A caller's own controllers and collectives are known by name in a scenario; a task graph may stand in it.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace photonrail {
namespace {

using ::testing::HasSubstr;

class Silent : public Controller {
  Decision decide(const FabricView&) override { return std::nullopt; }
};

/// A ring under another name.
class Mine : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "mine"; }
  std::string_view summary() const override { return "for a test"; }
  bool supports(CollectiveOp op, Member) const override { return op == CollectiveOp::kAllReduce; }
  std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    return CollectiveRegistry::builtin().find("ring").expand(call);
  }
};

Registries own() {
  Registries known;
  known.controllers.add({.name = "silent",
                         .summary = "for a test",
                         .make = [](auto&&...) { return std::make_unique<Silent>(); },
                         .parameters = {ControllerParameter::count("patience", 3, 1, 9, "for a test")}});
  known.collectives.add(std::make_unique<Mine>());
  return known;
}

std::string scenario(const std::string& controller, const std::string& workload, const std::string& more = "") {
  return R"({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1,
    "rail": { "kind": "optical", "switch": { "reconfiguration_ms": 1 } } }, "controller": )" +
         controller + ", \"workload\": " + workload + more + " }";
}

const std::string kRing = R"({ "collective": { "op": "all_reduce", "bytes": 1000 } })";

TEST(OwnNames, AControllerWithItsKeys) {
  const std::string text = scenario(R"({ "name": "silent", "patience": 5 })", kRing);
  const Scenario read = parse_scenario(text, ".", "s.json", {}, own());
  EXPECT_EQ(read.controller.name, "silent");
  EXPECT_EQ(read.controller.parameters.count("patience"), 5u);
  EXPECT_THROW(simulate(read, {}, own()), DeadlockError);  // it is the one that runs: nothing is ever lit
  try {
    (void)parse_scenario(text, ".", "s.json");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/controller/name: there is no controller 'silent'"));
  }
}

TEST(OwnNames, ACollectiveInBothPlaces) {
  const std::string section = scenario(R"({ "name": "opus" })", kRing, R"(, "collectives": { "all_reduce": "mine" })");
  const std::string inside =
      scenario(R"({ "name": "opus" })", R"({ "collective": { "op": "all_reduce", "bytes": 1000, "algorithm": "mine" } })");
  for (const std::string& text : {section, inside}) {
    const Scenario read = parse_scenario(text, ".", "s.json", {}, own());
    EXPECT_EQ(read.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)], "mine");
    EXPECT_THROW((void)parse_scenario(text, "."), ConfigError);
  }
}

TEST(OwnNames, InEachOfSeveralJobsAndInOverrides) {
  const std::string job = R"(, "workload": { "collective": { "op": "all_reduce", "bytes": 1000, "algorithm": "mine" } } })";
  const std::string text = R"({ "schema": "photonrail.scenario/1", "cluster": { "servers": 4, "gpus_per_server": 1,
      "rail": { "kind": "optical", "switch": { "reconfiguration_ms": 1 } } }, "controller": { "name": "silent" }, "jobs": [
      { "name": "a", "servers": [0, 1])" +
                           job + R"(, { "name": "b", "servers": [2, 3],
        "controller": { "name": "silent", "patience": 5 })" +
                           job + "] }";
  const Override set[] = {{"/controller/patience", "7"}, {"/jobs/1/controller/patience", "9"}};
  const Scenario read = parse_scenario(text, ".", "s.json", set, own());
  ASSERT_EQ(read.jobs.size(), 2u);
  EXPECT_EQ(read.jobs[0].controller.parameters.count("patience"), 7u);
  EXPECT_EQ(read.jobs[1].controller.parameters.count("patience"), 9u);
  const Override beyond[] = {{"/jobs/1/controller/patience", "10"}};  // the table says 1 to 9
  try {
    (void)parse_scenario(text, ".", "s.json", beyond, own());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/jobs/1/controller/patience: must be between 1 and 9"));
  }
}

TEST(InlineGraph, StandsInTheScenario) {
  const auto with_size = [](const std::string& bytes) {
    return scenario(R"({ "name": "opus" })", R"({ "graph": { "schema": "photonrail.graph/1", "ranks": 2, "tasks": [
      { "rank": 0, "send_to": 1, "bytes": )" + bytes +
                                                 R"( }, { "rank": 1, "receive_from": 0, "bytes": 1000 } ] } })");
  };
  EXPECT_EQ(parse_scenario(with_size("1000"), ".").graph.task_count(), 2u);
  try {
    (void)parse_scenario(with_size("-1"), ".", "s.json");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("s.json: /workload/graph/tasks/0/bytes"));
  }
}

}  // namespace
}  // namespace photonrail
