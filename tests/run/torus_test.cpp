// Collectives on the links of a torus, a mesh or a ring inside a server: times in closed form against exact simulations.
#include "photonrail/collective/choice.hpp"
#include "run/cost_model.hpp"
#include "run/job.hpp"
#include "support/errors.hpp"
#include "support/processor_time.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <numeric>

namespace photonrail {
namespace {

using test::Job;
using ::testing::HasSubstr;
using enum CollectiveOp;

constexpr double kLatency = 307'001;  // picoseconds a link
constexpr double kOverhead = 10'007;
constexpr double kRate = 37e9;                     // bytes a second and link
constexpr std::int64_t kTorusBytes = 108'864'000;  // divides by 27 x 6, 16 x 4, 9 x 4, 64 x 6, 8 and 25

double beta(double bytes, double rate = kRate) { return bytes * 1e12 / rate; }
double alpha() { return kLatency + kOverhead; }

Scenario torus(const std::vector<std::uint32_t>& sides, CollectiveOp op, std::string_view algorithm,
               std::int64_t bytes = kTorusBytes) {
  const std::uint32_t n = std::accumulate(sides.begin(), sides.end(), 1u, std::multiplies<>());
  Job job(n, n);
  ScaleUpSpec& links = job.scenario.cluster.scale_up;
  links.per_gpu = Bandwidth{kRate};
  links.latency = Duration{static_cast<std::int64_t>(kLatency)};
  links.shape.kind = ScaleUpShape::Kind::kTorus;
  links.shape.sides = sides;
  links.shape.wraps.assign(sides.size(), true);
  job.scenario.cluster.nic.message_overhead = Duration{static_cast<std::int64_t>(kOverhead)};
  job.scenario.collectives.algorithm[static_cast<std::size_t>(op)] = algorithm;
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  job.collective(job.group(all), all, op, bytes);
  job.build();
  return std::move(job.scenario);
}

double picoseconds(const Scenario& scenario) { return static_cast<double>(simulate(scenario).makespan.count()); }

/// Rings of s in each of d dimensions, `parts` of S bytes at once: (s - 1) (alpha + S beta / (parts s^k)) in the k-th.
double rings(double s, int d, double bytes, double parts) {
  double time = 0.0;
  for (int k = 1; k <= d; ++k) time += (s - 1) * (alpha() + beta(bytes / parts / std::pow(s, k)));
  return time;
}

TEST(Torus, RingsInClosedForm) {
  for (const auto& [sides, s, d] : {std::tuple{std::vector<std::uint32_t>{5}, 5.0, 1},
                                    {{4, 4}, 4.0, 2},
                                    {{3, 3, 3}, 3.0, 3},
                                    {{4, 4, 4}, 4.0, 3},
                                    {{3, 1, 3}, 3.0, 2}}) {
    const double bytes = kTorusBytes;
    const double n = std::pow(s, d);
    for (const bool all : {false, true}) {
      const char* name = all ? "torus_rings" : "bucket";
      const double parts = all ? 2 * d : 1;
      EXPECT_NEAR(picoseconds(torus(sides, kAllReduce, name)), 2 * rings(s, d, bytes, parts), 2 * 2 * d * s) << name << n;
      EXPECT_NEAR(picoseconds(torus(sides, kReduceScatter, name)), rings(s, d, bytes, parts), 2 * d * s) << name << n;
      EXPECT_NEAR(picoseconds(torus(sides, kAllGather, name, kTorusBytes / 64)), rings(s, d, bytes / 64 * n, parts),
                  2 * d * s + 1)
          << name << n;
    }
  }
}

// A side of 2 has one link each way: one direction at a time, so that a 2x2x2 has three parts and not six.
TEST(Torus, SidesOfTwoAreNoRings) {
  EXPECT_NEAR(picoseconds(torus({2, 2, 2}, kAllReduce, "torus_rings")), 2 * rings(2, 3, kTorusBytes, 3), 20);
}

// A line of 4 that is not closed: three steps over three links, and the message from the last cell goes back over three.
TEST(Torus, ALineSendsItsLastMessageBack) {
  Scenario line = torus({4}, kAllReduce, "torus_rings");
  line.cluster.scale_up.shape.wraps = {false};
  EXPECT_NEAR(picoseconds(line), 2 * (rings(4, 1, kTorusBytes, 1) + 2 * kLatency), 20);
  Scenario mesh = torus({3, 3}, kReduceScatter, "bucket");
  mesh.cluster.scale_up.shape.wraps = {false, false};
  EXPECT_NEAR(picoseconds(mesh), rings(3, 2, kTorusBytes, 1) + 2 * kLatency, 20);
}

// Two cubes of 4 in a ring of 8: one link in four goes through a switch. 14 steps in a row pass at most four of them.
TEST(Torus, FacesOfCubesAddTheirLatency) {
  Scenario cubes = torus({8}, kAllReduce, "bucket");
  cubes.cluster.scale_up.shape.block = 4;
  cubes.cluster.scale_up.face_latency = test::us(2);
  EXPECT_NEAR(picoseconds(cubes), 2 * rings(8, 1, kTorusBytes, 1) + 4 * 2e6, 30);
}

// All to all, b bytes a pair. A link of a ring of 5 has 3 of the ways, of 3 one, of 8 eight; behind each link of 3x3 are
// the three cells of the other side: 3 b at once and the longest way, or half of that twice and a shorter way each time.
TEST(Torus, AllToAllInClosedForm) {
  const auto pair = [](double n) { return kTorusBytes / n; };
  EXPECT_NEAR(picoseconds(torus({5}, kAllToAll, "direct")), kOverhead + 2 * kLatency + beta(3 * pair(5)), 20);
  EXPECT_NEAR(picoseconds(torus({8}, kAllToAll, "direct")), kOverhead + 4 * kLatency + beta(8 * pair(8)), 20);
  EXPECT_NEAR(picoseconds(torus({3, 3}, kAllToAll, "direct")), kOverhead + 2 * kLatency + beta(3 * pair(9)), 20);
  EXPECT_NEAR(picoseconds(torus({3, 3}, kAllToAll, "torus_rings")), 2 * alpha() + beta(3 * pair(9)), 20);
  EXPECT_NEAR(picoseconds(torus({3, 3}, kAllToAll, "bucket")), 2 * alpha() + beta(6 * pair(9)), 20);
  // 4x4x4: 2 ways of a line over a link, 16 cells behind it; two links at the most in each of three phases.
  EXPECT_NEAR(picoseconds(torus({4, 4, 4}, kAllToAll, "torus_rings")), 3 * (kOverhead + 2 * kLatency) + beta(32 * pair(64)),
              60);
}

// What `auto` predicts is what it gets, and it takes the one that uses all links.
TEST(Torus, AutoKnowsTheLinks) {
  for (const CollectiveOp op : {kAllReduce, kAllGather, kReduceScatter, kAllToAll}) {
    const RunResult result = simulate(torus({4, 4}, op, kAutoAlgorithm));
    ASSERT_EQ(result.choices.size(), 1u);
    EXPECT_THAT(result.choices.front(), HasSubstr("auto took torus_rings")) << name(op);
    const CollectiveRegistry registry = CollectiveRegistry::builtin();
    const Scenario scenario = torus({4, 4}, op, "torus_rings");
    CollectiveCall call{.op = op, .members = 16, .size = {kTorusBytes}, .box = {{{4, 1}, {4, 1}}, std::vector<Member>(16)}};
    std::iota(call.box.members.begin(), call.box.members.end(), 0);
    for (std::uint32_t m = 0; m < 16; ++m) call.places.push_back({0, m});
    const CostModel on = run::cost_model(scenario.cluster, scenario.controller);
    const std::vector<CollectiveCandidate> ranked = rank_collectives(registry, call, on);
    const CollectiveCandidate& best = ranked.front();
    EXPECT_EQ(best.algorithm->name(), "torus_rings");
    EXPECT_EQ(ranked[1].algorithm->name(), "bucket");
    EXPECT_THAT(ranked[2].problem, HasSubstr("share links of the torus"));
    EXPECT_THAT(result.choices.front(), HasSubstr("next bucket"));
    const auto predicted = static_cast<double>(best.predicted.count());
    EXPECT_NEAR(picoseconds(scenario), predicted, 50) << name(op);
    EXPECT_NEAR(static_cast<double>(result.makespan.count()), predicted, 50) << name(op);
  }
}

// Messages of other algorithms share links, so that no flow stands for all of a pair: both fidelities run the same sends,
// and nothing is folded.
TEST(Torus, FidelitiesAgreeAndFoldingIsRefused) {
  for (const char* algorithm : {"ring", "halving_doubling", "torus_rings", "direct"}) {
    Scenario scenario = torus({4, 2}, kAllReduce, algorithm);
    const RunResult exact = simulate(scenario);
    scenario.run.fidelity = Fidelity::kStream;
    scenario.run.folding = true;
    const RunResult stream = simulate(scenario);
    EXPECT_EQ(exact.makespan, stream.makespan) << algorithm;
    EXPECT_EQ(stream.folding.classes, stream.folding.ranks);
    EXPECT_THAT(stream.folding.off, HasSubstr("share links"));
  }
}

// Members of one plane, and of a line of it, are boxes of their own, at once with others: they meet on no link.
TEST(Torus, GroupsOfPlanesAndLinesMeetOnNoLink) {
  Scenario whole = torus({4, 4}, kAllReduce, "bucket");
  Job job(16, 16);
  job.scenario.cluster = whole.cluster;
  job.scenario.collectives = whole.collectives;
  for (std::size_t row = 0; row < 4; ++row) {
    const std::vector<std::size_t> line{4 * row, 4 * row + 1, 4 * row + 2, 4 * row + 3};
    job.collective(job.group(line), line, kAllReduce, kTorusBytes);
  }
  const RunResult result = job.run();
  EXPECT_NEAR(static_cast<double>(result.makespan.count()), 2 * rings(4, 1, kTorusBytes, 1), 20);
}

// 6 units of egress as a pool, 1 unit on each fixed link: a ring through a 2x2x1 slice, two through a 2x2x2, eight through
// a 2x2x4 and one over all of a 2x2x2 (arXiv 2508.03674). Rings of 4 and 8 run at 3 units, rings of a 4x4 torus at 1.5.
TEST(Torus, AnEgressPoolGivesTheRingsOfASliceTheirShares) {
  for (const auto& [sides, units] : {std::pair{std::vector<std::uint32_t>{4}, 3.0}, {{4, 4}, 1.5}, {{8}, 3.0}}) {
    Scenario fixed = torus(sides, kAllReduce, "bucket");
    Scenario pooled = fixed;
    for (Scenario* scenario : {&fixed, &pooled}) {
      scenario->cluster.scale_up.latency = Duration{};
      scenario->cluster.nic.message_overhead = Duration{};
    }
    pooled.cluster.scale_up.shape.pooled = true;
    pooled.cluster.scale_up.per_gpu = Bandwidth{6 * kRate};
    EXPECT_NEAR(picoseconds(fixed) / picoseconds(pooled), units, 1e-6);
  }
}

// All to all on 4x4x8: the wrap-around of both short sides is shifted by 4 along the long one.
TEST(Torus, ATwistMakesAllToAllFaster) {
  Scenario plain = torus({4, 4, 8}, kAllToAll, "direct", 128 * 1'000'000);
  Scenario twisted = plain;
  twisted.cluster.scale_up.shape.twisted = true;
  const double gain = picoseconds(plain) / picoseconds(twisted);
  std::cout << "all to all on 4x4x8, plain over twisted: " << gain << '\n';
  EXPECT_GT(gain, 1.4);
  EXPECT_LT(gain, 128 / 73.3);  // all six links of a GPU alike
}

TEST(Torus, ARankOnABypassedGpuIsRefused) {
  Job job(4, 4);
  job.scenario.cluster.scale_up.shape.kind = ScaleUpShape::Kind::kRing;
  job.scenario.cluster.scale_up.shape.bypassed = {2};
  job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, kAllReduce, 1000);
  EXPECT_THAT(test::error_of([&] { static_cast<void>(job.run()); }).problem(), HasSubstr("bypasses GPU 2"));
}

// All-reduce of 1 GiB, send by send: 6 parts x 6 (side - 1) steps x side^3. 4,096 accelerators at night, 512 else.
TEST(Torus, FourThousandAcceleratorsAreQuick) {
  const std::uint32_t side = test::test_cases(1) > 1 ? 16 : 8;
  const Scenario pod = torus({side, side, side}, kAllReduce, "torus_rings", std::int64_t{1} << 30);
  const double before = test::processor_seconds();
  const RunResult result = simulate(pod);
  std::cout << side * side * side << " accelerators: " << test::processor_seconds() - before << " s, "
            << result.engine.sends << " sends\n";
  EXPECT_EQ(result.engine.sends, std::uint64_t{6} * 6 * (side - 1) * side * side * side);
  // 2^30 bytes are no number of parts: the largest shard is a byte larger in the last dimension, side^2 bytes in the first.
  EXPECT_NEAR(static_cast<double>(result.makespan.count()) / (2 * rings(side, 3, std::pow(2.0, 30), 6)), 1.0, 1e-5);
  EXPECT_LT(test::processor_seconds() - before, side == 16 ? 10.0 : 1.0);
}

}  // namespace
}  // namespace photonrail
