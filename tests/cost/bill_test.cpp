#include "photonrail/study/cost.hpp"
#include "support/errors.hpp"

#include <limits>

namespace photonrail::test {
namespace {

using enum NetworkFabric;

/// Prices of one digit each, so that a sum shows what is in it.
Pricing prices(CostRule rule = CostRule::kPhysical) {
  Pricing pricing;
  pricing.rule = rule;
  PriceCatalogue& c = pricing.catalogue;
  c.name = "test";
  c.port = Bandwidth::from_gb_per_s(50);
  c.gpus_per_server = 2;
  c.electrical_switch = {"switch", 8, 800, 80, "test"};
  c.optical_switch = {"ocs", 16, 1600, 16, "test"};
  c.transceiver = {"transceiver", 1, 10, 2, "test"};
  c.fibre_pair = {"fibre", 1, 1, 0, "test"};
  c.gpu_idle_share = 0.25;
  return pricing;
}

NetworkShape shape(std::uint32_t servers, std::uint32_t gpus_per_server) {
  NetworkShape s;
  s.servers = servers;
  s.gpus_per_server = gpus_per_server;
  return s;
}

std::vector<std::uint64_t> counts(const Bill& bill) {
  std::vector<std::uint64_t> list;
  for (const BillLine& line : bill.lines) list.push_back(line.count);
  return list;
}

using Numbers = std::vector<std::uint64_t>;

TEST(PhysicalBill, RailsOfOneSwitchShareIt) {
  // 2 rails of 4 ports on one switch of 8. 8 links with a transceiver at both ends.
  const Bill bill = bill_of_materials(kRailOnly, shape(4, 2), prices());
  EXPECT_EQ(counts(bill), (Numbers{1, 16, 8}));
  EXPECT_DOUBLE_EQ(bill.usd(), 800 + 16 * 10 + 8);
  EXPECT_DOUBLE_EQ(bill.power_w(), 80 + 16 * 2);
}

TEST(PhysicalBill, TheThreeElectricalNetworksOfFourRails) {
  // 4 servers of 4: 16 ports. Rails alone: two a switch of 8, 2 switches. Together: 4 ports down, 4 leaves, 16 uplinks, 2
  // spines; 16 + 16 links. A rail fills a leaf, so that sorting by rail costs nothing.
  EXPECT_EQ(counts(bill_of_materials(kRailOnly, shape(4, 4), prices())), (Numbers{2, 32, 16}));
  EXPECT_EQ(counts(bill_of_materials(kFatTree, shape(4, 4), prices())), (Numbers{4, 2, 64, 32}));
  EXPECT_EQ(counts(bill_of_materials(kRailOptimised, shape(4, 4), prices())), (Numbers{4, 2, 64, 32}));
  // 5 servers: a rail needs two leaves, where 20 ports together fill 5.
  EXPECT_EQ(counts(bill_of_materials(kFatTree, shape(5, 4), prices())), (Numbers{5, 3, 80, 40}));
  EXPECT_EQ(counts(bill_of_materials(kRailOptimised, shape(5, 4), prices())), (Numbers{8, 3, 80, 40}));
}

// 2 rails of 16 ports on switches of 8. 1:1: 4 down and 4 up, 4 leaves, 16 uplinks, 2 spines. 3:1 by more ports below a
// leaf: 6 down, leaves of 6, 6 and 4 ports with 2, 2 and 2 uplinks, a spine. 3:1 by fewer spines: 4 down and ceil(4 / 3) =
// 2 up, 4 leaves, 8 uplinks, a spine.
TEST(PhysicalBill, FewerSpinesAreTheSameLeavesWithPortsToSpare) {
  NetworkShape s = shape(16, 2);
  const auto switches = [&] {
    const Numbers all = counts(bill_of_materials(kRailOnly, s, prices()));
    return Numbers(all.begin(), all.begin() + 2);
  };
  EXPECT_EQ(switches(), (Numbers{2 * 4, 2 * 2}));
  s.oversubscription = 3.0;
  EXPECT_EQ(switches(), (Numbers{2 * 3, 2 * 1}));
  s.fewer_spines = true;
  const Bill bill = bill_of_materials(kRailOnly, s, prices());
  EXPECT_EQ(switches(), (Numbers{2 * 4, 2 * 1}));
  EXPECT_EQ(bill.lines[0].ports_used, 2u * (16 + 8));
  EXPECT_EQ(bill.lines[1].ports_used, 2u * 8);
  // Links: 32 of NICs and 16 between switches, a transceiver at each end.
  EXPECT_DOUBLE_EQ(bill.usd(), 10 * 800 + 2 * 48 * 10 + 48);
  s.oversubscription = 1.0;  // nothing to spare
  EXPECT_EQ(switches(), (Numbers{2 * 4, 2 * 2}));
}

TEST(PhysicalBill, PhotonicRailsHaveOneTransceiverAPort) {
  // 2 rails of 8 circuits: an OCS of 16 ports each.
  const Bill bill = bill_of_materials(kPhotonicRail, shape(8, 2), prices());
  EXPECT_EQ(counts(bill), (Numbers{2, 16, 16}));
  EXPECT_EQ(bill.lines[0].ports_used, 32u);
  EXPECT_DOUBLE_EQ(bill.usd(), 2 * 1600 + 16 * 10 + 16);
  EXPECT_DOUBLE_EQ(bill.power_w(), 2 * 16 + 16 * 2);
  // 9 servers outgrow it. A rail: 2 x 2 outer switches; 5 crossbars of 2 circuits in the middle, 4 an OCS of 8 circuits.
  // Both rails: 10 crossbars, 3 OCSs. Fibre pairs: 18 of NICs, 2 x 5 within each rail.
  EXPECT_EQ(counts(bill_of_materials(kPhotonicRail, shape(9, 2), prices())), (Numbers{8, 3, 18, 38}));
}

TEST(PhysicalBill, PlanesKeepSwitchesSmall) {
  // 8 servers with two ports: 16 circuits a rail, where an OCS of 16 ports switches 8. In one plane: 2 x 2 outer switches
  // and 8 middle crossbars of 2 circuits, 4 an OCS. In two: an OCS for each.
  NetworkShape s = shape(8, 2);
  s.nic_ports = 2;
  EXPECT_EQ(counts(bill_of_materials(kPhotonicRail, s, prices())), (Numbers{8, 4, 32, 64}));
  s.planes = 2;
  EXPECT_EQ(counts(bill_of_materials(kPhotonicRail, s, prices())), (Numbers{4, 32, 32}));
}

TEST(PhysicalBill, PodsHaveSwitchesOfTheirOwnAndALayerThatJoinsThem) {
  // 2 rails of 4 pods of 2 servers. A pod: 2 circuits of NIC ports and 2 of uplinks, two pods an OCS of 8 circuits: 4 OCSs.
  NetworkShape s = shape(8, 2);
  s.optical.emplace();
  s.pods.servers = 2;
  s.pods.oversubscription = 2.0;
  // An uplink a pod, 4 ports of a rail, both rails on one switch of 8; transceivers: 16 of NICs, 8 of that switch.
  const Bill electrical = bill_of_materials(kPhotonicRail, s, prices());
  EXPECT_EQ(counts(electrical), (Numbers{4, 1, 24, 24}));
  EXPECT_EQ(electrical.lines[0].ports_used, 64u);
  EXPECT_EQ(electrical.lines[1].item, "electrical switch");
  EXPECT_EQ(electrical.lines[1].tier, 2u);
  EXPECT_DOUBLE_EQ(electrical.usd(), 4 * 1600 + 800 + 24 * 10 + 24);
  // 2 uplinks of a pod and rail, a crossbar of 4 circuits for each, two of them an OCS; light passes both layers.
  s.pods.layer = PodSpec::Layer::kOptical;
  s.pods.oversubscription = 1.0;
  EXPECT_EQ(counts(bill_of_materials(kPhotonicRail, s, prices())), (Numbers{4, 2, 16, 32}));
  // 7 servers: 3 pods of two for each rail on 3 OCSs, and the last two pods, of 2 circuits each, on one.
  s.servers = 7;
  EXPECT_EQ(counts(bill_of_materials(kPhotonicRail, s, prices())), (Numbers{4, 2, 14, 28}));
  EXPECT_THROW(static_cast<void>(bill_of_materials(kPhotonicRail, s, prices(CostRule::kOpusArtifact))), ConfigError);
}

TEST(PhysicalBill, MeshesAreNotSharedAndHaveThePriceThatTheClusterGives) {
  NetworkShape s = shape(4, 2);  // of crossbars one OCS would do for both rails
  s.optical.emplace();
  s.optical->pip.emplace();
  try {
    static_cast<void>(bill_of_materials(kPhotonicRail, s, prices()));
    FAIL() << "no catalogue has its price";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where(), "cluster.rail.optical.pip");
  }
  s.optical->usd_per_port = 7;
  s.optical->power_w = 5;
  const Bill bill = bill_of_materials(kPhotonicRail, s, prices());
  EXPECT_EQ(counts(bill), (Numbers{2, 8, 8}));
  EXPECT_DOUBLE_EQ(bill.lines[0].usd, 2 * 8 * 7) << "4 servers have 8 fibres in each";
  EXPECT_DOUBLE_EQ(bill.lines[0].power_w, 2 * 5);
}

TEST(PhysicalBill, TheClustersOwnSwitchesGoFirst) {
  NetworkShape s = shape(4, 2);
  s.radix = 4;  // half a catalogue switch: 400 USD, 40 W, and one a rail
  EXPECT_DOUBLE_EQ(bill_of_materials(kRailOnly, s, prices()).lines[0].usd, 2 * 400);
  EXPECT_DOUBLE_EQ(bill_of_materials(kRailOnly, s, prices()).lines[0].power_w, 2 * 40);
  s.optical.emplace();
  s.optical->ports = 8;  // half a catalogue OCS
  EXPECT_DOUBLE_EQ(bill_of_materials(kPhotonicRail, s, prices()).lines[0].usd, 2 * 800);
  s.optical->usd_per_port = 7;
  s.optical->power_w = 5;
  EXPECT_DOUBLE_EQ(bill_of_materials(kPhotonicRail, s, prices()).lines[0].usd, 2 * 8 * 7);
  EXPECT_DOUBLE_EQ(bill_of_materials(kPhotonicRail, s, prices()).lines[0].power_w, 2 * 5);
}

TEST(PhysicalBill, AFasterNicTakesSeveralPorts) {
  NetworkShape s = shape(8, 2);
  for (const auto& [rate, lanes] : {std::pair{25.0, 1u}, {50.0, 1u}, {50.1, 2u}, {100.0, 2u}, {400.0, 8u}}) {
    s.nic_port = Bandwidth::from_gb_per_s(rate);
    const Bill bill = bill_of_materials(kPhotonicRail, s, prices());
    EXPECT_EQ(counts(bill), (Numbers{2 * lanes, 16 * lanes, 16 * lanes})) << rate;
  }
}

TEST(PhysicalBill, SparesCostAndDrawNothing) {
  Pricing pricing = prices();
  const double power = bill_of_materials(kRailOnly, shape(4, 2), pricing).power_w();
  pricing.catalogue.spare_share = 0.125;
  const Bill bill = bill_of_materials(kRailOnly, shape(4, 2), pricing);
  EXPECT_EQ(bill.lines[0].spares, 1u);  // 1/8 of 1, rounded up
  EXPECT_EQ(bill.lines[1].spares, 2u);  // of 16
  EXPECT_DOUBLE_EQ(bill.usd(), 2 * 800 + 18 * 10 + 9);
  EXPECT_DOUBLE_EQ(bill.power_w(), power);
}

TEST(ArtifactBill, CountsPortsByItsFormulas) {
  // 16 GPUs in servers of 2, at 100 USD and 10 W a port. Fat tree: k = round(64^(1/3)) = 4, 4 x (16 + 4) = 80 ports.
  const Pricing pricing = prices(CostRule::kOpusArtifact);
  EXPECT_EQ(counts(bill_of_materials(kFatTree, shape(8, 2), pricing)), (Numbers{80, 96}));
  // Rails: k = round(sqrt(32)) = 6, 2 x floor(8 / 3) = 4 switches a rail, floor(16 / 6) = 2 spines: 6 x (8 + 2) = 60 ports.
  const Bill rails = bill_of_materials(kRailOptimised, shape(8, 2), pricing);
  EXPECT_EQ(counts(rails), (Numbers{60, 76}));
  EXPECT_DOUBLE_EQ(rails.usd(), 60 * 100 + 76 * 10);
  EXPECT_DOUBLE_EQ(rails.power_w(), 60 * 10 + 76 * 2);
  EXPECT_EQ(counts(bill_of_materials(kPhotonicRail, shape(8, 2), pricing)), (Numbers{32, 16}));
  Pricing bare = pricing;
  bare.catalogue.artifact_switch_transceivers = false;
  EXPECT_EQ(counts(bill_of_materials(kRailOptimised, shape(8, 2), bare)), (Numbers{60, 16}));
  // Whatever the NIC and its switches are.
  NetworkShape other = shape(8, 2);
  other.nic_ports = 4;
  other.radix = 128;
  EXPECT_EQ(counts(bill_of_materials(kRailOptimised, other, pricing)), (Numbers{60, 76}));
  EXPECT_EQ(error_of([&] { static_cast<void>(bill_of_materials(kRailOnly, shape(8, 2), pricing)); }).problem(),
            "the rule opus_artifact has no rail_only");
}

TEST(Cost, FabricsOfARule) {
  const auto rows = cost_of_fabrics(shape(4, 4), prices());
  ASSERT_EQ(rows.size(), 4u);
  for (const FabricCost& row : rows) {
    EXPECT_EQ(row.gpus, 16u);
    EXPECT_DOUBLE_EQ(row.usd, bill_of_materials(row.fabric, shape(4, 4), prices()).usd());
  }
  EXPECT_EQ(cost_of_fabrics(shape(4, 4), prices(CostRule::kOpusArtifact)).size(), 3u);
}

TEST(Cost, GpusMustFillServers) {
  EXPECT_EQ(network_shape(prices().catalogue, 16).servers, 8u);
  for (const std::uint32_t gpus : {0u, 1u, 15u}) {
    EXPECT_EQ(error_of([&] { static_cast<void>(network_shape(prices().catalogue, gpus)); }).where(), "gpus");
  }
}

TEST(Cost, EnergyFollowsPowerAndUtilisation) {
  ClusterSpec cluster;
  cluster.servers = 4;
  cluster.gpus_per_server = 2;
  cluster.nic.per_port = Bandwidth::from_gb_per_s(50);
  cluster.rail.switch_radix = 8;
  const Duration step = std::chrono::seconds(10);
  EXPECT_FALSE(cost_of(cluster, prices(), step, 8, 0.5).gpu_energy_per_step_j.has_value());  // power unknown
  cluster.gpu.power_w = 100;
  // 80 + 16 x 2 = 112 W for 10 s. 6 of 8 GPUs compute half of the time: 3 at 100 W, 5 at a quarter of it.
  const CostSummary summary = cost_of(cluster, prices(), step, 6, 0.5);
  EXPECT_EQ(summary.bill.fabric, kRailOnly);
  EXPECT_DOUBLE_EQ(summary.network_energy_per_step_j, 1120);
  EXPECT_DOUBLE_EQ(summary.gpu_energy_per_step_j.value(), 10 * (3 * 100 + 5 * 25));
  EXPECT_EQ(cost_of(cluster, prices(CostRule::kOpusArtifact), step, 6, 0.5).bill.fabric, kRailOptimised);
}

// A rate that stands for "no limit" is no number of ports.
TEST(Cost, ANicOfMoreThanAMillionPortsOfTheCatalogueHasNone) {
  ClusterSpec cluster;
  cluster.servers = 4;
  cluster.gpus_per_server = 2;
  cluster.nic.per_port = Bandwidth{1e30};
  const ConfigError error =
      error_of([&] { static_cast<void>(cost_of(cluster, prices(), std::chrono::seconds(1), 8, 0.5)); });
  EXPECT_EQ(error.where(), "cluster.nic.per_port");
  EXPECT_NE(error.problem().find("more than a million"), std::string::npos);
}

TEST(Cost, PricesThatMeanNothingAreRefused) {
  const auto where = [](auto change) {
    Pricing pricing = prices();
    change(pricing.catalogue);
    return error_of([&] { pricing.validate(); }).where();
  };
  EXPECT_EQ(where([](PriceCatalogue& c) { c.transceiver.usd = -1; }), "catalogue.transceiver");
  EXPECT_EQ(where([](PriceCatalogue& c) { c.electrical_switch.watts = std::numeric_limits<double>::quiet_NaN(); }),
            "catalogue.electrical_switch");
  EXPECT_EQ(where([](PriceCatalogue& c) { c.optical_switch.ports = 2; }), "catalogue.optical_switch.ports");
  EXPECT_EQ(where([](PriceCatalogue& c) { c.port = {}; }), "catalogue.port");
  EXPECT_EQ(where([](PriceCatalogue& c) { c.spare_share = 2; }), "catalogue.spare_share");
}

}  // namespace
}  // namespace photonrail::test
