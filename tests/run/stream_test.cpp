// Stream fidelity beside the exact one.
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace photonrail {
namespace {

using test::Job;
using test::ms;
using test::us;

/// One collective of a ring of servers with a GPU each.
struct RingJob {
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::uint32_t ranks = 8;
  std::uint32_t chunks = 8;
  std::int64_t bytes = 65536;
  Duration latency{};
  Duration overhead = Duration{500'000};
  bool optical = false;

  [[nodiscard]] Duration at(Fidelity fidelity) const {
    Job job(ranks);
    if (optical) job.optical(us(20));
    std::vector<std::size_t> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    job.scenario.cluster.nic.latency = latency;
    job.scenario.cluster.nic.message_overhead = overhead;
    job.scenario.collectives.chunks = chunks;
    job.scenario.run.fidelity = fidelity;
    job.collective(job.group(all), all, op, bytes);
    return job.run().makespan;
  }
};

// 14 steps of 8 pieces of 1,024 bytes: 8 x (500 + 20.48) ns each.
TEST(Stream, CountsTheOverheadOfEveryPiece) {
  const RingJob ring{};
  EXPECT_EQ(ring.at(Fidelity::kExact), 14 * 8 * Duration{520'480});
  EXPECT_EQ(ring.at(Fidelity::kStream), 14 * 8 * Duration{520'480});
}

// Where pieces are short, the first of them is on its way while the others leave; where they are long, they hide its
// latency; without an overhead, with one, with more of it than latency. Each message is rounded up to the picosecond.
TEST(Stream, IsTheExactTimeOfARingOfPieces) {
  for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kReduceScatter, CollectiveOp::kAllGather}) {
    for (const std::uint32_t ranks : {2u, 3u, 8u}) {
      for (const std::uint32_t chunks : {1u, 2u, 5u}) {
        for (const std::int64_t bytes : {240, 24'000, 24'000'000}) {
          for (const auto& [latency, overhead] :
               {std::pair{us(1), us(0)}, {us(1), us(0.01)}, {us(1), us(3)}, {us(0), us(1)}}) {
            for (const bool optical : {false, true}) {
              const RingJob ring{op, ranks, chunks, bytes, latency, overhead, optical};
              const Duration exact = ring.at(Fidelity::kExact);
              const double rounding = 2.0 * (ranks * 2 * chunks) + 2;
              EXPECT_NEAR(static_cast<double>(ring.at(Fidelity::kStream).count()), static_cast<double>(exact.count()),
                          rounding)
                  << name(op) << " of " << ranks << ", " << chunks << " pieces, " << bytes << " bytes, " << latency.count()
                  << " + " << overhead.count() << " ps" << (optical ? ", circuits" : "");
            }
          }
        }
      }
    }
  }
}

// Two groups of four on five or more servers with two ports each: not every pair has a circuit, and messages are forwarded
// over circuits that others use. A flow for each pair would take part of them all the time; sends wait for one another.
TEST(Stream, IsNotOfferedWhereMessagesShareCircuitsByForwarding) {
  const auto run = [](Fidelity fidelity) {
    Job job(8);
    job.optical(ms(1), "topoopt");
    job.scenario.cluster.nic.ports = 2;
    job.scenario.run.fidelity = fidelity;
    const std::vector<std::size_t> even{0, 2, 4, 6};
    const std::vector<std::size_t> across{0, 3, 5, 6};
    job.collective(job.group(even), even, CollectiveOp::kAllReduce, 80'000'000);
    job.collective(job.group(across, Dimension::kEp), across, CollectiveOp::kAllGather, 20'000'000);
    return job.run();
  };
  const RunResult exact = run(Fidelity::kExact);
  const RunResult stream = run(Fidelity::kStream);
  EXPECT_EQ(stream.makespan, exact.makespan);
  EXPECT_TRUE(exact.choices.empty());
  EXPECT_THAT(stream.choices, ::testing::ElementsAre(::testing::HasSubstr("messages may be forwarded")));
}

}  // namespace
}  // namespace photonrail
