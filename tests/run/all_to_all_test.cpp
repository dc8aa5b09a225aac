// All-to-alls of groups over several servers and rails: which circuits they ask for, and when.
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace photonrail {
namespace {

using test::Job;
using test::ms;
using test::us;

/// An all-to-all of the members, 100 kB a pair: 2 us over a rail, 1 us inside a server.
struct Exchange {
  std::uint32_t servers = 2;
  std::uint32_t gpus = 8;
  std::string algorithm = "pairwise";
  std::vector<std::size_t> members = {};  ///< empty: all

  [[nodiscard]] Job job() const {
    Job job(std::size_t{servers} * gpus, gpus);
    std::vector<std::size_t> of = members;
    if (of.empty()) {
      of.resize(std::size_t{servers} * gpus);
      std::iota(of.begin(), of.end(), 0);
    }
    job.scenario.cluster.scale_up.per_gpu = Bandwidth::from_gb_per_s(100);
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = algorithm;
    job.collective(job.group(of, Dimension::kEp), of, CollectiveOp::kAllToAll,
                   100'000 * static_cast<std::int64_t>(of.size()));
    return job;
  }
  [[nodiscard]] RunResult on_electrical_rails() const { return job().run(); }
  [[nodiscard]] RunResult on_circuits(const std::string& controller = "opus", std::uint32_t ports = 1) const {
    Job with = job();
    with.optical(ms(10), controller);
    NicSpec& nic = with.scenario.cluster.nic;
    nic.per_port = {nic.per_port.bytes_per_second / ports};
    nic.ports = ports;
    const RunResult result = with.run();
    EXPECT_TRUE(test::books_balance(result));
    return result;
  }
};

// 8 steps with the other server over all rails, 2 us each, and 7 inside the server, 1 us each. The circuits of all rails
// are asked for at once: one delay.
TEST(AllToAll, BetweenTwoServersWaitsForOneDelay) {
  const Exchange exchange{};
  EXPECT_EQ(exchange.on_electrical_rails().makespan, 8 * us(2) + 7 * us(1));
  const RunResult result = exchange.on_circuits();
  EXPECT_EQ(result.makespan, ms(10) + 8 * us(2) + 7 * us(1));
  EXPECT_EQ(result.reconfigurations.critical_path, 1u);
}

// One port meets one server at a time: a delay for each of the other servers, whatever the number of rails.
TEST(AllToAll, WaitsForADelayForEachShiftOfTheServers) {
  for (const std::uint32_t servers : {3u, 4u}) {
    for (const std::uint32_t gpus : {2u, 4u}) {
      const Exchange exchange{.servers = servers, .gpus = gpus};
      const Duration electrical = exchange.on_electrical_rails().makespan;
      EXPECT_EQ(exchange.on_circuits().makespan, electrical + ms(10) * (servers - 1)) << servers << " x " << gpus;
    }
  }
}

// The job has half of the second server: messages of the others still go over all rails of the first.
TEST(AllToAll, OfServersInPartAsksForAllRailsAtOnce) {
  const Exchange exchange{.members = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  const Duration makespan = exchange.on_circuits().makespan;
  EXPECT_GT(makespan, ms(10));
  EXPECT_LT(makespan, ms(10.1));
}

// What an algorithm calls a round is no reason to ask for one rail after another either.
TEST(AllToAll, OfAnyAlgorithmJoinsTwoServersOnce) {
  for (const std::string algorithm : {"bruck", "one_factorisation", "hierarchical", "direct", "birkhoff"}) {
    const Duration makespan = Exchange{.gpus = 4, .algorithm = algorithm}.on_circuits().makespan;
    EXPECT_GT(makespan, ms(10)) << algorithm;
    // one_factorisation has rounds of the servers' own between those that cross.
    EXPECT_LT(makespan, algorithm == "one_factorisation" ? ms(20.1) : ms(10.1)) << algorithm;
  }
}

TEST(AllToAll, WaitsForOneDelayUnderEveryPolicyThatServesRounds) {
  for (const std::string controller : {"opus", "lru", "harvest"}) {
    for (const std::uint32_t ports : {1u, 2u}) {
      const Duration makespan = Exchange{.gpus = 4}.on_circuits(controller, ports).makespan;
      EXPECT_GE(makespan, ms(10)) << controller << " " << ports;
      EXPECT_LT(makespan, ms(10.1)) << controller << " " << ports;
    }
  }
}

}  // namespace
}  // namespace photonrail
