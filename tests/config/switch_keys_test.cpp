// The keys of optical switches and of the control plane: what they mean, and what is said of wrong ones.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration kMicrosecond{1'000'000};

// 4 servers x 2 GPUs of two ports: a rail needs 16 OCS ports.
constexpr std::string_view kGoodSwitch = R"({
  "schema": "photonrail.scenario/1",
  "cluster": { "servers": 4, "gpus_per_server": 2, "nic": { "ports": 2 },
    "rail": { "kind": "optical", "switch": { "ports": 32, "reconfiguration_ms": 10 } } },
  "controller": { "name": "opus" },
  "workload": { "collective": { "op": "all_reduce", "bytes": 1048576, "ranks": 8 } } })";

Scenario read(const std::vector<Override>& changes, const std::filesystem::path& directory = "/nowhere") {
  return parse_scenario(kGoodSwitch, directory, "s.json", changes);
}

TEST(SwitchKeys, SayThatASwitchIsAMesh) {
  const Scenario s = read({{"/cluster/rail/switch/pip", R"({"rows": 7, "columns": 9, "cell_loss_db": 0.5,
      "port_loss_db": 2, "crosstalk_db": -35})"}});
  const PipMeshSpec& mesh = s.cluster.rail.optical.pip.value();
  EXPECT_EQ(mesh.rows, 7u);
  EXPECT_EQ(mesh.columns, 9u);
  EXPECT_EQ(mesh.cell_loss_db, 0.5);
  EXPECT_EQ(mesh.port_loss_db, 2.0);
  EXPECT_EQ(mesh.crosstalk_db, -35.0);
  EXPECT_FALSE(read({}).cluster.rail.optical.pip) << "a crossbar";
}

TEST(SwitchKeys, SayWhatASwitchIs) {
  const Scenario s = read({{"/cluster/rail/switch", R"({"preset": "polatis_6000", "settle_us": 7, "link_up_us": 9,
      "dark": "switch", "batching_us": 50, "commands_per_s": 30, "insertion_loss_db": 1.5})"},
                           {"/cluster/nic/optical_budget_db", "1.5"}});
  const OpticalSwitchSpec& ocs = s.cluster.rail.optical;
  EXPECT_EQ(ocs.settle, 7 * kMicrosecond);
  EXPECT_EQ(ocs.link_up, 9 * kMicrosecond);
  EXPECT_EQ(ocs.darkness, DarkScope::kSwitch);
  EXPECT_EQ(ocs.batching, 50 * kMicrosecond);
  EXPECT_EQ(ocs.command_gap, Duration{33'333'333'334});  // 1/30 s, rounded up
  EXPECT_EQ(ocs.insertion_loss_db, 1.5);
  EXPECT_EQ(s.cluster.nic.optical_budget_db, 1.5) << "a loss of as much is bridged";
  EXPECT_EQ(read({{"/cluster/rail/switch/dark", "ports"}}).cluster.rail.optical.darkness, DarkScope::kPorts);
}

TEST(SwitchKeys, SayWhatARailIs) {
  const Scenario s = read(
      {{"/cluster/rail/planes", "2"},
       {"/cluster/rail/pods", R"({"servers": 2, "joined_by": "electrical", "oversubscription": 2.5, "latency_ns": 300})"},
       {"/cluster/rail/faults", R"([{"kind": "stuck"},
      {"kind": "failed", "rail": 1, "server": 3, "port": 1, "at_ms": 2, "lasts_us": 5}])"}});
  const RailSpec& rail = s.cluster.rail;
  EXPECT_EQ(rail.planes, 2u);
  EXPECT_EQ(rail.pods.servers, 2u);
  EXPECT_EQ(rail.pods.layer, PodSpec::Layer::kElectrical);
  EXPECT_EQ(rail.pods.oversubscription, 2.5);
  EXPECT_EQ(rail.pods.latency, Duration{300'000});
  ASSERT_EQ(rail.faults.size(), 2u);
  EXPECT_EQ(rail.faults[0].kind, PortFault::Kind::kStuck);
  EXPECT_FALSE(rail.faults[0].rail || rail.faults[0].server || rail.faults[0].port || rail.faults[0].lasts);
  EXPECT_EQ(rail.faults[0].at, Time{});
  EXPECT_EQ(rail.faults[1].kind, PortFault::Kind::kFailed);
  EXPECT_EQ(rail.faults[1].rail, RailId{1u});
  EXPECT_EQ(rail.faults[1].server, 3u);
  EXPECT_EQ(rail.faults[1].port, 1u);
  EXPECT_EQ(rail.faults[1].at, Time{2000 * kMicrosecond});
  EXPECT_EQ(rail.faults[1].lasts, 5 * kMicrosecond);
}

TEST(SwitchKeys, SayWhatTheControlPlaneIs) {
  const Scenario s = read({{"/controller", R"({"name": "opus", "placement": "hierarchical", "root_request_us": 3,
      "root_service_us": 4, "messages": {"loss": 0.1, "delay_us": {"distribution": "uniform", "least": 1, "greatest": 2},
      "timeout_us": 100, "retries": 7}, "restarts": [{"at_ms": 5, "down_ms": 1}, {"at_us": 1, "down_us": 0, "rail": 1}],
      "shims": [{"ranks": [0, 3], "mode": "provisioned"}, {"ranks": [1], "request_us": 9}]})"}});
  const ControlPlaneSpec& control = s.controller.control;
  EXPECT_EQ(control.placement, ControllerPlacement::kHierarchical);
  EXPECT_EQ(control.root_request, 3 * kMicrosecond);
  EXPECT_EQ(control.root_service, 4 * kMicrosecond);
  EXPECT_EQ(control.messages.loss, 0.1);
  EXPECT_EQ(control.messages.delay.kind, DelayDistribution::Kind::kUniform);
  EXPECT_EQ(control.messages.delay.b, 2 * kMicrosecond);
  EXPECT_EQ(control.messages.timeout, 100 * kMicrosecond);
  EXPECT_EQ(control.messages.retries, 7u);
  ASSERT_EQ(control.restarts.size(), 2u);
  EXPECT_EQ(control.restarts[0].at, 5000 * kMicrosecond);
  EXPECT_EQ(control.restarts[0].down, 1000 * kMicrosecond);
  EXPECT_FALSE(control.restarts[0].rail);
  EXPECT_EQ(control.restarts[1].rail, RailId{1u});
  ASSERT_EQ(control.shims.size(), 2u);
  EXPECT_THAT(control.shims[0].ranks, ElementsAre(RankId{0u}, RankId{3u}));
  EXPECT_EQ(control.shims[0].announce, true);
  EXPECT_FALSE(control.shims[0].request);
  EXPECT_EQ(control.shims[1].request, 9 * kMicrosecond);
  EXPECT_EQ(read({{"/controller/placement", "one"}}).controller.control.placement, ControllerPlacement::kOne);
}

TEST(SwitchKeys, SamplesAreGivenOrInAFile) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "photonrail_samples";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "delays.json") << "[10.5, 12, 200]";
  for (const char* samples : {"[10.5, 12, 200]", "\"delays.json\""}) {
    const Scenario s = read({{"/cluster/rail/switch/reconfiguration_ms",
                              R"({"distribution": "empirical", "samples": )" + std::string(samples) + "}"}},
                            folder);
    const DelayDistribution& delay = s.cluster.rail.optical.reconfiguration;
    EXPECT_EQ(delay.kind, DelayDistribution::Kind::kEmpirical);
    EXPECT_THAT(delay.samples, ElementsAre(10'500 * kMicrosecond, 12'000 * kMicrosecond, 200'000 * kMicrosecond));
    EXPECT_EQ(delay.typical(), 12'000 * kMicrosecond);
  }
  std::filesystem::remove_all(folder);
}

struct BadSwitchInput {
  std::string name;
  std::vector<Override> changes;
  std::string where;  // a JSON pointer
  std::string what;   // a part of problem and hint
};
std::ostream& operator<<(std::ostream& out, const BadSwitchInput& bad) { return out << bad.name; }

class BadSwitch : public ::testing::TestWithParam<BadSwitchInput> {};

TEST_P(BadSwitch, IsRefusedAtItsPointer) {
  const ConfigError error = error_of([] { static_cast<void>(read(GetParam().changes)); });
  EXPECT_THAT(error.where(), HasSubstr(GetParam().where));
  EXPECT_THAT(error.what(), HasSubstr(GetParam().what));
}

const auto kSwitchName = [](const auto& row) { return row.param.name; };
constexpr const char* kDelay = "/cluster/rail/switch/reconfiguration_ms";
constexpr const char* kPods = "/cluster/rail/pods";
constexpr const char* kFaults = "/cluster/rail/faults";

INSTANTIATE_TEST_SUITE_P(
    Of, BadSwitch,
    ::testing::ValuesIn(std::vector<BadSwitchInput>{
        BadSwitchInput{
            "no_samples", {{kDelay, R"({"distribution": "empirical"})"}}, "/reconfiguration_ms/samples", "missing"},
        BadSwitchInput{
            "empty", {{kDelay, R"({"distribution": "empirical", "samples": []})"}}, "/samples", "has no samples"},
        BadSwitchInput{
            "negative", {{kDelay, R"({"distribution": "empirical", "samples": [3, -1]})"}}, "/samples/1", "negative"},
        BadSwitchInput{
            "no_file", {{kDelay, R"({"distribution": "empirical", "samples": "x.json"})"}}, "/samples", "no such file"},
        BadSwitchInput{"dark", {{"/cluster/rail/switch/dark", "port"}}, "/switch/dark", "did you mean ports?"},
        BadSwitchInput{"rate", {{"/cluster/rail/switch/commands_per_s", "0"}}, "/switch/commands_per_s", "must be between"},
        BadSwitchInput{
            "planes", {{"/cluster/rail/planes", "3"}}, "/cluster/rail/planes", "2 NIC ports cannot spread evenly"},
        BadSwitchInput{
            "one_pod", {{kPods, R"({"servers": 4, "joined_by": "optical"})"}}, "/cluster/rail/pods/servers", "holds all 4"},
        BadSwitchInput{"shared_light",
                       {{kPods, R"({"servers": 2, "joined_by": "optical", "oversubscription": 2})"}},
                       "/cluster/rail/pods/oversubscription",
                       "cannot be shared"},
        // A pod of 2 servers x 2 ports needs 8 OCS ports for them and 8 for their uplinks.
        BadSwitchInput{"uplinks",
                       {{kPods, R"({"servers": 2, "joined_by": "electrical"})"}, {"/cluster/rail/switch/ports", "15"}},
                       "/cluster/rail/switch/ports",
                       "needs 16: a NIC port takes two, and its uplink two"},
        // Pods of one server need 8 ports. 4 pods take 8 ports of a switch between them: 4 x 2; 6 would take 12.
        BadSwitchInput{"too_many_pods",
                       {{kPods, R"({"servers": 1, "joined_by": "optical"})"},
                        {"/cluster/rail/switch/ports", "8"},
                        {"/cluster/servers", "6"}},
                       "/cluster/rail/pods/servers",
                       "6 pods are more than the 4"},
        BadSwitchInput{"loss",
                       {{"/cluster/nic/optical_budget_db", "3.9"}, {"/cluster/rail/switch/insertion_loss_db", "4"}},
                       "/cluster/nic/optical_budget_db",
                       "1 pass of the switch lose 4 dB"},
        BadSwitchInput{"three_passes",
                       {{"/cluster/nic/optical_budget_db", "4"},
                        {"/cluster/rail/switch/insertion_loss_db", "1.5"},
                        {kPods, R"({"servers": 2, "joined_by": "optical"})"}},
                       "/cluster/nic/optical_budget_db",
                       "3 passes of the switch lose 4.5 dB, more than the transceivers' 4 dB"},
        BadSwitchInput{"unknown_loss", {{"/cluster/nic/optical_budget_db", "4"}}, "optical_budget_db", "nothing is known"},
        BadSwitchInput{"fault_kind", {{kFaults, R"([{"kind": "broken"}])"}}, "/faults/0/kind", "unknown value"},
        BadSwitchInput{
            "fault_server", {{kFaults, R"([{"kind": "failed", "server": 4}])"}}, "/faults/0/server", "there are 4"},
        BadSwitchInput{"fault_rail", {{kFaults, R"([{"kind": "failed", "rail": 2}])"}}, "/faults/0/rail", "there are 2"},
        BadSwitchInput{"fault_port", {{kFaults, R"([{"kind": "failed", "port": 2}])"}}, "/faults/0/port", "there are 2"},
        BadSwitchInput{"electrical_planes",
                       {{"/cluster/rail", R"({"kind": "electrical", "planes": 2})"}},
                       "/cluster/rail/planes",
                       "no circuits"}}),
    kSwitchName);

INSTANTIATE_TEST_SUITE_P(
    OfControlPlane, BadSwitch,
    ::testing::ValuesIn(std::vector<BadSwitchInput>{
        BadSwitchInput{"placement", {{"/controller/placement", "two"}}, "/controller/placement", "unknown value"},
        BadSwitchInput{
            "no_root", {{"/controller/root_service_us", "2"}}, "/controller/root_service_us", "there is no root"},
        BadSwitchInput{
            "no_timeout", {{"/controller/messages/loss", "0.1"}}, "/controller/messages/timeout_us", "sent again"},
        BadSwitchInput{
            "certain_loss", {{"/controller/messages/loss", "1"}}, "/controller/messages/loss", "must be between"},
        BadSwitchInput{"no_down", {{"/controller/restarts", R"([{"at_ms": 1}])"}}, "/restarts/0/down_ms", "missing"},
        BadSwitchInput{"no_at", {{"/controller/restarts", R"([{"down_ms": 1}])"}}, "/restarts/0/at_ms", "missing"},
        BadSwitchInput{"restart_rail",
                       {{"/controller/restarts", R"([{"at_ms": 1, "down_ms": 1, "rail": 2}])"}},
                       "/controller/restarts/0/rail",
                       "there is no rail 2"},
        BadSwitchInput{
            "one_has_no_rail",
            {{"/controller/restarts", R"([{"at_ms": 1, "down_ms": 1, "rail": 0}])"}, {"/controller/placement", "one"}},
            "/controller/restarts/0/rail",
            "controls all rails"},
        BadSwitchInput{"shim_rank",
                       {{"/controller/shims", R"([{"ranks": [8], "request_us": 1}])"}},
                       "/controller/shims/0/ranks/0",
                       "there is no rank 8"},
        BadSwitchInput{
            "shim_of_nothing", {{"/controller/shims", R"([{"ranks": [1]}])"}}, "/controller/shims/0", "says nothing"},
        BadSwitchInput{"planes_of_circuits",
                       {{"/cluster/rail/planes", "2"},
                        {"/controller", R"({"name": "static", "circuits": [{"from": 0, "to": 2, "to_port": 1}]})"}},
                       "/controller/circuits/0",
                       "different planes"}}),
    kSwitchName);

}  // namespace
}  // namespace photonrail
