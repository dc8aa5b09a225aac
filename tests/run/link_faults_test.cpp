// Links between GPUs that fail or are slow: ways around them, and what a run says that is cut off.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/errors.hpp"
#include "topology/link_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace photonrail {
namespace {

using test::Job;
using test::us;
using ::testing::HasSubstr;

constexpr std::int64_t kMegabyte = 1'000'000;  // at 50 GB/s 20 us

ScaleUpFault fault_of(std::uint32_t gpu, std::optional<std::uint32_t> to) {
  ScaleUpFault fault;
  fault.gpu = gpu;
  fault.to = to;
  return fault;
}

/// Servers of a torus with links of 50 GB/s and 1 us.
Job links_job(std::size_t ranks, const std::vector<std::uint32_t>& sides, bool wraps = true) {
  const std::uint32_t gpus = std::accumulate(sides.begin(), sides.end(), 1u, std::multiplies<>());
  Job job(ranks, gpus);
  ScaleUpSpec& links = job.scenario.cluster.scale_up;
  links.per_gpu = Bandwidth::from_gb_per_s(50);
  links.latency = us(1);
  links.shape.kind = ScaleUpShape::Kind::kTorus;
  links.shape.sides = sides;
  links.shape.wraps.assign(sides.size(), wraps);
  return job;
}

Job message_job(const std::vector<ScaleUpFault>& faults, bool wraps = true) {
  Job job = links_job(4, {4}, wraps);
  job.scenario.cluster.scale_up.faults = faults;
  job.send(0, 1, kMegabyte).receive(0, 1, kMegabyte);
  return job;
}

Duration in_all(Job& job) {
  const RunResult result = job.run();
  EXPECT_TRUE(test::books_balance(result));
  return result.makespan;
}

// 1 MB from GPU 0 to GPU 1 of a ring of four: 20 us and 1 us a link.
TEST(LinkFaults, AMessageGoesTheOtherWayRound) {
  Job healthy = message_job({});
  EXPECT_EQ(in_all(healthy), us(21));
  Job around = message_job({fault_of(0, 1)});
  EXPECT_EQ(in_all(around), us(23));  // 0, 3, 2, 1
  Job elsewhere = message_job({fault_of(2, 3)});
  EXPECT_EQ(in_all(elsewhere), us(21));
}

// GPU 1 of four is bypassed: 0, 2, 3 are a ring of three links.
TEST(LinkFaults, ARingThatBypassesAGpuHasThemToo) {
  const auto bypassing = [](const std::vector<ScaleUpFault>& faults) {
    Job job = links_job(3, {4});
    job.scenario.cluster.servers = 1;
    job.scenario.gpu_of_rank = {GpuId{0}, GpuId{2}, GpuId{3}};
    ScaleUpShape& ring = job.scenario.cluster.scale_up.shape;
    ring = {};
    ring.kind = ScaleUpShape::Kind::kRing;
    ring.bypassed = {1};
    job.scenario.cluster.scale_up.faults = faults;
    job.send(0, 1, kMegabyte).receive(0, 1, kMegabyte);
    return job;
  };
  Job healthy = bypassing({});
  EXPECT_EQ(in_all(healthy), us(21));
  Job around = bypassing({fault_of(2, 0)});
  EXPECT_EQ(in_all(around), us(22));  // 0, 3, 2
  ScaleUpFault short_one = fault_of(3, std::nullopt);
  short_one.lasts = us(1);
  Job elsewhere = bypassing({short_one});
  EXPECT_EQ(in_all(elsewhere), us(21));
  Job none = bypassing({fault_of(1, std::nullopt)});
  EXPECT_THAT(test::error_of([&] { static_cast<void>(none.run()); }).what(), HasSubstr("GPU 1 has no links"));
}

// The link fails when 250 kB have left; the rest leaves at once over the three other links.
TEST(LinkFaults, WhatIsInFlightGoesOnOverOtherLinks) {
  ScaleUpFault fault = fault_of(1, 0);  // either end names it
  fault.at = Time{} + us(5);
  Job job = message_job({fault});
  EXPECT_EQ(in_all(job), us(23));
  fault.lasts = us(2);  // repaired at 7 us: what is left at 20 us has one link to go again
  Job repaired = message_job({fault});
  EXPECT_EQ(in_all(repaired), us(21));
}

// Two chunks of a send are on one way that was found for both. The first, on its detour when the link is repaired at 7 us,
// returns, and so does the second: 40 us in all and one link, as in a run that never had the fault.
TEST(LinkFaults, MessagesAfterARepairTakeTheirWayAgain) {
  ScaleUpFault fault = fault_of(0, 1);
  fault.lasts = us(7);
  const auto two = [](Job job) {
    job.send(0, 1, kMegabyte).send(0, 1, kMegabyte).receive(0, 1, kMegabyte).receive(0, 1, kMegabyte);
    return job;
  };
  Job repaired = two(links_job(4, {4}));
  repaired.scenario.cluster.scale_up.faults = {fault};
  Job healthy = two(links_job(4, {4}));
  EXPECT_EQ(in_all(repaired), in_all(healthy));
}

TEST(LinkFaults, WithoutAnotherWayItWaitsForTheRepair) {
  ScaleUpFault fault = fault_of(0, 1);
  fault.at = Time{} + us(5);
  fault.lasts = us(100);
  Job job = message_job({fault}, false);
  EXPECT_EQ(in_all(job), us(121));
  // A repair elsewhere opens the other way before: from 5 to 45 us nothing moves, then three links.
  ScaleUpFault other = fault_of(3, std::nullopt);
  other.lasts = us(45);
  Job opened = message_job({fault, other});
  EXPECT_EQ(in_all(opened), us(45 + 15 + 3));
}

TEST(LinkFaults, ARunThatIsCutOffNamesTheFault) {
  ScaleUpFault fault = fault_of(1, std::nullopt);
  fault.at = Time{} + us(5);
  fault.server = 0;
  Job job = message_job({fault});
  try {
    static_cast<void>(job.run());
    FAIL() << "GPU 1 has no link";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("scale-up fabric of server 0: every link of GPU 1 failed at 0.000005 s"));
    EXPECT_THAT(error.what(), HasSubstr("no way is left from GPU 0 to GPU 1 of server 0"));
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
  }
}

// A message over a link inside the server, which is cut at 2 ms, and a circuit of the rail.
Job rotor_job(std::optional<Duration> repaired_after) {
  ScaleUpFault fault = fault_of(0, std::nullopt);
  fault.at = Time{} + us(2'000);
  fault.server = 0;
  fault.lasts = repaired_after;
  Job job = links_job(6, {2});
  job.optical(us(1), "rotor");
  job.scenario.cluster.scale_up.faults = {fault};
  job.send(0, 3, 200 * kMegabyte).receive(0, 3, 200 * kMegabyte);
  return job;
}

TEST(LinkFaults, ARotorStandsStillWhereTheBytesOnItsCircuitsDo) {
  try {
    static_cast<void>(rotor_job({}).run());
    FAIL() << "GPU 0 has no link";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("every link of GPU 0 failed at 0.002000 s"));
  }
}

TEST(LinkFaults, ARotorTurnsOnAfterTheRepair) {
  const Duration late = rotor_job(us(60'000'000)).run().makespan - rotor_job(us(30'000'000)).run().makespan;
  EXPECT_NEAR(to_seconds(late), 30.0, 1e-3) << "a turn takes less than a millisecond";
}

// Half of the rate from 10 us on: 500 kB at 50 GB/s and 500 kB at 25 GB/s. Of two faults the worse one counts.
TEST(LinkFaults, ASlowLinkKeepsItsMessages) {
  ScaleUpFault half = fault_of(0, 1);
  half.rate = 0.5;
  half.at = Time{} + us(10);
  ScaleUpFault better = half;
  better.rate = 0.75;
  better.lasts = us(5);
  Job job = message_job({better, half});
  EXPECT_EQ(in_all(job), us(10 + 20 + 1));
}

// A 4x4 of cubes of 2: the optical switch of dimension 1 at place 0 joins the columns 1-2 and 3-0 of the rows 0 and 2. The
// way from (0, 1) to (0, 2) then is down, right, up: three links, two of a face or not.
TEST(LinkFaults, AnOpticalSwitchTakesItsFacesAlong) {
  Job job = links_job(16, {4, 4});
  ScaleUpSpec& links = job.scenario.cluster.scale_up;
  links.shape.block = 2;
  links.face_latency = us(0.5);
  ScaleUpFault fault;
  fault.dimension = 1;
  fault.position = {0};
  links.faults = {fault};
  job.send(1, 2, kMegabyte).receive(1, 2, kMegabyte);
  EXPECT_EQ(in_all(job), us(20 + 3 + 0.5));  // (1, 1) to (1, 2) is a face of place 1
}

// Rings that lose a link go on over it the other way round: slower, with the same sends; exact and stream agree; a second
// server without the fault is as quick as before.
TEST(LinkFaults, CollectivesGoOnAroundThem) {
  for (const char* algorithm : {"bucket", "torus_rings", "ring", "direct"}) {
    Job healthy = links_job(32, {4, 4});
    std::vector<std::size_t> first(16);
    std::iota(first.begin(), first.end(), 0);
    std::vector<std::size_t> second(16);
    std::iota(second.begin(), second.end(), 16);
    const CollectiveOp op = algorithm == std::string("direct") ? CollectiveOp::kAllToAll : CollectiveOp::kAllReduce;
    healthy.scenario.collectives.algorithm[static_cast<std::size_t>(op)] = algorithm;
    healthy.collective(healthy.group(first), first, op, 16 * 9 * kMegabyte / 10);
    healthy.collective(healthy.group(second), second, op, 16 * 9 * kMegabyte / 10);
    healthy.build();
    Scenario broken = healthy.scenario;
    ScaleUpFault fault = fault_of(5, 6);
    fault.server = 0;
    fault.at = Time{} + us(3);
    broken.cluster.scale_up.faults = {fault};
    const RunResult before = simulate(healthy.scenario);
    const RunResult after = simulate(broken);
    EXPECT_TRUE(test::books_balance(after));
    EXPECT_GT(after.makespan, before.makespan) << algorithm;
    EXPECT_EQ(after.engine.sends, before.engine.sends) << algorithm;
    EXPECT_EQ(after.ranks[16].exposed_communication, before.ranks[16].exposed_communication) << algorithm;
    broken.run.fidelity = Fidelity::kStream;
    EXPECT_EQ(simulate(broken).makespan, after.makespan) << algorithm;
  }
}

// Five nodes of 2x2 in a row, all to all between nodes: of the two rails each node sends up to the next one of either ring,
// ten messages at once, and no two of them meet: 20 us, one link of 1 us, 0.5 us for the switch. With the next node's links
// only, lead to the next node only, ways to the node after that share a link.
TEST(RailRings, AllToAllOfARowInClosedForm) {
  const topology::LinkGrid grid = [] {
    ScaleUpShape shape;
    shape.kind = ScaleUpShape::Kind::kTorus;
    shape.sides = {2, 10};
    shape.wraps = {true, true};
    shape.block = 2;
    shape.rail_rings = true;
    return topology::LinkGrid(shape, 20);
  }();
  std::array<Duration, 2> times{};
  for (const bool rings : {true, false}) {
    Job job = links_job(20, {2, 10});
    ScaleUpSpec& links = job.scenario.cluster.scale_up;
    links.shape.block = 2;
    links.shape.rail_rings = rings;
    links.face_latency = us(0.5);
    for (std::uint32_t rail = 0; rail < 2; ++rail) {
      for (std::uint32_t node = 0; node < 5; ++node) {
        const std::uint32_t from = rail * 10 + 2 * node + 1;
        const std::uint32_t to = *grid.neighbour(from, 2);
        job.send(from, to, kMegabyte).receive(from, to, kMegabyte);
      }
    }
    times[rings ? 0 : 1] = in_all(job);
  }
  EXPECT_EQ(times[0], us(20 + 1.5));
  EXPECT_GT(times[1], us(40));
}

/// Links to pass from a GPU to each other one; none: it cannot be reached.
std::vector<std::optional<std::uint32_t>> distances_around(const topology::LinkGrid& grid, std::uint32_t gpus,
                                                           std::uint32_t from, const std::vector<ScaleUpFault>& faults) {
  std::vector<std::optional<std::uint32_t>> far(gpus);
  far[from] = 0;
  std::vector<std::uint32_t> queue{from};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (std::uint32_t slot = 0; slot < grid.slots(); ++slot) {
      const auto other = grid.neighbour(queue[next], slot);
      const auto cuts = [&](const ScaleUpFault& f) {
        return (*f.gpu == queue[next] && *f.to == *other) || (*f.gpu == *other && *f.to == queue[next]);
      };
      if (!other || far[*other] || std::any_of(faults.begin(), faults.end(), cuts)) continue;
      far[*other] = *far[queue[next]] + 1;
      queue.push_back(*other);
    }
  }
  return far;
}

// Of a 3x3x3 without 30 of its 81 links every message of one byte takes 1 us for each link of the shortest way that is
// left.
TEST(LinkFaults, WaysAreTheShortestThatAreLeft) {
  std::mt19937 generator(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(generator() % n); };
  for (int c = 0; c < 6; ++c) {
    Job job = links_job(27, {3, 3, 3});
    ScaleUpSpec& links = job.scenario.cluster.scale_up;
    const topology::LinkGrid grid(links.shape, 27);
    while (links.faults.size() < 30) {
      const std::uint32_t gpu = below(27);
      links.faults.push_back(fault_of(gpu, *grid.neighbour(gpu, below(6))));
    }
    const std::uint32_t from = below(27);
    const auto far = distances_around(grid, 27, from, links.faults);
    for (std::uint32_t to = 0; to < 27; ++to) {
      if (to == from || !far[to]) continue;
      Job one = links_job(27, {3, 3, 3});
      one.scenario.cluster.scale_up.faults = links.faults;
      one.send(from, to, 1).receive(from, to, 1);
      EXPECT_EQ(in_all(one), us(*far[to]) + Duration{20}) << from << " to " << to;
    }
  }
}

TEST(LinkFaults, WhatTheShapeHasNotIsRefused) {
  const auto refused = [](const ScaleUpFault& fault) {
    Job job = message_job({fault});
    return std::string(test::error_of([&] { static_cast<void>(job.run()); }).what());
  };
  EXPECT_THAT(refused(fault_of(0, 2)), HasSubstr("no link joins GPUs 0 and 2"));
  EXPECT_THAT(refused(fault_of(4, std::nullopt)), HasSubstr("GPU 4 has no links"));
  ScaleUpFault optical;
  optical.dimension = 0;
  EXPECT_THAT(refused(optical), HasSubstr("no optical switch joins the GPUs"));
  EXPECT_THAT(refused({}), HasSubstr("of a GPU's links or of an optical switch"));
  Job crossbar(4, 4);
  crossbar.scenario.cluster.scale_up.faults = {fault_of(0, 1)};
  crossbar.send(0, 1, 1).receive(0, 1, 1);
  EXPECT_THAT(test::error_of([&] { static_cast<void>(crossbar.run()); }).what(), HasSubstr("a crossbar has no links"));
}

}  // namespace
}  // namespace photonrail
