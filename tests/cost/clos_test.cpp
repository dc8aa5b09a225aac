#include "cost/clos.hpp"
#include "photonrail/cluster/topology.hpp"
#include "support/errors.hpp"

namespace photonrail::cost {
namespace {

std::vector<std::uint64_t> switches(const Wiring& wiring) {
  std::vector<std::uint64_t> list;
  for (const Stage& stage : wiring.stages) list.push_back(stage.switches);
  return list;
}

std::vector<std::uint64_t> ports_used(const Wiring& wiring) {
  std::vector<std::uint64_t> list;
  for (const Stage& stage : wiring.stages) list.push_back(stage.ports_used);
  return list;
}

using Numbers = std::vector<std::uint64_t>;

TEST(FoldedClos, SmallNetworksShareASwitch) {
  // 4 networks of 16 ports fill one of 64: 8 of them two, 9 of them three.
  EXPECT_EQ(switches(folded_clos({8, 1, 16}, 64, {1.0})), Numbers{2});
  EXPECT_EQ(switches(folded_clos({9, 1, 16}, 64, {1.0})), Numbers{3});
  EXPECT_EQ(ports_used(folded_clos({9, 1, 16}, 64, {1.0})), Numbers{144});
  EXPECT_EQ(folded_clos({9, 1, 16}, 64, {1.0}).links, 0u);
}

TEST(FoldedClos, FatTreeOfFourPortSwitches) {
  // k = 4 (Al-Fares et al., figure 3): 16 hosts, 4 pods of 2 edge and 2 aggregation switches, (k/2)^2 = 4 core switches.
  const Wiring wiring = folded_clos({1, 1, 16}, 4, {1.0});
  EXPECT_EQ(switches(wiring), (Numbers{8, 8, 4}));
  EXPECT_EQ(ports_used(wiring), (Numbers{32, 32, 16}));
  EXPECT_EQ(wiring.links, 32u);  // 16 edge to aggregation, 16 to the core
}

TEST(FoldedClos, OversubscriptionTakesUplinksAway) {
  // 3 : 1 of 64 ports: 48 down, 16 up. 96 hosts: 2 leaves, 32 uplinks, half a spine.
  const Wiring wiring = folded_clos({1, 1, 96}, 64, {3.0});
  EXPECT_EQ(switches(wiring), (Numbers{2, 1}));
  EXPECT_EQ(wiring.links, 32u);
}

TEST(FoldedClos, LeavesAreOfOneRail) {
  // 32 ports down. 8 rails of 16: two rails a leaf fit whole, 4 leaves, 128 up, 2 spines.
  EXPECT_EQ(switches(folded_clos({1, 8, 16}, 64, {1.0})), (Numbers{4, 2}));
  // 3 rails of 24: one a leaf, although 72 ports would fill no more than 3 leaves anyway; 72 up, 2 spines.
  EXPECT_EQ(switches(folded_clos({1, 3, 24}, 64, {1.0})), (Numbers{3, 2}));
  // 2 rails of 40: 2 leaves each, where 80 ports together would need 3; 80 up, 2 spines.
  EXPECT_EQ(switches(folded_clos({1, 2, 40}, 64, {1.0})), (Numbers{4, 2}));
  EXPECT_EQ(switches(folded_clos({1, 1, 80}, 64, {1.0})), (Numbers{3, 2}));
}

TEST(FoldedClos, HasTheSwitchesAndCablesOfThePlant) {
  // What the simulator's graph of a two-tier rail has, as long as a leaf reaches every spine.
  for (const std::uint32_t radix : {4u, 11u, 64u}) {
    for (const double o : {1.0, 1.2, 3.0}) {
      for (const std::uint32_t drawn : {0u, 1u, 2u, 3u}) {
        const std::uint32_t extra = drawn % 3;
        const bool fewer = drawn == 3;
        PlantSpec plant;
        plant.fewer_spines = fewer;
        plant.gpus_per_server = 3;
        plant.switch_radix = radix;
        plant.oversubscription = o;
        plant.nic_port = plant.scale_up = Bandwidth::from_gb_per_s(50);
        plant.servers = 2 * radix;  // more than one switch holds
        const std::uint32_t leaf = plant.ports_per_leaf();
        const std::uint32_t servers = plant.servers = (radix / leaf + 1) * leaf + extra;
        if (plant.leaves() > radix) continue;
        const PlantSummary there = summarize(plant);
        const Wiring wiring = folded_clos({3, 1, servers}, radix, {o, fewer});
        ASSERT_EQ(wiring.stages.size(), 2u);
        if (servers % plant.ports_per_leaf() != 0) {
          // The plant's last leaf has all its uplinks, the bill those of its wired ports.
          EXPECT_LE(wiring.links, there.cables - there.nic_ports - there.gpus) << radix << " " << o << " " << servers;
          continue;
        }
        EXPECT_EQ(wiring.stages[0].switches + wiring.stages[1].switches, there.electrical_switches);
        // The plant's cables are of NIC ports, of GPUs to the scale-up fabric, and of leaves.
        EXPECT_EQ(wiring.links, there.cables - there.nic_ports - there.gpus) << radix << " " << o << " " << servers;
      }
    }
  }
}

TEST(OpticalClos, SmallRailsShareAnOcs) {
  // 192 ports switch 96 circuits: two rails of 48.
  const Wiring wiring = optical_clos(5, 48, 192);
  EXPECT_EQ(switches(wiring), Numbers{3});
  EXPECT_EQ(ports_used(wiring), Numbers{5 * 96});
}

TEST(OpticalClos, ARailThatOutgrowsAnOcsHasThreeStages) {
  // 128 circuits: 2 ingress and 2 egress switches of 64 circuits each, 64 crossbars of 2 circuits in the middle, 48 of
  // which one OCS holds. An outer switch has 64 fibres of the rail and 64 to the middle.
  const Wiring wiring = optical_clos(1, 128, 192);
  EXPECT_EQ(switches(wiring), (Numbers{4, 2}));
  EXPECT_EQ(ports_used(wiring), (Numbers{4 * 128, 64 * 4}));
  EXPECT_EQ(wiring.links, 128u);  // 64 from each of 2 ingress switches and as many to egress: 256 fibres
}

TEST(OpticalClos, OfTwoByTwoSwitchesItIsTheNetworkOfBenes) {
  // 8 inputs: 2 log2(8) - 1 = 5 stages of 4 switches.
  EXPECT_EQ(switches(optical_clos(1, 8, 4)), (Numbers{8, 8, 4}));
}

TEST(Clos, SwitchesThatCannotBeJoinedAreRefused) {
  EXPECT_EQ(test::error_of([] {
              static_cast<void>(folded_clos({1, 1, 4}, 3, {1.0}));
            }).where(),
            "cluster.rail.switch_radix");
  EXPECT_EQ(test::error_of([] { static_cast<void>(optical_clos(1, 2, 3)); }).where(), "cluster.rail.optical.ports");
  EXPECT_EQ(switches(folded_clos({1, 1, 3}, 3, {1.0})), Numbers{1});
  EXPECT_EQ(switches(optical_clos(7, 1, 2)), Numbers{7});
}

}  // namespace
}  // namespace photonrail::cost
