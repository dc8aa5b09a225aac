// StragglAR in time: it starts without the straggler, and costs what its published cost model says.
#include "photonrail/error.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "run/drawing.hpp"
#include "support/shared_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <fstream>
#include <functional>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kAllReduce = static_cast<std::size_t>(CollectiveOp::kAllReduce);

/// One all-reduce among `n` ranks with a GPU a server; rank `late` comes `delay` after the others.
struct Case {
  Member n = 8;
  std::int64_t bytes = 0;
  Duration delay{};
  std::size_t late = 0;
  double bytes_per_second = 50e9;
  Duration latency = us(5);
  std::string algorithm = "stragglar";
  std::optional<Duration> reconfiguration{};  ///< one-port optical rail
};

Job job_of(const Case& c) {
  Job job(c.n);
  job.scenario.cluster.nic.per_port = Bandwidth{c.bytes_per_second};
  job.scenario.cluster.nic.latency = c.latency;
  job.scenario.cluster.rail.switch_radix = 2048;
  if (c.reconfiguration) job.optical(*c.reconfiguration);
  job.scenario.collectives.algorithm[kAllReduce] = c.algorithm;
  std::vector<std::size_t> all(c.n);
  for (std::size_t r = 0; r < c.n; ++r) all[r] = r;
  if (c.delay > Duration{}) job.compute(c.late, c.delay);
  job.collective(job.group(all), all, CollectiveOp::kAllReduce, c.bytes);
  return job;
}

Duration time_of(const Case& c) {
  const RunResult result = job_of(c).run();
  EXPECT_TRUE(books_balance(result));
  return result.makespan;
}

/// n-2+log2(n): the rounds of a power of two.
Member rounds(Member n) { return n - 2 + static_cast<Member>(std::countr_zero(n)); }

/// At 50 GB/s a byte takes 20 ps.
Duration step(const Case& c) { return c.latency + Duration{20 * c.bytes / (c.n - 1)}; }

// The reduce-scatter takes n-2 steps of latency + S / ((n-1) B); the rounds begin when it is over and the straggler there:
// T = max(D, (n-2) step) + R step.
TEST(StragglarTime, IsTheLaterOfDelayAndReduceScatterAndThenTheRounds) {
  for (const Member n : {2u, 4u, 8u, 16u, 32u}) {
    Case c{.n = n, .bytes = (n - 1) * 100'000};
    const Duration reduce_scatter = step(c) * (n - 2);
    for (int quarter = 0; quarter <= 8; ++quarter) {
      c.delay = n == 2 ? us(10) * quarter : reduce_scatter * quarter / 4;
      c.late = (n - 1) * static_cast<std::size_t>(quarter) / 8;  // any member
      EXPECT_EQ(time_of(c), std::max(c.delay, reduce_scatter) + step(c) * rounds(n)) << n << ", " << quarter << "/4";
    }
  }
}

// Rank 2 is taken to be late, but rank 1 is, by D: nothing starts before, so that T = D + (n-2) step + R step.
TEST(StragglarTime, AWrongGuessCostsTheReduceScatter) {
  const Case c{.bytes = 700'000, .delay = ms(1), .late = 1};
  Job job = job_of(c);
  job.scenario.collectives.straggler = StragglerChoice::kKnown;
  job.scenario.collectives.straggler_rank = RankId{2u};
  EXPECT_EQ(job.run().makespan, ms(1) + step(c) * (6 + 9));
  Job right = job_of(c);
  right.scenario.collectives.straggler = StragglerChoice::kKnown;
  right.scenario.collectives.straggler_rank = RankId{1u};
  EXPECT_EQ(right.run().makespan, ms(1) + step(c) * 9);
}

// A persistent straggler is predicted from the second iteration on; the first finds it by the order of arrival. Nothing
// else differs, so that both iterations hide the reduce-scatter.
TEST(StragglarTime, APersistentStragglerIsPredicted) {
  const Case c{.bytes = 700'000, .delay = ms(1), .late = 5};
  Job job = job_of(c);
  job.scenario.run.iterations = 3;
  job.scenario.collectives.straggler = StragglerChoice::kPredicted;
  // Each iteration begins when the rank's own one before has ended; rank 5 computes 1 ms and then meets all others, which
  // ended up to the last round before and reduce-scatter meanwhile.
  const RunResult result = job.run();
  EXPECT_TRUE(books_balance(result));
  EXPECT_EQ(result.makespan, 3 * (ms(1) + step(c) * 9));
}

// Rank 0 was late before and is taken to be late again; now it is rank 5: the prediction costs one reduce-scatter.
TEST(StragglarTime, APredictionThatFailsIsAWrongGuess) {
  Case c{.bytes = 700'000};
  Job job(8);
  job.scenario.cluster.nic.latency = c.latency;
  job.scenario.collectives.algorithm[kAllReduce] = "stragglar";
  job.scenario.collectives.straggler = StragglerChoice::kPredicted;
  const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7};
  const CommunicatorId group = job.group(all);
  job.compute(0, ms(1)).collective(group, all, CollectiveOp::kAllReduce, c.bytes);
  job.compute(5, ms(1)).collective(group, all, CollectiveOp::kAllReduce, c.bytes);
  const Duration first = ms(1) + step(c) * 9;
  // Rank 5 may end the first all-reduce before its last round, and begins its 1 ms then.
  const Duration together = job.run().makespan;
  EXPECT_LE(together, first + ms(1) + step(c) * (6 + 9));
  EXPECT_GE(together, first + ms(1) + step(c) * (6 + 9 - 2));
}

TEST(StragglarTime, TheOthersWaitForAPeerOnceTheirReduceScatterIsDone) {
  for (const bool optical : {false, true}) {
    Case c{.n = 4, .bytes = 300'000, .delay = ms(1), .late = 3};
    if (optical) c.reconfiguration = us(7);
    const RunResult result = job_of(c).run();
    EXPECT_TRUE(books_balance(result));
    // n = 4: 2 steps of reduce-scatter, 4 rounds. On the optical rail each of the 5 rounds waits 7 us for its circuits.
    const Duration wait = optical ? us(7) : us(0);
    EXPECT_EQ(result.makespan, ms(1) + (step(c) + wait) * 4);
    const RankTime& punctual = result.ranks[1];  // is in all rounds but the first: it waits for 0 and 3 there
    EXPECT_EQ(punctual.compute, Duration{});
    EXPECT_EQ(punctual.reconfiguration_wait, wait * 4);  // of the reduce-scatter and its three rounds
    EXPECT_EQ(punctual.exposed_communication, step(c) * 2 + step(c) * 4 + wait);
    EXPECT_EQ(punctual.peer_wait, ms(1) - step(c) * 2 - wait);
    const RankTime& straggler = result.ranks[3];
    EXPECT_EQ(straggler.compute, ms(1));
    EXPECT_EQ(straggler.exposed_communication, step(c) * 4);
    EXPECT_EQ(straggler.peer_wait, Duration{});
  }
}

TEST(StragglarTime, AStragglerThatNeverComesIsNamed) {
  Job job(4);
  job.scenario.collectives.algorithm[kAllReduce] = "stragglar";
  const CommunicatorId group = job.group({0, 1, 2, 3});
  job.collective(group, {0, 1, 2}, CollectiveOp::kAllReduce, 300);
  // Rank 3 waits for a message that rank 0 sends after the all-reduce, and would come after that.
  job.send(0, 3, 64 << 20).receive(0, 3, 64 << 20);
  job.collective(group, {3}, CollectiveOp::kAllReduce, 300);
  try {
    (void)job.run();
    FAIL() << "they wait for each other";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0"), HasSubstr("waits for rank 3 to reach it")));
  }
}

TEST(StragglarTime, RunsOnOneLaneAGpu) {
  Case c{.bytes = 700'000, .delay = ms(1), .late = 4};
  Job job = job_of(c);
  job.scenario.executor.comm_lanes = CommLanes::kOne;
  EXPECT_EQ(job.run().makespan, ms(1) + step(c) * 9);
}

// Announced circuits: the reduce-scatter's are asked for at time 0 when the straggler is known, each round's when its
// members come to it.
TEST(StragglarTime, ProvisionedCircuits) {
  for (const StragglerChoice choice : {StragglerChoice::kKnown, StragglerChoice::kEager}) {
    const Case c{.n = 8, .bytes = 700'000, .delay = ms(1), .late = 7, .reconfiguration = us(7)};
    Job job = job_of(c);
    job.scenario.controller.parameters.set("mode", "provisioned");
    job.scenario.collectives.straggler = choice;
    job.scenario.collectives.straggler_rank = RankId{7u};
    const RunResult result = job.run();
    EXPECT_TRUE(books_balance(result));
    EXPECT_EQ(result.makespan, ms(1) + (step(c) + us(7)) * 9);
  }
}

/// The x in [low, high] at which f goes from negative to positive, to the picosecond.
Duration root(Duration low, Duration high, const std::function<Duration(Duration)>& f) {
  EXPECT_LT(f(low), Duration{});
  EXPECT_GT(f(high), Duration{});
  while (high - low > Duration{1}) {
    const Duration middle = low + (high - low) / 2;
    (f(middle) < Duration{} ? low : high) = middle;
  }
  return high;
}

// Ring: D + 2(n-1)(a + S/(nB)). StragglAR, D below the reduce-scatter: (2(n-2) + log2 n)(a + S/((n-1)B)). They meet at
// D* = (log2 n - 2) a + S/B (n log2 n - 2) / (n (n-1)); n = 8, 4 GiB, 450 GiB/s, 3 us: 3.495 ms.
TEST(StragglarTime, CriticalDelayAgainstRing) {
  for (const Member n : {4u, 8u, 16u}) {
    Case c{.n = n, .bytes = std::int64_t{4} << 30, .bytes_per_second = 450.0 * (1 << 30), .latency = us(3)};
    const Duration measured = root(us(1), ms(10), [&](Duration delay) {
      c.delay = delay;
      c.algorithm = "ring";
      const Duration ring = time_of(c);
      c.algorithm = "stragglar";
      return ring - time_of(c);
    });
    const double log = std::countr_zero(n);
    const double exact = (log - 2) * 3e-6 + 4.0 / 450 * (n * log - 2) / (n * (n - 1.0));
    EXPECT_NEAR(to_seconds(measured), exact, 1e-6 * exact) << n;
  }
}

nlohmann::json oracle(const std::filesystem::path& data, const std::string& name) {
  std::ifstream in(data / "oracles" / name);
  return nlohmann::json::parse(in);
}

// The published simulation.py: 1 GiB at 450 GiB/s and 3 us, the reduce-scatter hidden by the delay. For n that is no power
// of two its rounds are the published synthesizer's; ours may be fewer, so that the time of a round is compared.
TEST(StragglarTime, PublishedSimulation) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const nlohmann::json file = oracle(data, "stragglar_simulation_py.json");
  for (const auto& [key, row] : file.at("n").items()) {
    Case c{.n = static_cast<Member>(std::stoul(key)), .bytes = 1 << 30};
    c.bytes_per_second = 450.0 * (1 << 30);
    c.latency = us(3);
    c.delay = ms(3);  // T_RS is at most 1 GiB / (450 GiB/s) + 190 x 3 us = 2.8 ms, 2.99 ms for 256
    const RunResult result = job_of(c).run();
    c.algorithm = "ring";
    const double ring = to_seconds(time_of(c) - c.delay) * 1e3;
    EXPECT_NEAR(ring, row.at("t_ring_ms").get<double>(), 5e-7 * ring) << key;
    const bool power = std::has_single_bit(c.n);
    const CollectiveRegistry registry = CollectiveRegistry::builtin();
    const auto plan = registry.find("stragglar").expand({.members = c.n, .size = {c.bytes}});
    const auto ours = static_cast<double>(plan->rounds() - 1);
    const auto published = row.at("stragglar_rounds").get<double>();
    EXPECT_LE(ours, published) << key;
    if (power) {
      EXPECT_EQ(ours, published) << key;
    }
    const double time = to_seconds(result.makespan - c.delay) * 1e3 / ours * published;
    EXPECT_NEAR(time, row.at("t_stragglar_ms").get<double>(), 5e-7 * time) << key;
    EXPECT_NEAR(ring / time, row.at("speedup_stragglar").get<double>(), 1e-6) << key;
  }
}

// Its other columns for powers of two: halving and doubling, and "direct", which costs the binomial broadcast of the whole
// buffer. For other n the published formulas stand for plans that are not ours (a 3-2 elimination, a fraction of a step).
TEST(StragglarTime, PublishedBaselines) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const nlohmann::json file = oracle(data, "stragglar_simulation_py.json");
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  CostModel on;
  on.rail.latency = us(3);
  on.rail.rate.bytes_per_second = 450.0 * (1 << 30);
  int compared = 0;
  for (const auto& [key, row] : file.at("n").items()) {
    CollectiveCall call{.members = static_cast<Member>(std::stoul(key)), .size = {1 << 30}};
    if (!std::has_single_bit(call.members)) continue;
    const double halving = registry.find("halving_doubling").cost(call, on)->picoseconds * 1e-9;
    EXPECT_NEAR(halving, row.at("t_rhd_ms").get<double>(), 5e-7 * halving) << key;
    call.op = CollectiveOp::kBroadcast;
    const double broadcast = registry.find("binomial").cost(call, on)->picoseconds * 1e-9;
    EXPECT_NEAR(broadcast, row.at("t_direct_ms").get<double>(), 5e-7 * broadcast) << key;
    ++compared;
  }
  EXPECT_EQ(compared, 7);  // 4 .. 256
}

// One port a GPU: every round of StragglAR needs circuits of its own, ring one set. The delay at which both take equally
// long, found by running both, against T_ring = R step + (R-1) delta. Both pay their first circuits after the straggler has
// come, as Opus sets them on demand.
TEST(StragglarTime, BreakEvenReconfigurationDelayOnAOnePortRail) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const nlohmann::json file = oracle(data, "stragglar_ocs_breakeven.json");
  for (const auto& row : file.at("rows")) {
    Case c{.n = row.at("n"), .bytes = row.at("bytes"), .delay = ms(60)};  // hides the reduce-scatter and its circuits
    c.bytes_per_second = row.at("bw_Bps");
    c.latency = from_seconds(row.at("alpha_s"));
    const Duration measured = root(Duration{1}, ms(5), [&](Duration reconfiguration) {
      c.reconfiguration = reconfiguration;
      c.algorithm = "stragglar";
      const Duration ours = time_of(c);
      c.algorithm = "ring";
      return ours - time_of(c);
    });
    const double published = row.at("breakeven_reconf_s");
    EXPECT_NEAR(to_seconds(measured), published, 0.01 * published) << c.n << " ranks, " << c.bytes << " bytes";
    RecordProperty("break_even_us_" + std::to_string(c.n) + "_" + std::to_string(c.bytes >> 20) + "MiB",
                   std::to_string(to_seconds(measured) * 1e6));
  }
}

// Jobs drawn at random, their all-reduces by StragglAR: they finish, the books balance, the history is the same twice.
TEST(StragglarTime, RandomJobs) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Shape shape;
    shape.sequential = true;
    shape.rail = seed % 3 == 0 ? RailKind::kElectrical : RailKind::kOptical;
    Drawing job(seed, shape);
    SCOPED_TRACE(describe(job, seed));
    job.scenario.collectives.algorithm[kAllReduce] = "stragglar";
    job.scenario.collectives.straggler = static_cast<StragglerChoice>(seed % 3);
    job.scenario.collectives.straggler_rank = RankId{seed % job.ranks()};
    testing::HistoryHash first;
    testing::HistoryHash second;
    Observer* const a[] = {&first};
    Observer* const b[] = {&second};
    try {
      const RunResult result = simulate(job.scenario, a);
      EXPECT_TRUE(books_balance(result));
      EXPECT_EQ(simulate(job.scenario, b).makespan, result.makespan);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    EXPECT_EQ(first.value(), second.value());
    if (::testing::Test::HasFailure()) return;
  }
}

// Who sends to whom is known when all but one have come. Circuits that are set once join any two that may exchange
// something.
TEST(StragglarInTime, RunsOverCircuitsThatAreSetOnce) {
  for (const char* policy : {"static_split", "topoopt"}) {
    for (const Member n : {2u, 4u, 6u}) {
      Case c{.n = n, .bytes = 1'000'000, .delay = us(50), .late = n - 1};
      Job job = job_of(c);
      job.optical(us(10), policy);
      EXPECT_TRUE(books_balance(job.run())) << policy << " " << n;
    }
  }
}

}  // namespace
}  // namespace photonrail::test
