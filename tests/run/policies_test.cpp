// The policies of the library in runs of whole jobs, against times that follow from what they claim.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> optical_policies(bool prompt_only) {
  std::vector<std::string> names;
  const ControllerRegistry registry = ControllerRegistry::builtin();
  for (const ControllerFactory& factory : registry.all()) {
    if (factory.name == "electrical" || factory.name == "static" || factory.bound) continue;
    if (factory.work_conserving || !prompt_only) names.push_back(factory.name);
  }
  return names;
}

/// k rounds of an all-reduce in {0,1},{2,3}, then in {0,2},{1,3}, one port a rank.
Job alternating(int rounds, std::int64_t bytes) {
  Job job(4);
  const auto a = job.group({0, 1});
  const auto b = job.group({2, 3});
  const auto c = job.group({0, 2});
  const auto d = job.group({1, 3});
  for (int k = 0; k < rounds; ++k) {
    job.collective(a, {0, 1}, CollectiveOp::kAllReduce, bytes).collective(b, {2, 3}, CollectiveOp::kAllReduce, bytes);
    job.collective(c, {0, 2}, CollectiveOp::kAllReduce, bytes).collective(d, {1, 3}, CollectiveOp::kAllReduce, bytes);
  }
  return job;
}

class Prompt : public ::testing::TestWithParam<std::string> {};

// 2k all-reduces and one delay for each change of groups, the first circuits being a change too.
TEST_P(Prompt, AlternatingGroupsPayOneDelayAChange) {
  for (const int k : {1, 2, 4, 8}) {
    for (const double delay_ms : {0.0, 0.001, 1.0, 10.0}) {
      Job job = alternating(k, 1 << 30);
      job.optical(ms(delay_ms), GetParam());
      const RunResult result = job.run();
      EXPECT_EQ(result.makespan, 2 * k * (kGiB + ms(delay_ms))) << "k " << k << ", " << delay_ms << " ms";
      // Without a delay the circuits are there before an operation waits.
      EXPECT_EQ(result.reconfigurations.critical_path, delay_ms > 0 ? 2u * static_cast<unsigned>(k) : 0u);
      EXPECT_EQ(result.ranks[0].reconfiguration_wait, 2 * k * ms(delay_ms));
      EXPECT_TRUE(books_balance(result));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, Prompt, ::testing::ValuesIn(optical_policies(true)),
                         [](const auto& name) { return name.param; });

// Those that cut what waits into rounds claim nothing; here all that waits is one matching.
TEST(Policies, ARoundThatIsAllThereIsCostsNoMore) {
  for (const char* name : {"bvn", "solstice"}) {
    Job job = alternating(4, 1 << 30);
    job.optical(ms(10), name);
    EXPECT_EQ(job.run().makespan, 8 * (kGiB + ms(10))) << name;
  }
}

class Optical : public ::testing::TestWithParam<std::string> {};

/// Groups that overlap, sends between, and compute: no set of circuits fits all of it.
Job mixed(std::uint32_t ports) {
  Job job(6);
  job.scenario.cluster.nic.ports = ports;
  const auto left = job.group({0, 1, 2});
  const auto right = job.group({3, 4, 5});
  const auto across = job.group({0, 2, 3, 5});
  for (int i = 0; i < 3; ++i) {
    job.compute(1, ms(0.7)).compute(4, ms(1.3));
    job.collective(left, {0, 1, 2}, CollectiveOp::kAllReduce, 9 * kMs);
    job.collective(right, {3, 4, 5}, CollectiveOp::kAllGather, kMs);
    job.send(1, 4, 5 * kMs).receive(1, 4, 5 * kMs);
    job.collective(across, {0, 2, 3, 5}, CollectiveOp::kReduceScatter, 8 * kMs);
    job.send(5, 0, kMs, 1).receive(5, 0, kMs, 1);
  }
  return job;
}

TEST_P(Optical, FinishesAMixedJobNoEarlierThanElectricalRails) {
  for (const std::uint32_t ports : {1u, 2u, 3u}) {
    Job electrical = mixed(ports);
    const Duration bound = electrical.run().makespan;
    for (const double delay_ms : {0.0, 0.1, 5.0}) {
      Job job = mixed(ports);
      job.optical(ms(delay_ms), GetParam());
      const RunResult result = job.run();
      EXPECT_GE(result.makespan, bound) << ports << " ports, " << delay_ms << " ms";
      EXPECT_TRUE(books_balance(result));
      EXPECT_EQ(job.run().makespan, result.makespan) << "the same scenario, the same result";
    }
  }
}

// Two stages, one port: forwards and backwards each have their circuit, and keep it.
TEST_P(Optical, APipelineAloneNeverDarkensACircuit) {
  struct Dark : Observer {
    void circuit(const CircuitEvent& event) override { count += event.state == CircuitState::kDark ? 1u : 0u; }
    std::size_t count = 0;
  };
  for (const std::size_t stages : {2, 4}) {
    Job job(stages);
    job.optical(ms(10), GetParam());
    job.scenario.cluster.nic.ports = stages == 2 ? 1 : 2;  // a stage in the middle has a neighbour on either side
    for (int batch = 0; batch < 4; ++batch) {
      for (std::size_t s = 0; s + 1 < stages; ++s) job.compute(s, ms(1)).send(s, s + 1, kMs).receive(s, s + 1, kMs);
      for (std::size_t s = stages; s-- > 1;) job.compute(s, ms(2)).send(s, s - 1, kMs).receive(s, s - 1, kMs);
    }
    Dark dark;
    Observer* const observers[] = {&dark};
    const RunResult result = job.run(observers);
    EXPECT_TRUE(books_balance(result));
    // A rotor turns whatever is asked; Opus gives a pair all ports that it can have, and takes one back; its published
    // simulator re-points whole stages. Others share out the ports that are dark, and each pair then gives one back, once.
    const bool whole_stages = GetParam() == "opus" || GetParam() == "opus_artifact";
    const bool spares = GetParam() != "rotor" && (!whole_stages || stages == 2);
    if (!spares) continue;
    EXPECT_LE(dark.count, stages == 2 ? 0 : stages - 1) << stages << " stages";
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, Optical, ::testing::ValuesIn(optical_policies(false)),
                         [](const auto& name) { return name.param; });

// ---- demands for more circuits than there are ports

/// Every rank has 1 ms for each other one, all at once.
Job direct_all_to_all(std::size_t ranks) {
  Job job(ranks);
  std::vector<std::size_t> all;
  for (std::size_t r = 0; r < ranks; ++r) all.push_back(r);
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
  job.collective(job.group(all), all, CollectiveOp::kAllToAll, static_cast<std::int64_t>(ranks) * kMs);
  return job;
}

// 12 pairs on 4 ports a direction: three matchings of 1 ms, each lit once.
TEST(PairByPair, MatchingsServeAnAllToAllInTheFewestRounds) {
  for (const char* name : {"max_weight", "bvn", "solstice"}) {
    for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
      Job job = direct_all_to_all(4);
      job.optical(ms(2), name);
      job.scenario.run.fidelity = fidelity;
      const RunResult result = job.run();
      EXPECT_EQ(result.makespan, 3 * ms(1 + 2)) << name;
      EXPECT_EQ(result.ranks[0].reconfiguration_wait, 3 * ms(2)) << name;
      EXPECT_TRUE(books_balance(result));
    }
  }
}

// Slots of 2 ms, lit in the second half of each. A pair of 0.5 ms is through in its first slot; the last of three begins at
// 4 ms. One of 1.5 ms needs a second one, and the third slot comes again at 10 ms.
TEST(PairByPair, ARotorServesPartsOfADemandInTurn) {
  for (const auto& [share, end] : {std::pair{0.5, 5.5}, std::pair{1.5, 11.5}}) {
    Job job(4);
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
    job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllToAll,
                   static_cast<std::int64_t>(4 * share * kMs));
    job.optical(ms(1), "rotor");
    job.scenario.controller.parameters.set("slot", ms(2));
    const RunResult result = job.run();
    EXPECT_EQ(result.makespan, ms(end));
    EXPECT_TRUE(books_balance(result));
  }
}

// 0 -> 2 in one slot, by way of 1: with two ports both shifts are lit at once, 1 and 2 places further; a send of 3 places
// goes over both.
TEST(PairByPair, ARotorForwardsOverTwoCircuits) {
  const auto run = [](const char* paths) {
    Job job(4);
    job.optical(ms(1), "rotor");
    job.scenario.cluster.nic.ports = 2;
    job.scenario.controller.parameters.set("slot", ms(10)).set("paths", std::string(paths));
    job.send(0, 3, kMs).receive(0, 3, kMs);
    return job.run().makespan;
  };
  // Directly: port 0 goes 1, 2, 3 places, port 1 goes 2, 3, 1: three places come in the second slot, lit at 11.
  EXPECT_EQ(run("direct"), ms(12));
  EXPECT_EQ(run("two_hop"), ms(2));
}

// A draw longer than the slot leaves its circuits dark for a turn, and no more.
TEST(PairByPair, ARotorSurvivesASwitchThatIsSlowNowAndThen) {
  Job job = direct_all_to_all(4);
  job.optical(ms(1), "rotor");
  job.scenario.cluster.rail.optical.reconfiguration = {DelayDistribution::Kind::kUniform, ms(0.5), ms(1.5), 0.0};
  job.scenario.controller.parameters.set("slot", ms(1.2));
  const RunResult result = job.run();
  EXPECT_TRUE(books_balance(result));
  EXPECT_GT(result.makespan, ms(3 * 1.2));
}

TEST(PairByPair, WithoutItTheJobCannotFinishAndSaysWhy) {
  Job job = direct_all_to_all(4);
  job.optical(ms(1), "lru");
  try {
    (void)job.run();
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 circuits at once from rank 0, which has 1 port"));
  }
}

// A ring whose links are not lit together: rank 1 waits for what rank 0 has sent before it passes it on.
TEST(PairByPair, ARingGoesStepByStepEvenAtStreamFidelity) {
  Duration makespan[2];
  for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
    Job job(5);
    job.optical(ms(1), "rotor");
    job.scenario.run.fidelity = fidelity;
    job.scenario.controller.parameters.set("slot", ms(3));
    job.collective(job.group({0, 1, 3}), {0, 1, 3}, CollectiveOp::kAllReduce, 3 * kMs);
    makespan[fidelity == Fidelity::kStream ? 1 : 0] = job.run().makespan;
  }
  EXPECT_EQ(makespan[0], makespan[1]);
}

// ---- one topology for the job

// Rank 0 sends 8 ms to 1 and 2 ms to 2; roots 2 : 1, so that of 3 ports 2 and 1 go to them: 4 + 2 ms, and 1 to light them.
TEST(OneShot, AStaticSplitIsSetOnce) {
  Job job(3);
  job.optical(ms(1), "static_split");
  job.scenario.cluster.nic.ports = 3;
  job.collective(job.group({0, 1}, Dimension::kDp), {0, 1}, CollectiveOp::kAllGather, 8 * kMs);
  job.send(0, 2, 4 * kMs).receive(0, 2, 4 * kMs);
  const RunResult result = job.run();
  // All-gather among two: each sends its 8 ms; in all 8 + 8 against 4, roots 4 : 2.
  EXPECT_EQ(result.makespan, ms(1 + 4 + 4));
  EXPECT_EQ(result.reconfigurations.count, 1u);
}

// One port: a ring 0 -> 1 -> 2 -> 0 along what is heavy, and 1 -> 0 goes over two circuits of it.
TEST(OneShot, TopoOptForwardsOverHosts) {
  Job job(3);
  job.optical(ms(1), "topoopt");
  job.send(0, 1, 8 * kMs).receive(0, 1, 8 * kMs).send(1, 2, 4 * kMs).receive(1, 2, 4 * kMs);
  job.send(1, 0, kMs, 3).receive(1, 0, kMs, 3);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(1 + 8 + 4 + 1));
  EXPECT_EQ(result.reconfigurations.count, 1u);
}

// ---- inside one collective

// Recursive doubling among 4 exchanges with partners 1 and 2 apart. Dear switching: the second round goes over the ...
TEST(Harvest, SwitchesInsideACollectiveWhenThatPays) {
  const auto run = [](double delay_ms) {
    Job job(4);
    job.optical(ms(delay_ms), "harvest");
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "pairwise";
    job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllToAll, 4 * kMs);
    return job.run();
  };
  // Rounds of 1 ms go 1, 2, 3 places further. Over the circuits of the first, the second round has 2 pairs on each circuit
  // and takes 2 ms, the third 3 ms. A delay of 0.1 ms is paid three times: 3.3 ms. One of 10 ms once: 10 + 1 + 2 + 3.
  EXPECT_EQ(run(0.1).makespan, ms(3.3));
  EXPECT_EQ(run(10).makespan, ms(16));
  EXPECT_EQ(run(10).reconfigurations.count, 1u);
}

}  // namespace
}  // namespace photonrail::test
