// Electrical rails whose messages take single uplinks, and links between sites.
#include "photonrail/error.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Rank i sends rank half + i 1 MB, all at once. Half of the servers are below the first leaf, and a leaf has as many
/// uplinks as NICs, each as fast.
Job across_leaves(std::uint32_t half, UplinkRouting routing) {
  Job job(2 * half);
  for (std::size_t i = 0; i < half; ++i) job.send(i, half + i, kMegabyte).receive(i, half + i, kMegabyte);
  job.build();
  RailSpec& rail = job.scenario.cluster.rail;
  rail.switch_radix = 2 * half - 1;  // with ports for all servers it would be one switch
  rail.uplinks.count = half;
  rail.uplinks.routing = routing;
  rail.oversubscription = static_cast<double>(half) / (half - 1);  // half ports below a leaf of 2 half - 1
  for (std::uint32_t u = 0; u < half; ++u) rail.uplinks.rates.push_back(Bandwidth::from_gb_per_s(50));
  return job;
}

const Utilisation::Uplinks& uplinks_of(const RunResult& result) { return result.utilisation.value().uplinks.value(); }

Bytes bytes_up(const RunResult& result) {
  Bytes sum{};
  for (const Utilisation::Uplink& uplink : uplinks_of(result).single) sum += uplink.up;
  return sum;
}

PortFault fault_of_uplinks(std::optional<std::uint32_t> leaf, std::optional<std::uint32_t> uplink, Duration at,
                           std::optional<Duration> lasts = {}) {
  PortFault fault;
  fault.leaf = leaf;
  fault.uplink = uplink;
  fault.at = Time{} + at;
  fault.lasts = lasts;
  return fault;
}

// Four NICs of 50 GB/s below a leaf with 200 GB/s up: nothing is shared.
TEST(LeafSpine, FluidUplinksAreOneCapacity) {
  const RunResult result = across_leaves(4, UplinkRouting::kFluid).run();
  EXPECT_EQ(result.makespan, us(20));
  EXPECT_TRUE(uplinks_of(result).single.empty());
  EXPECT_TRUE(books_balance(result));
}

// The greatest load of 8 flows on 8 uplinks, each drawn evenly, is the time of the slowest in multiples of 20 us: those of
// one uplink share it evenly. Both are means over draws: of 400 runs with a deviation of about 0.75, so that the error of
// the mean is 0.04; four of these are allowed.
TEST(LeafSpine, HashesCollideAsBallsInBinsDo) {
  constexpr std::uint32_t kFlows = 8;
  std::mt19937 random(5);
  double expected = 0.0;
  constexpr int kDraws = 200'000;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::array<int, kFlows> load{};
    for (std::uint32_t flow = 0; flow < kFlows; ++flow) ++load[random() % kFlows];
    expected += *std::max_element(load.begin(), load.end());
  }
  expected /= kDraws;
  for (const auto by : {UplinkSpec::HashBy::kMessage, UplinkSpec::HashBy::kFlow}) {
    double mean = 0.0;
    constexpr int kRuns = 400;
    Job job = across_leaves(kFlows, UplinkRouting::kHash);
    job.scenario.cluster.rail.uplinks.hash_by = by;
    for (int run = 0; run < kRuns; ++run) {
      job.scenario.run.seed = static_cast<std::uint64_t>(run) + 1;
      const RunResult result = job.run();
      const double loads = to_seconds(result.makespan) / 20e-6;
      EXPECT_NEAR(loads, std::round(loads), 1e-6);
      EXPECT_EQ(bytes_up(result).count, kFlows * kMegabyte);
      mean += loads / kRuns;
    }
    EXPECT_NEAR(mean, expected, 0.15) << static_cast<int>(by);
  }
}

// A flow keeps its uplink from message to message, and a message draws its own: of 32 messages in a row 8 uplinks carry
// some, all but surely (an uplink misses with (7/8)^32 = 1.4 %).
TEST(LeafSpine, AFlowStaysOnItsUplink) {
  for (const auto by : {UplinkSpec::HashBy::kMessage, UplinkSpec::HashBy::kFlow}) {
    Job job(16);
    for (std::uint32_t i = 0; i < 32; ++i) job.send(0, 8, kMegabyte, i).receive(0, 8, kMegabyte, i);
    job.build();
    Job with = across_leaves(8, UplinkRouting::kHash);
    with.scenario.graph = job.scenario.graph;
    with.scenario.cluster.rail.uplinks.hash_by = by;
    const RunResult result = with.run();
    EXPECT_EQ(result.makespan, us(20 * 32));
    const auto used = std::ranges::count_if(uplinks_of(result).single, [](const auto& u) { return u.up.count > 0; });
    if (by == UplinkSpec::HashBy::kFlow) {
      EXPECT_EQ(used, 1);
    } else {
      EXPECT_GE(used, 6);
    }
  }
}

// 10,000,001 bytes over four uplinks of 10 GB/s: one carries 2,500,001 bytes, in 250.0001 us, the others 2,500,000.
TEST(LeafSpine, EqualPartsAddUpToTheByte) {
  Job job(8);
  job.send(0, 4, 10'000'001).receive(0, 4, 10'000'001).build();
  Job with = across_leaves(4, UplinkRouting::kEqual);
  with.scenario.graph = job.scenario.graph;
  with.scenario.cluster.rail.uplinks.rates.assign(4, Bandwidth::from_gb_per_s(10));
  const RunResult result = with.run();
  EXPECT_EQ(result.makespan, Duration{250'000'100});
  EXPECT_TRUE(books_balance(result));
  std::vector<std::int64_t> up;
  for (const Utilisation::Uplink& uplink : uplinks_of(result).single) {
    if (uplink.leaf == 0) up.push_back(uplink.up.count);
  }
  std::ranges::sort(up);
  EXPECT_EQ(up, (std::vector<std::int64_t>{2'500'000, 2'500'000, 2'500'000, 2'500'001}));
}

// Equal parts of an uplink of a tenth of the rate: the slowest binds. Fluid would take 1 MB / (3 x 50 + 5 GB/s) at the
// least, and the NIC 20 us; 250,000 bytes over 5 GB/s take 50 us.
TEST(LeafSpine, EqualPartsWaitForTheSlowestUplink) {
  Job job(8);
  job.send(0, 4, kMegabyte).receive(0, 4, kMegabyte).build();
  Job with = across_leaves(4, UplinkRouting::kEqual);
  with.scenario.graph = job.scenario.graph;
  with.scenario.cluster.rail.uplinks.rates[2] = Bandwidth::from_gb_per_s(5);
  EXPECT_EQ(with.run().makespan, us(50));
}

/// One message of these bytes over uplinks of these rates, in shares.
Job in_shares(std::int64_t bytes, const std::vector<double>& gb_per_s, std::vector<double> shares = {}) {
  Job job(8);
  job.send(0, 4, bytes).receive(0, 4, bytes).build();
  Job with = across_leaves(4, UplinkRouting::kShares);
  with.scenario.graph = job.scenario.graph;
  UplinkSpec& uplinks = with.scenario.cluster.rail.uplinks;
  uplinks.count = static_cast<std::uint32_t>(gb_per_s.size());
  uplinks.rates.clear();
  for (const double rate : gb_per_s) uplinks.rates.push_back(Bandwidth::from_gb_per_s(rate));
  uplinks.shares = std::move(shares);
  return with;
}

/// What the uplinks of the first leaf carried up, by number.
std::vector<std::int64_t> carried(const RunResult& result) {
  std::vector<std::int64_t> up(uplinks_of(result).single.size() / 2);
  for (const Utilisation::Uplink& uplink : uplinks_of(result).single) {
    if (uplink.leaf == 0) up[uplink.uplink] = uplink.up.count;
  }
  return up;
}

// 4 MB over 10 and 30 GB/s: 1 MB and 3 MB take 100 us each, where equal parts wait 200 us for the slow one. Of a byte more
// a quarter and three quarters remain: it goes to the fast one.
TEST(LeafSpine, SharesByRateEndTogether) {
  Job job = in_shares(4 * kMegabyte, {10, 30});
  EXPECT_EQ(job.run().makespan, us(100));
  EXPECT_THAT(carried(job.run()), ElementsAre(kMegabyte, 3 * kMegabyte));
  EXPECT_THAT(carried(in_shares(4 * kMegabyte + 1, {10, 30}).run()), ElementsAre(kMegabyte, 3 * kMegabyte + 1));
  job.scenario.cluster.rail.uplinks.routing = UplinkRouting::kEqual;
  EXPECT_EQ(job.run().makespan, us(200));
}

// 10,000,001 bytes: 5,000,000.5, 3,000,000.3 and 2,000,000.2, of which the first has the largest remainder. It takes
// 5,000,001 bytes / 10 GB/s.
TEST(LeafSpine, SharesOfAFileAddUpToTheByte) {
  const RunResult result = in_shares(10'000'001, {10, 10, 10, 10}, {0.5, 0.3, 0.2, 0}).run();
  EXPECT_THAT(carried(result), ElementsAre(5'000'001, 3'000'000, 2'000'000, 0));
  EXPECT_EQ(result.makespan, Duration{500'000'100});
  EXPECT_TRUE(books_balance(result));
  EXPECT_THAT(carried(in_shares(1, {10, 10, 10}, {0.2, 0.3, 0.5}).run()), ElementsAre(0, 0, 1));
}

TEST(LeafSpine, EqualSharesAreEqualParts) {
  Job job = in_shares(10'000'003, {10, 20, 10, 40}, {0.25, 0.25, 0.25, 0.25});
  const RunResult shares = job.run();
  job.scenario.cluster.rail.uplinks.routing = UplinkRouting::kEqual;
  job.scenario.cluster.rail.uplinks.shares.clear();
  EXPECT_EQ(shares.makespan, job.run().makespan);
  EXPECT_EQ(carried(shares), carried(job.run()));
}

// Half of 1 MB and a quarter on two others of 10 GB/s. The first fails after 20 us with 300,000 bytes to go, which take
// 30 us more over the second, behind nothing: that has 50,000 bytes of its own left and shares its rate with them for 10
// us. The fourth has no share and carries none.
TEST(LeafSpine, SharesOfACutUplinkGoOnOverTheOthers) {
  Job job = in_shares(kMegabyte, {10, 10, 10, 10}, {0.5, 0.25, 0.25, 0});
  job.scenario.cluster.rail.faults = {fault_of_uplinks(0, 0, us(20))};
  const RunResult result = job.run();
  EXPECT_THAT(carried(result), ElementsAre(200'000, 550'000, 250'000, 0));
  EXPECT_EQ(result.makespan, us(20 + 35));
  // From the beginning: what it has not is 0.25 : 0.25 of the others'.
  job.scenario.cluster.rail.faults = {fault_of_uplinks(0, 0, us(0))};
  EXPECT_THAT(carried(job.run()), ElementsAre(0, 500'000, 500'000, 0));
  // Without the three that have shares nothing leaves, though the fourth is there.
  for (const std::uint32_t uplink : {1u, 2u}) {
    job.scenario.cluster.rail.faults.push_back(fault_of_uplinks(0, uplink, us(0)));
  }
  EXPECT_THROW(static_cast<void>(job.run()), DeadlockError);
  job.scenario.cluster.rail.faults = {fault_of_uplinks(0, {}, us(0), us(10))};
  EXPECT_EQ(job.run().makespan, us(10 + 50));
}

TEST(LeafSpine, TheLeastLoadedUplinksAreTakenInTurn) {
  Job job = across_leaves(8, UplinkRouting::kLeastLoaded);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, us(20)) << "as many messages as uplinks";
  for (const Utilisation::Uplink& uplink : uplinks_of(result).single) {
    EXPECT_EQ((uplink.leaf == 0 ? uplink.up : uplink.down).count, kMegabyte);
  }
  // The fastest uplink takes the first message; the seven others find it busy, and idle ones beside it.
  job.scenario.cluster.rail.uplinks.rates.assign(8, Bandwidth::from_gb_per_s(10));
  job.scenario.cluster.rail.uplinks.rates[5] = Bandwidth::from_gb_per_s(40);
  const RunResult uneven = job.run();
  EXPECT_EQ(uneven.makespan, us(100)) << "one on each slow uplink";
  EXPECT_EQ(bytes_up(uneven).count, 8 * kMegabyte);
}

// A message that is alone: after 4 us, with 200,000 bytes, its uplink is cut, and the rest goes over another one.
TEST(LeafSpine, ACutUplinkMovesItsFlowsAndLosesNoByte) {
  for (const auto routing : {UplinkRouting::kHash, UplinkRouting::kLeastLoaded}) {
    Job one(8);
    one.send(0, 4, kMegabyte).receive(0, 4, kMegabyte).build();
    Job job = across_leaves(4, routing);
    job.scenario.graph = one.scenario.graph;
    const std::uint32_t taken = uplinks_of(job.run()).single.front().uplink;
    for (const std::uint32_t leaf : {0u, 1u}) {
      job.scenario.cluster.rail.faults = {fault_of_uplinks(leaf, taken, us(4))};
      const RunResult result = job.run();
      EXPECT_EQ(result.makespan, us(20));
      EXPECT_TRUE(books_balance(result));
      EXPECT_EQ(bytes_up(result).count, kMegabyte);
      const std::vector<Utilisation::Uplink>& single = uplinks_of(result).single;
      EXPECT_EQ(std::max(single[0].up, single[0].down).count, 800'000);
      EXPECT_NE(single[0].uplink, taken);
    }
  }
}

// All parts of eight messages go on over the seven uplinks that are left: 8 MB over 7 x 50 GB/s at the best.
TEST(LeafSpine, EqualPartsGoOnOverTheUplinksThatAreLeft) {
  Job job = across_leaves(8, UplinkRouting::kEqual);
  job.scenario.cluster.rail.faults = {fault_of_uplinks({}, 3, us(10))};  // a spine
  const RunResult result = job.run();
  EXPECT_EQ(bytes_up(result).count, 8 * kMegabyte);
  EXPECT_GE(result.makespan, us(10 + 10.0 * 8 / 7));
  EXPECT_LE(result.makespan, us(30));
  EXPECT_TRUE(books_balance(result));
}

// For 10 us no uplink of the leaf is left: whatever takes it stands still, and ends as much later.
TEST(LeafSpine, WithoutAnUplinkMessagesStandStill) {
  for (const auto routing :
       {UplinkRouting::kFluid, UplinkRouting::kHash, UplinkRouting::kEqual, UplinkRouting::kLeastLoaded}) {
    Job one(8);
    one.send(0, 4, kMegabyte).receive(0, 4, kMegabyte).build();
    Job job = across_leaves(4, routing);
    job.scenario.graph = one.scenario.graph;
    job.scenario.cluster.rail.faults = {fault_of_uplinks(1, {}, us(4), us(10))};
    EXPECT_EQ(job.run().makespan, us(30)) << name(routing);
    job.scenario.cluster.rail.faults = {fault_of_uplinks(1, {}, us(4))};
    try {
      static_cast<void>(job.run());
      FAIL() << name(routing);
    } catch (const DeadlockError& error) {
      EXPECT_THAT(error.what(), HasSubstr("every uplink of leaf 1, every rail, failed at 0.000004 s")) << name(routing);
    }
  }
}

// Of the fluid 200 GB/s a failed uplink takes 50, and a slow one half of that.
TEST(LeafSpine, FluidUplinksThatFailTakeTheirPart) {
  Job job = across_leaves(4, UplinkRouting::kFluid);
  job.scenario.cluster.rail.faults = {fault_of_uplinks(0, 2, us(0))};
  EXPECT_EQ(job.run().makespan, Duration{26'666'667});  // 4 MB / 150 GB/s
  job.scenario.cluster.rail.faults[0].kind = PortFault::Kind::kSlow;
  job.scenario.cluster.rail.faults[0].rate = 0.5;
  EXPECT_EQ(job.run().makespan, Duration{22'857'143});  // 4 MB / 175 GB/s
}

TEST(LeafSpine, NotesSayWhatBindsAndWhatHasNoEffect) {
  const auto note = [](Job&& job) {
    const RunResult result = job.run();
    const auto found = std::ranges::find(result.notes, "uplink-routing", &Note::id);
    return found == result.notes.end() ? std::string() : found->text;
  };
  EXPECT_THAT(note(across_leaves(8, UplinkRouting::kHash)), HasSubstr("With routing \"hash\" the busiest uplink, "));
  Job one = across_leaves(8, UplinkRouting::kHash);
  one.scenario.cluster.rail.switch_radix = 64;
  EXPECT_THAT(note(std::move(one)), HasSubstr("A rail is one switch, without uplinks: routing \"hash\" has no effect"));
  Job alone = across_leaves(8, UplinkRouting::kEqual);
  alone.scenario.cluster.rail.uplinks = {.count = 1, .routing = UplinkRouting::kEqual};
  EXPECT_THAT(note(std::move(alone)), HasSubstr("A leaf has one uplink: routing \"equal\" has no effect"));
  Job fluid = across_leaves(8, UplinkRouting::kFluid);
  fluid.scenario.cluster.rail.uplinks = {.count = 4};
  EXPECT_THAT(note(std::move(fluid)), HasSubstr("their number has no effect"));
  EXPECT_EQ(note(Job(2)), "");
}

TEST(LeafSpine, RanksAreNotFolded) {
  Job job(16);
  const auto group = job.group({0, 8});
  job.collective(group, {0, 8}, CollectiveOp::kAllReduce, kMegabyte).build();
  Job with = across_leaves(8, UplinkRouting::kEqual);
  with.scenario.graph = job.scenario.graph;
  with.scenario.run.folding = true;
  EXPECT_THAT(with.run().folding.off, HasSubstr("messages take single uplinks"));
}

/// A ring of four servers, two at each site; the link has 10 GB/s and 100 us.
Job two_sites() {
  Job job(4);
  const auto group = job.group({0, 1, 2, 3});
  job.collective(group, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 4 * kMegabyte).build();
  job.scenario.cluster.sites.servers = {2, 2};
  job.scenario.cluster.sites.links = {{0, 1, Bandwidth::from_gb_per_s(10), us(100)}};
  return job;
}

// The ring 0-1-2-3 crosses the link once each way, with six shards of 1 MB that take 100 us at its rate and 100 us of
// latency. Ranks 1 and 3 have the first to send at once and the second after 20 us, so that two leave in 200 us. The third
// has come over the link and one NIC: 100 + 100 + 20 us. So pairs leave from 0, 220 and 440 us on, and the last arrives at
// 440 + 200 + 100 us: the 600 us of its bytes, one latency, and the NIC twice.
TEST(Sites, ARingOverTheCutTakesItsBytesAndItsLatencies) {
  const RunResult result = two_sites().run();
  EXPECT_EQ(result.makespan, us(740));
  EXPECT_TRUE(books_balance(result));
  const std::vector<Utilisation::Link>& links = result.utilisation.value().site_links;
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].bytes.count, 6 * kMegabyte);
  EXPECT_NEAR(links[0].busy, 600.0 / 740.0, 1e-9);
  EXPECT_EQ(links[1].from, 1u);
  EXPECT_EQ(links[1].bytes.count, 6 * kMegabyte);
}

// Circuits within and between sites: the link is shared by two rails, whose rings cross it at once with half of its rate. A
// shard takes 200 us, and the next is there before it has left: 6 x 200 us and one latency.
TEST(Sites, RailsOfCircuitsShareTheLink) {
  Job job(8, 2);
  for (const std::size_t rail : {0u, 1u}) {
    const std::vector<std::size_t> ring{rail, rail + 2, rail + 4, rail + 6};
    job.collective(job.group(ring), ring, CollectiveOp::kAllReduce, 4 * kMegabyte);
  }
  job.optical(us(0), "opus").build();
  job.scenario.cluster.sites.servers = {2, 2};
  job.scenario.cluster.sites.links = {{0, 1, Bandwidth::from_gb_per_s(10), us(100)}};
  EXPECT_EQ(job.run().makespan, us(1300));
}

// From site 0 to site 2 over site 1: 1 MB at the 5 GB/s of the slower link, and both latencies.
TEST(Sites, AMessageCrossesTheFewestLinksThatLeadThere) {
  Job job(3);
  job.send(0, 2, kMegabyte).receive(0, 2, kMegabyte).build();
  SitesSpec& sites = job.scenario.cluster.sites;
  sites.servers = {1, 1, 1};
  sites.links = {{0, 1, Bandwidth::from_gb_per_s(5), us(10)}, {2, 1, Bandwidth::from_gb_per_s(20), us(30)}};
  EXPECT_EQ(job.run().makespan, us(200 + 40));
  sites.links.push_back({0, 2, Bandwidth::from_gb_per_s(1), us(1)});
  EXPECT_EQ(job.run().makespan, us(1000 + 1));
}

// Two leaves, one a site: the way is uplink, link, uplink. At 4 us one of two messages moves to the other uplink, and the
// link of 40 GB/s stays what binds: 2 MB / 40 GB/s.
TEST(Sites, LiesBetweenTheUplinksOfLeaves) {
  Job job(4);
  for (const std::size_t i : {0u, 1u}) job.send(i, 2 + i, kMegabyte).receive(i, 2 + i, kMegabyte);
  job.build();
  ClusterSpec& cluster = job.scenario.cluster;
  cluster.rail.switch_radix = 3;
  cluster.rail.oversubscription = 2;
  cluster.rail.uplinks = {.rates = {Bandwidth::from_gb_per_s(50), Bandwidth::from_gb_per_s(50)},
                          .routing = UplinkRouting::kLeastLoaded};
  cluster.rail.tier_latency = us(3);
  cluster.sites.servers = {2, 2};
  cluster.sites.links = {{0, 1, Bandwidth::from_gb_per_s(40), us(7)}};
  cluster.rail.faults = {fault_of_uplinks(0, 1, us(4))};
  EXPECT_EQ(job.run().makespan, us(50 + 3 + 7));
}

TEST(Sites, ALinkMayFailOrBeSlow) {
  Job job(2);
  job.send(0, 1, kMegabyte).receive(0, 1, kMegabyte).build();
  job.scenario.cluster.sites.servers = {1, 1};
  job.scenario.cluster.sites.links = {{0, 1, Bandwidth::from_gb_per_s(10), us(5)}};
  PortFault fault;
  fault.site_link = 0;
  fault.at = Time{} + us(20);
  fault.lasts = us(50);
  job.scenario.cluster.rail.faults = {fault};
  EXPECT_EQ(job.run().makespan, us(100 + 50 + 5));
  job.scenario.cluster.rail.faults[0].kind = PortFault::Kind::kSlow;
  job.scenario.cluster.rail.faults[0].rate = 0.5;
  EXPECT_EQ(job.run().makespan, us(100 + 25 + 5));
  job.scenario.cluster.rail.faults[0] = fault;
  job.scenario.cluster.rail.faults[0].lasts.reset();
  try {
    static_cast<void>(job.run());
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("link 0 between sites failed at 0.000020 s"));
  }
}

TEST(Sites, TheLinkIsWhatBinds) {
  Job job = two_sites();
  job.scenario.cluster.sites.links[0].latency = {};
  job.scenario.run.critical_path = true;
  const RunResult result = job.run();
  ASSERT_TRUE(result.critical_path);
  EXPECT_EQ(result.critical_path->busiest->place, Place::kSiteLink);
  EXPECT_EQ(result.critical_path->busiest->name.substr(0, 14), "link from site");
  EXPECT_EQ(result.critical_path->parts.front().label(), "dp over site_link");
}

}  // namespace
}  // namespace photonrail::test
