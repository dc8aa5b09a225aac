// Policies on jobs that have some of a cluster's GPUs, on servers with other names, and on NICs with more ports.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace photonrail::test {
namespace {

std::vector<std::string> optical_policies() {
  std::vector<std::string> names;
  const ControllerRegistry registry = ControllerRegistry::builtin();
  for (const ControllerFactory& factory : registry.all()) {
    if (factory.name != "electrical" && factory.name != "static") names.push_back(factory.name);
  }
  return names;
}

/// Jobs on one optical cluster.
Scenario cluster(std::uint32_t servers, std::uint32_t gpus_per_server, const std::string& policy) {
  Scenario all;
  all.cluster.servers = servers;
  all.cluster.gpus_per_server = gpus_per_server;
  all.cluster.rail.kind = RailKind::kOptical;
  all.cluster.rail.optical.reconfiguration = DelayDistribution::constant(us(100));
  all.controller.name = policy;
  all.run.fidelity = Fidelity::kExact;
  return all;
}

void add(Scenario& all, Job& job, const std::vector<std::size_t>& gpus) {
  job.build();
  JobSpec& made = all.jobs.emplace_back(job.scenario);
  made.name = "job " + std::to_string(all.jobs.size());
  made.controller = all.controller;
  made.gpu_of_rank.clear();
  for (const std::size_t gpu : gpus) made.gpu_of_rank.push_back(GpuId{gpu});
}

Job ring(std::size_t ranks) {
  Job job(ranks);
  std::vector<std::size_t> members;
  for (std::size_t r = 0; r < ranks; ++r) members.push_back(r);
  job.collective(job.group(members), members, CollectiveOp::kAllReduce, kMs);
  return job;
}

class Places : public ::testing::TestWithParam<std::string> {};

// The first job has no port on rail 1, the second none on rail 0.
TEST_P(Places, AJobLeavesRailsAloneOnWhichItHasNoGpu) {
  Scenario all = cluster(2, 2, GetParam());
  Job first = ring(2);
  Job second = ring(2);
  add(all, first, {0, 2});
  add(all, second, {1, 3});
  const RunResult result = simulate(all);
  for (const RunResult& job : result.jobs) EXPECT_EQ(job.makespan, job.alone);
  EXPECT_TRUE(books_balance(result));
}

// Ranks on GPUs 0 to 4 of two servers of three: those of rail 2 are one, and an idle GPU that passes on messages.
TEST_P(Places, AnIdleGpuOfItsServersPassesOnMessages) {
  Scenario all = cluster(3, 3, GetParam());
  Job first(5);
  first.send(3, 2, kMs).receive(3, 2, kMs).send(0, 3, kMs).receive(0, 3, kMs);
  Job second(1);
  second.compute(0, us(1));
  add(all, first, {0, 1, 2, 3, 4});
  add(all, second, {6});
  const RunResult result = simulate(all);
  EXPECT_EQ(result.jobs[0].makespan, result.jobs[0].alone);
  EXPECT_TRUE(books_balance(result));
}

INSTANTIATE_TEST_SUITE_P(Builtin, Places, ::testing::ValuesIn(optical_policies()),
                         [](const auto& name) { return name.param; });

/// Collectives that overlap, and sends of equal sizes: ties wherever one looks.
Job ties(std::uint32_t ports) {
  Job job(6);
  job.scenario.cluster.nic.ports = ports;
  const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5};
  const auto everybody = job.group(all);
  const auto some = job.group({1, 2, 5});
  job.collective(everybody, all, CollectiveOp::kAllToAll, 6 * kMs);
  job.collective(some, {1, 2, 5}, CollectiveOp::kAllReduce, 3 * kMs);
  for (const auto& [from, to] : std::vector<std::pair<std::size_t, std::size_t>>{{0, 4}, {1, 5}, {2, 0}, {3, 1}, {4, 2}}) {
    job.send(from, to, kMs, 7).receive(from, to, kMs, 7);
  }
  job.collective(everybody, all, CollectiveOp::kReduceScatter, 6 * kMs);
  return job;
}

class Names : public ::testing::TestWithParam<std::string> {};

TEST_P(Names, OfServersDoNotMatter) {
  std::mt19937_64 random(11);
  for (const std::uint32_t ports : {1u, 2u}) {
    for (const double delay_ms : {0.01, 1.0, 10.0}) {
      Job job = ties(ports);
      job.optical(ms(delay_ms), GetParam());
      const Duration plain = job.run().makespan;
      for (int renaming = 0; renaming < 4; ++renaming) {
        std::shuffle(job.scenario.gpu_of_rank.begin(), job.scenario.gpu_of_rank.end(), random);
        EXPECT_EQ(job.run().makespan, plain) << ports << " ports, " << delay_ms << " ms, renaming " << renaming;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, Names,
                         ::testing::ValuesIn(std::vector<std::string>{"rotor", "max_weight", "mixnet", "bvn", "solstice",
                                                                      "harvest", "lru", "topoopt", "static_split"}),
                         [](const auto& name) { return name.param; });

class MorePorts : public ::testing::TestWithParam<std::string> {};

// Ports of the same rate: twice as many of them are never slower on these jobs, and use their bandwidth: all that each rank
// sends goes to one other.
TEST_P(MorePorts, AreNoSlower) {
  for (const double delay_ms : {0.0, 0.1, 2.0}) {
    Duration before{std::numeric_limits<std::int64_t>::max()};
    for (const std::uint32_t ports : {1u, 2u, 4u}) {
      Job job = ring(5);
      job.scenario.cluster.nic.ports = ports;
      job.optical(ms(delay_ms), GetParam());
      const Duration now = job.run().makespan;
      // A ring of five: eight steps of 0.2 ms over one port, and one delay.
      if (GetParam() != "rotor") {
        EXPECT_LE(now, ms(delay_ms + 1.6 / ports) + us(1)) << ports << " ports, " << delay_ms << " ms";
      }
      EXPECT_LE(now, before) << ports << " ports, " << delay_ms << " ms";
      before = now;
    }
  }
}

TEST_P(MorePorts, AreNoSlowerForExchangesInRounds) {
  for (const char* algorithm : {"pairwise", "direct"}) {
    for (const double delay_ms : {0.1, 2.0}) {
      Duration before{std::numeric_limits<std::int64_t>::max()};
      for (const std::uint32_t ports : {1u, 2u, 4u}) {
        Job job(5);
        job.scenario.cluster.nic.ports = ports;
        job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = algorithm;
        job.collective(job.group({0, 1, 2, 3, 4}), {0, 1, 2, 3, 4}, CollectiveOp::kAllToAll, 5 * kMs);
        job.optical(ms(delay_ms), GetParam());
        try {
          const Duration now = job.run().makespan;
          EXPECT_LE(now, before) << algorithm << ", " << ports << " ports, " << delay_ms << " ms";
          before = now;
        } catch (const DeadlockError&) {  // served whole, with fewer ports than partners
          EXPECT_TRUE(ports < 4 && std::string(algorithm) == "direct") << algorithm << ", " << ports << " ports";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, MorePorts,
                         ::testing::ValuesIn(std::vector<std::string>{"rotor", "max_weight", "mixnet", "bvn", "solstice",
                                                                      "harvest", "lru"}),
                         [](const auto& name) { return name.param; });

// Where every pair has its turn, no send takes a longer way over the circuits of others, unless its own is ruled out.
TEST(PairsInTurn, AreForwardedAroundFaultyPortsOnly) {
  for (const char* name : {"max_weight", "mixnet", "bvn", "solstice"}) {
    for (const std::uint32_t ports : {1u, 2u}) {
      Job job = ties(ports);
      job.optical(ms(0.1), name);
      const Duration direct = job.run().makespan;
      job.scenario.cluster.rail.forwarding = true;
      EXPECT_EQ(job.run().makespan, direct) << name << ", " << ports << " ports";
    }
  }
}

// ---- a rotor on switches of every kind

/// A ring, which needs one of a rotor's rounds only.
Job on_a_rotor(std::size_t ranks, Duration delay) {
  Job job = ring(ranks);
  job.optical(delay, "rotor");
  return job;
}

TEST(RotorRuns, OnASwitchThatCollectsCommands) {
  Job job = on_a_rotor(3, us(1));
  job.scenario.cluster.rail.optical.batching = us(50);
  // A slot of 51 us / (1 - 0.9) = 510 us is lit for 459: four steps of 333.3 us over circuits that come every 1020 us.
  const RunResult result = job.run();
  EXPECT_TRUE(books_balance(result));
  EXPECT_LT(result.makespan, us(4 * 1020));
}

TEST(RotorRuns, OnASwitchWithFewCommandsASecond) {
  Job job = on_a_rotor(3, us(1));
  job.scenario.cluster.rail.optical.command_gap = us(200);
  const RunResult result = job.run();
  EXPECT_TRUE(books_balance(result));
}

TEST(RotorRuns, SlotsThatTheSwitchCannotKeepAreRefused) {
  Job job = on_a_rotor(3, us(1));
  job.scenario.cluster.rail.optical.batching = us(50);
  job.scenario.controller.parameters.set("slot", us(40));
  try {
    (void)job.run();
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("a slot takes 40.000000 us, re-pointing 1.000000 us, collecting commands"));
  }
}

TEST(RotorRuns, StandsStillOnADarkSwitchThatNobodyUses) {
  for (const double delay_us : {0.0, 10.0}) {
    Job job = on_a_rotor(2, us(delay_us));
    job.scenario.cluster.servers = 3;
    job.scenario.cluster.rail.optical.darkness = DarkScope::kSwitch;
    const RunResult result = job.run();
    EXPECT_TRUE(books_balance(result));
    EXPECT_LT(result.reconfigurations.count, 1000u);
  }
}

// Delays of 1 us to 5 ms and slots of 1 ms: most slots stay dark, and whole turns of two.
TEST(RotorRuns, AlthoughDelaysAreLongerThanItsSlots) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Job job = on_a_rotor(3, ms(1));
    job.scenario.cluster.rail.optical.reconfiguration = {DelayDistribution::Kind::kUniform, us(1), ms(5), 0.0};
    job.scenario.controller.parameters.set("slot", ms(2.6));
    job.scenario.run.seed = seed;
    EXPECT_TRUE(books_balance(job.run())) << "seed " << seed;
  }
}

// Of delays whose logarithms deviate by 2 the mean is 44 us: the whole switch is dark in most slots.
TEST(RotorRuns, SaysThatItStandsStill) {
  Job job = on_a_rotor(5, us(6));
  job.scenario.cluster.rail.optical.darkness = DarkScope::kSwitch;
  job.scenario.cluster.rail.optical.reconfiguration = {DelayDistribution::Kind::kLogNormal, us(6), {}, 2.0};
  job.scenario.controller.parameters.set("slot", us(10));
  try {
    (void)job.run();
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the timetable of rail 0 stands still, since no bytes moved over its "
                                                   "circuits for 64 turns"));
  }
}

}  // namespace
}  // namespace photonrail::test
