// Jobs on switches that block: what has room at once is as on a crossbar, the rest waits, and what never has room is named.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kByPair[] = {"max_weight", "mixnet", "bvn", "solstice", "rotor"};

std::vector<std::size_t> members(std::size_t ranks) {
  std::vector<std::size_t> all;
  for (std::size_t r = 0; r < ranks; ++r) all.push_back(r);
  return all;
}

/// All ranks exchange 80 KB with each other; `hexagons` a side, none: a crossbar.
Job exchange(const std::string& controller, std::uint32_t hexagons, std::uint32_t ranks = 8) {
  Job job(ranks);
  job.optical(us(20), controller);
  if (hexagons > 0) job.scenario.cluster.rail.optical.pip = PipMeshSpec{hexagons, hexagons};
  job.collective(job.group(members(ranks)), members(ranks), CollectiveOp::kAllToAll, 80'000 * std::int64_t{ranks});
  return job;
}

std::string why_stuck(Job job) {
  try {
    job.run();
  } catch (const DeadlockError& error) {
    return error.what();
  }
  return "";
}

class MeshOfARail : public ::testing::TestWithParam<const char*> {};

TEST_P(MeshOfARail, WithRoomForAllHasTheHistoryOfACrossbar) {
  testing::HistoryHash on_mesh;
  testing::HistoryHash on_crossbar;
  Observer* mesh[] = {&on_mesh};
  Observer* crossbar[] = {&on_crossbar};
  const RunResult roomy = exchange(GetParam(), 8).run(mesh);
  exchange(GetParam(), 0).run(crossbar);
  EXPECT_EQ(on_mesh.value(), on_crossbar.value());
  ASSERT_TRUE(roomy.reconfigurations.blocking);
  EXPECT_EQ(roomy.reconfigurations.blocking->waited, 0u);
  EXPECT_GT(roomy.reconfigurations.blocking->cells, 0u);
}

INSTANTIATE_TEST_SUITE_P(Policies, MeshOfARail,
                         ::testing::Values("opus", "lru", "coalesce", "harvest", "static_split", "topoopt", "max_weight",
                                           "mixnet", "bvn", "solstice", "rotor"));

class NarrowMesh : public ::testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {};

// Every pair has its circuit in the end, and none sooner than on a crossbar.
TEST_P(NarrowMesh, ServesPairsOneAfterAnother) {
  const auto& [controller, hexagons] = GetParam();
  const Duration on_crossbar = exchange(controller, 0).run().makespan;
  const RunResult result = exchange(controller, hexagons).run();
  EXPECT_GT(result.makespan, on_crossbar);
  EXPECT_GT(result.reconfigurations.blocking->waited, 0u);
  EXPECT_TRUE(books_balance(result));
  EXPECT_EQ(result.folding.off.empty(), false);
}

INSTANTIATE_TEST_SUITE_P(Policies, NarrowMesh, ::testing::Combine(::testing::ValuesIn(kByPair), ::testing::Values(2u, 4u)));

TEST(MeshOfARail, NamesTheCircuitsThatItNeverHasRoomFor) {
  const std::string at_once = why_stuck(exchange("opus", 4));
  EXPECT_THAT(at_once,
              HasSubstr("the mesh of 4x4 hexagons of rail 0 has no ways for the 8 circuits that are wanted at once"));
  EXPECT_THAT(at_once, HasSubstr("a controller that serves pairs one by one"));
  // On 3x3 hexagons the fibres of servers 0 and 1 are ports 1 and 2, and light from 2 never comes to 1.
  EXPECT_THAT(why_stuck(exchange("max_weight", 3)),
              HasSubstr("rank 1 to rank 0: the mesh of 3x3 hexagons of rail 0 has no way for it"));
}

// On 2x2 hexagons with 10 ports no light comes from server 3 to server 2, so that the matchings of "bvn" stand still with
// it, and the pairs of servers 0 and 1 wait for a turn that never comes.
TEST(MeshOfARail, NamesTheCircuitWithoutAWayBeforeThoseThatWaitForItsTurn) {
  Job job = exchange("bvn", 2, 5);
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
  EXPECT_THAT(why_stuck(job), HasSubstr("rank 3 to rank 2: the mesh of 2x2 hexagons of rail 0 has no way for it"));
}

// What leaks into the other receivers is too much for all eight circuits at once: they have ways, and wait for darkness.
TEST(MeshOfARail, CircuitsThatAreTooDarkTogetherTakeTurns) {
  Job bright = exchange("max_weight", 6);
  bright.scenario.cluster.nic.optical_budget_db = 40;
  Job dim = exchange("max_weight", 6);
  dim.scenario.cluster.nic.optical_budget_db = 8.5;
  const RunResult all = bright.run();
  const RunResult few = dim.run();
  EXPECT_GT(few.reconfigurations.blocking->waited, all.reconfigurations.blocking->waited);
  EXPECT_GT(few.makespan, all.makespan);
}

// Two planes of two meshes; switches that queue commands or go dark as a whole; ports that fail and come back.
TEST(MeshOfARail, WorksWithPlanesQueuesDarknessAndFaults) {
  for (const char* controller : {"max_weight", "mixnet", "rotor"}) {
    for (const int variant : {0, 1, 2, 3, 4}) {
      Job job = exchange(controller, 4, 6);
      RailSpec& rail = job.scenario.cluster.rail;
      if (variant == 0) job.scenario.cluster.nic.ports = rail.planes = 2;
      if (variant == 1) rail.optical.darkness = DarkScope::kSwitch;
      if (variant == 2) rail.optical.command_gap = us(7);
      if (variant == 3) rail.optical.batching = us(5);
      if (variant == 4) {
        rail.faults = {{.kind = PortFault::Kind::kFailed, .server = 2, .at = Time{us(30)}, .lasts = us(200)},
                       {.kind = PortFault::Kind::kStuck, .server = 4, .at = Time{us(50)}, .lasts = us(90)}};
      }
      if (std::string(controller) == "rotor" && (variant == 1 || variant == 4)) continue;  // has no time in its slots
      const RunResult result = job.run();
      EXPECT_GT(result.makespan, Duration{}) << controller << ", variant " << variant;
      EXPECT_TRUE(books_balance(result)) << controller << ", variant " << variant;
    }
  }
}

// Each of two rings of four has room on 2x3 hexagons, both together have not: they take turns, each time over the idle
// circuits of the other. A ring all-reduces 1 MB in 2 x 3/4 MB / 50 GB/s = 30 us.
TEST(MeshOfARail, ARingMakesRoomForTheNextWhenItIsDone) {
  const auto rings = [](std::optional<PipMeshSpec> mesh) {
    Job job(8);
    job.optical(us(20));
    job.scenario.cluster.rail.optical.pip = mesh;
    const std::vector<std::size_t> even{0, 4, 2, 6};
    const std::vector<std::size_t> odd{1, 5, 3, 7};
    const CommunicatorId a = job.group(even);
    const CommunicatorId b = job.group(odd);
    for (int repeat = 0; repeat < 3; ++repeat) {
      job.collective(a, even, CollectiveOp::kAllReduce, 1'000'000);
      job.collective(b, odd, CollectiveOp::kAllReduce, 1'000'000);
    }
    return job.run();
  };
  EXPECT_EQ(rings(std::nullopt).makespan, us(20 + 3 * 30));
  const RunResult narrow = rings(PipMeshSpec{2, 3});
  EXPECT_EQ(narrow.makespan, us(6 * (20 + 30)));
  EXPECT_EQ(narrow.reconfigurations.count, 6u);
  EXPECT_GT(narrow.reconfigurations.blocking->waited, 0u);
  EXPECT_GT(narrow.reconfigurations.blocking->displaced, 0u);
  EXPECT_TRUE(books_balance(narrow));
}

// A warning says beforehand which circuits no setting of the mesh can make, and a job that needs one ends unfinished.
TEST(MeshWarnings, WithoutAWayBetweenTwoPortsSaysSo) {
  const Job apart = exchange("max_weight", 3);
  const std::vector<std::string> warnings = apart.scenario.warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings.front(), HasSubstr("has no way for "));
  EXPECT_THAT(warnings.front(), HasSubstr("such as from server 1 to server 0"));
  EXPECT_THAT(why_stuck(apart), HasSubstr("from rank 1 to rank 0: the mesh of 3x3 hexagons of rail 0 has no way for it"));
  for (const std::uint32_t hexagons : {0u, 2u, 4u, 8u}) {
    EXPECT_TRUE(exchange("max_weight", hexagons).scenario.warnings().empty()) << hexagons;
  }
}

// Delay and loss of a switch are those of the size that it has.
TEST(Warnings, TellOfSwitchesThatAreLargerThanAnyThatIsKnown) {
  const auto warned = [](std::uint32_t ports, const char* preset) {
    Job job = exchange("max_weight", 0);
    job.scenario.cluster.rail.optical.name = preset;
    job.scenario.cluster.rail.optical.ports = ports;
    const std::vector<std::string> warnings = job.scenario.warnings();
    return warnings.empty() ? std::string() : warnings.front();
  };
  EXPECT_EQ(warned(1008, "custom"), "");
  EXPECT_THAT(warned(1009, "custom"), HasSubstr("has 1009 ports, more than any that is known has (1008)"));
  EXPECT_EQ(warned(192, "polatis_6000"), "");
  EXPECT_THAT(warned(2048, "polatis_6000"), HasSubstr("has 2048 ports, and a polatis_6000 has 192"));
  Job large(505);
  large.optical(us(20), "max_weight");
  ASSERT_FALSE(large.scenario.warnings().empty()) << "two ports for each of 505 NIC ports";
  EXPECT_THAT(large.scenario.warnings().front(), HasSubstr("a rail needs an optical switch of 1010 ports"));
}

// The first step has the fault, and the step by which runs are compared has nothing of it.
TEST(Warnings, TellOfFaultsThatTheLaterStepsDoNotHave) {
  const auto warnings = [](Duration at, std::uint32_t iterations) {
    Job job = exchange("max_weight", 0);
    job.scenario.run.iterations = iterations;
    PortFault fault;
    fault.server = 0;
    fault.at = Time{at};
    fault.lasts = us(5);
    job.scenario.cluster.rail.faults.push_back(fault);
    return job.run().warnings;
  };
  ASSERT_EQ(warnings(us(30), 2).size(), 1u);
  EXPECT_THAT(warnings(us(30), 2).front(), HasSubstr("all failures are over within the first step"));
  EXPECT_TRUE(warnings(us(30), 1).empty());
  EXPECT_TRUE(warnings(us(100'000), 2).empty());
}

}  // namespace
}  // namespace photonrail::test
