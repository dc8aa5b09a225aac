#include "photonrail/cluster.hpp"

#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ClusterSpec cluster(RailKind kind) {
  ClusterSpec spec;
  spec.servers = 4;
  spec.gpus_per_server = 8;
  spec.nic.ports = 2;
  spec.rail.kind = kind;
  return spec;
}

struct Fault {
  std::string name;
  RailKind kind;
  std::function<void(ClusterSpec&)> make;
  std::string where;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

class ClusterFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(ClusterFaults, AreRefusedAtTheirPlace) {
  ClusterSpec spec = cluster(GetParam().kind);
  ASSERT_NO_THROW(spec.validate());
  GetParam().make(spec);
  try {
    spec.validate();
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where(), GetParam().where);
    EXPECT_FALSE(error.problem().empty());
  }
}

constexpr auto kAny = RailKind::kElectrical;
constexpr auto kElectrical = RailKind::kElectrical;
constexpr auto kOptical = RailKind::kOptical;
using Spec = ClusterSpec;

INSTANTIATE_TEST_SUITE_P(
    Of, ClusterFaults,
    ::testing::ValuesIn(std::vector<Fault>{
        Fault{"no_servers", kAny, [](Spec& s) { s.servers = 0; }, "servers"},
        Fault{"no_gpus", kAny, [](Spec& s) { s.gpus_per_server = 0; }, "gpus_per_server"},
        Fault{"no_nic_ports", kAny, [](Spec& s) { s.nic.ports = 0; }, "nic.ports"},
        Fault{"too_many_gpus", kAny, [](Spec& s) { s.servers = (1u << 28) + 1; }, "servers"},
        Fault{"gpus_that_wrap_to_zero", kAny, [](Spec& s) { s.servers = s.gpus_per_server = 1u << 16; }, "servers"},
        Fault{"too_many_links", kAny, [](Spec& s) { s.servers = 1u << 27; }, "nic.ports"},
        Fault{"peak_of_zero", kAny, [](Spec& s) { s.gpu.peak_tflops = 0; }, "gpu.peak_tflops"},
        Fault{"peak_not_a_number", kAny, [](Spec& s) { s.gpu.peak_tflops = kNan; }, "gpu.peak_tflops"},
        Fault{"memory_rate_negative", kAny, [](Spec& s) { s.gpu.memory_gb_per_s = -1; }, "gpu.memory_gb_per_s"},
        Fault{"memory_negative", kAny, [](Spec& s) { s.gpu.memory_gb = -1; }, "gpu.memory_gb"},
        Fault{"efficiency_of_zero", kAny, [](Spec& s) { s.gpu.compute_efficiency = 0; }, "gpu.compute_efficiency"},
        Fault{"efficiency_above_1", kAny, [](Spec& s) { s.gpu.compute_efficiency = 1.01; }, "gpu.compute_efficiency"},
        Fault{"efficiency_not_a_number", kAny, [](Spec& s) { s.gpu.compute_efficiency = kNan; },
              "gpu.compute_efficiency"},
        Fault{"scale_up_of_zero", kAny, [](Spec& s) { s.scale_up.per_gpu = {}; }, "scale_up.per_gpu"},
        Fault{"scale_up_latency_negative", kAny, [](Spec& s) { s.scale_up.latency = Duration{-1}; },
              "scale_up.latency"},
        Fault{"nic_rate_of_zero", kAny, [](Spec& s) { s.nic.per_port = {}; }, "nic.per_port"},
        Fault{"nic_rate_negative", kAny, [](Spec& s) { s.nic.per_port = {-1}; }, "nic.per_port"},
        Fault{"nic_rate_infinite", kAny, [](Spec& s) { s.nic.per_port = {kInfinity}; }, "nic.per_port"},
        Fault{"nic_rate_not_a_number", kAny, [](Spec& s) { s.nic.per_port = {kNan}; }, "nic.per_port"},
        Fault{"nic_latency_negative", kAny, [](Spec& s) { s.nic.latency = Duration{-1}; }, "nic.latency"},
        Fault{"overhead_negative", kAny, [](Spec& s) { s.nic.message_overhead = Duration{-1}; },
              "nic.message_overhead"},
        Fault{"radix_of_1", kElectrical, [](Spec& s) { s.rail.switch_radix = 1; }, "rail.switch_radix"},
        Fault{"oversubscription_below_1", kElectrical, [](Spec& s) { s.rail.oversubscription = 0.5; },
              "rail.oversubscription"},
        Fault{"oversubscription_infinite", kElectrical, [](Spec& s) { s.rail.oversubscription = kInfinity; },
              "rail.oversubscription"},
        Fault{"oversubscription_not_a_number", kElectrical, [](Spec& s) { s.rail.oversubscription = kNan; },
              "rail.oversubscription"},
        Fault{"tier_latency_negative", kElectrical, [](Spec& s) { s.rail.tier_latency = Duration{-1}; },
              "rail.tier_latency"},
        Fault{"too_few_ocs_ports", kOptical, [](Spec& s) { s.rail.optical.ports = 15; }, "rail.optical.ports"},
        Fault{"switching_negative", kOptical, [](Spec& s) { s.rail.optical.reconfiguration.a = Duration{-1}; },
              "rail.optical.reconfiguration"},
        Fault{"switching_deviation_negative", kOptical,
              [](Spec& s) {
                s.rail.optical.reconfiguration = {DelayDistribution::Kind::kNormal, Duration{5}, Duration{-1}, 0.0};
              },
              "rail.optical.reconfiguration"},
        Fault{"switching_range_reversed", kOptical,
              [](Spec& s) {
                s.rail.optical.reconfiguration = {DelayDistribution::Kind::kUniform, Duration{5}, Duration{4}, 0.0};
              },
              "rail.optical.reconfiguration"},
        Fault{"switching_spread_too_wide", kOptical,
              [](Spec& s) {
                s.rail.optical.reconfiguration = {DelayDistribution::Kind::kLogNormal, Duration{5}, {}, 40.0};
              },
              "rail.optical.reconfiguration"},
        Fault{"link_up_negative", kOptical, [](Spec& s) { s.rail.optical.link_up = Duration{-1}; },
              "rail.optical.link_up"},
        Fault{"power_not_a_number", kOptical, [](Spec& s) { s.rail.optical.power_w = kNan; }, "rail.optical.power_w"},
        Fault{"price_negative", kOptical, [](Spec& s) { s.rail.optical.usd_per_port = -1; },
              "rail.optical.usd_per_port"}}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    OfServers, ClusterFaults,
    ::testing::ValuesIn(
        std::
            vector<Fault>{Fault{"nics_for_a_third", kElectrical, [](Spec& s) { s.nic.gpus = 3; }, "nic.gpus"},
                          Fault{"nics_for_no_gpu", kElectrical, [](Spec& s) { s.nic.gpus = 0; }, "nic.gpus"},
                          Fault{"shared_nics_under_circuits", kOptical, [](Spec& s) { s.nic.gpus = 2; }, "nic.gpus"},
                          Fault{"unlike_of_no_speed", kAny, [](Spec& s) { s.unlike = {{.servers = {1}, .speed = 0.0}}; },
                                "unlike[0].speed"},
                          Fault{"unlike_server_beyond", kAny, [](Spec& s) { s.unlike = {{.servers = {4}}}; },
                                "unlike[0].servers"},
                          Fault{"unlike_gpu_beyond", kAny, [](Spec& s) { s.unlike = {{.servers = {1}, .gpus = {8}}}; },
                                "unlike[0].gpus"},
                          Fault{
                              "unlike_twice", kAny,
                              [](Spec& s) {
                                s.unlike = {{.servers = {1}}, {.servers = {1}, .gpus = {3}}};
                              },
                              "unlike[1].servers"},
                          Fault{"line_above_the_port", kAny,
                                [](Spec& s) { s.scale_up.lines = {{Duration{1}, Bandwidth::from_gb_per_s(451)}}; },
                                "scale_up.lines[0].rate"}}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    OfMeshes, ClusterFaults,
    ::testing::ValuesIn(std::vector<Fault>{
        Fault{"mesh_without_hexagons", kOptical, [](Spec& s) { s.rail.optical.pip = PipMeshSpec{0, 9}; },
              "rail.optical.pip.rows"},
        Fault{"mesh_too_wide", kOptical, [](Spec& s) { s.rail.optical.pip = PipMeshSpec{9, 65}; },
              "rail.optical.pip.columns"},
        Fault{"mesh_without_ends_for_16_ports", kOptical, [](Spec& s) { s.rail.optical.pip = PipMeshSpec{1, 1}; },
              "rail.optical.pip.rows"},
        Fault{"mesh_of_amplifiers", kOptical, [](Spec& s) { s.rail.optical.pip = PipMeshSpec{9, 9, -1.0}; },
              "rail.optical.pip.cell_loss_db"},
        Fault{"mesh_that_leaks_all", kOptical, [](Spec& s) { s.rail.optical.pip = PipMeshSpec{9, 9, 0.25, 1.0, 0.0}; },
              "rail.optical.pip.crosstalk_db"},
        Fault{"mesh_of_pods", kOptical,
              [](Spec& s) {
                s.rail.optical.pip = PipMeshSpec{9, 9};
                s.rail.pods.servers = 2;
              },
              "rail.pods.servers"},
        Fault{"mesh_to_forward_over", kOptical,
              [](Spec& s) {
                s.rail.optical.pip = PipMeshSpec{9, 9};
                s.rail.forwarding = true;
              },
              "rail.forwarding"},
        Fault{"mesh_with_a_loss_of_its_own", kOptical,
              [](Spec& s) {
                s.rail.optical.pip = PipMeshSpec{9, 9};
                s.rail.optical.insertion_loss_db = 3;
              },
              "rail.optical.insertion_loss_db"},
        Fault{"mesh_too_dark", kOptical,
              [](Spec& s) {
                s.rail.optical.pip = PipMeshSpec{9, 9};
                s.nic.optical_budget_db = 3;
              },
              "nic.optical_budget_db"}}),
    [](const auto& info) { return info.param.name; });

TEST(Cluster, AcceptsBothKindsOfRail) {
  EXPECT_NO_THROW(cluster(RailKind::kElectrical).validate());
  EXPECT_NO_THROW(cluster(RailKind::kOptical).validate());  // ports 0: as many as needed
}

TEST(Cluster, TheOcsNeedsTwoPortsForEveryNicPortOfTheRail) {
  ClusterSpec spec = cluster(RailKind::kOptical);
  spec.rail.optical.ports = 16;  // 4 servers x 2 NIC ports x 2 fibres
  EXPECT_NO_THROW(spec.validate());
  spec.rail.optical.ports = 15;
  try {
    spec.validate();
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.problem(), HasSubstr("has 15 ports"));
    EXPECT_THAT(error.problem(), HasSubstr("needs 16"));
    EXPECT_EQ(error.hint(),
              "at most 3 servers, fewer NIC ports, a larger switch, or several of them (rail.pods)");  // 3 x 2 x 2 = 12
                                                                                                       // <= 15
  }
}

TEST(Cluster, ServerScaleSwitchesHaveAsManyPortsAsNeeded) {
  ClusterSpec spec = cluster(RailKind::kOptical);
  spec.servers = 10'000;
  spec.rail.optical = optical_switch_preset("mzi_interposer");
  EXPECT_NO_THROW(spec.validate());
  spec.rail.optical = optical_switch_preset("polatis_6000");
  EXPECT_THROW(spec.validate(), ConfigError);
}

// Two protocols of a port of 100 GB/s. 1 kB: 1 us + 20 ns at 50 GB/s, less its 10 ns at 100. 1 MB: 1 + 20 - 10 = 11 us, so
// that the other one's 5 us are less.
TEST(Cluster, AMessageTakesTheFastestProtocolForItsSize) {
  ScaleUpSpec scale_up{Bandwidth::from_gb_per_s(100), Duration{7'000'000}};
  EXPECT_EQ(scale_up.message_latency({1000}), Duration{7'000'000});
  scale_up.lines = {{Duration{1'000'000}, Bandwidth::from_gb_per_s(50)},
                    {Duration{5'000'000}, Bandwidth::from_gb_per_s(100)}};
  EXPECT_EQ(scale_up.message_latency({1000}), Duration{1'010'000});
  EXPECT_EQ(scale_up.message_latency({1'000'000}), Duration{5'000'000});
  EXPECT_EQ(scale_up.least_latency(), Duration{1'000'000});
}

TEST(Cluster, AMillionGpusAreFine) {
  ClusterSpec spec = cluster(RailKind::kElectrical);
  spec.servers = 131'072;
  EXPECT_NO_THROW(spec.validate());
}

TEST(Cluster, ThePlantHasItsNumbers) {
  ClusterSpec spec = cluster(RailKind::kElectrical);
  spec.nic.per_port = Bandwidth::from_gb_per_s(25);
  spec.scale_up.per_gpu = Bandwidth::from_gb_per_s(900);
  spec.rail.switch_radix = 6;
  spec.rail.oversubscription = 2.0;
  const PlantSpec plant = spec.plant();
  EXPECT_EQ(plant.gpus(), 32u);
  EXPECT_EQ(plant.rail_ports(), 8u);
  EXPECT_EQ(plant.nic_port, Bandwidth::from_gb_per_s(25));
  EXPECT_EQ(plant.scale_up, Bandwidth::from_gb_per_s(900));
  EXPECT_EQ(plant.rail, RailKind::kElectrical);
  EXPECT_EQ(plant.ports_per_leaf(), 4u);  // 6 x 2 / 3
  EXPECT_EQ(cluster(RailKind::kOptical).plant().rail, RailKind::kOptical);
}

}  // namespace
}  // namespace photonrail
