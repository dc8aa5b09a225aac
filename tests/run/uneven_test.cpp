// All-to-alls that follow demand matrices, on electrical and on optical rails. 50 GB/s: 50 MB take 1 ms.
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

std::shared_ptr<const TrafficSource> table(std::initializer_list<std::initializer_list<std::int64_t>> rows) {
  TrafficMatrix demand(static_cast<Member>(rows.size()));
  Member from = 0;
  for (const auto& row : rows) {
    Member to = 0;
    for (const std::int64_t ms : row) demand.at(from, to++) = {ms * kMs};
    ++from;
  }
  auto source = std::make_shared<DemandTable>();
  source->add(std::move(demand));
  return source;
}

Job bare(std::size_t ranks) {
  Job job(ranks);
  job.scenario.cluster.nic.latency = Duration{0};
  job.scenario.cluster.nic.message_overhead = Duration{0};
  return job;
}

Bytes ep_bytes(const RunResult& result) { return result.traffic[static_cast<std::size_t>(Dimension::kEp)].bytes; }

// Shift 1: 0 to 1 takes 2 ms, 1 to 2 1 ms, 2 to 0 4 ms. Shift 2 has 0 to 2 alone, 2 ms, and 0 is free after 4 ms.
const std::initializer_list<std::initializer_list<std::int64_t>> kThree{{9, 2, 2}, {0, 9, 1}, {4, 0, 9}};

TEST(Uneven, PairwiseOnElectricalRails) {
  Job job = bare(3);
  job.demands(table(kThree)).all_to_all(job.group({0, 1, 2}, Dimension::kEp), {0, 1, 2}, 1);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(6));
  EXPECT_EQ(result.engine.sends, 4u);
  EXPECT_EQ(ep_bytes(result), Bytes{9 * kMs});  // 2 + 2 + 1 + 4
  EXPECT_TRUE(books_balance(result));
}

// Both rounds want circuits that are dark: 10 ms before each. The first ring is lit from 10 ms. 0 is done with it at 14 ms,
// and 2 too; then 0 to 2 is switched, which takes the fibres of 0 to 1 and of 1 to 2. 14 + 10 + 2 ms.
TEST(Uneven, PairwiseOnOpticalRails) {
  Job job = bare(3);
  job.optical(ms(10)).demands(table(kThree)).all_to_all(job.group({0, 1, 2}, Dimension::kEp), {0, 1, 2}, 1);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(26));
  EXPECT_EQ(result.reconfigurations.count, 2u);
  EXPECT_TRUE(books_balance(result));
}

// All at once: member 1 receives 2 + 4 ms worth over one port, the others less.
TEST(Uneven, DirectSharesThePortOfTheHotMember) {
  Job job = bare(3);
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
  job.demands(table({{0, 2, 0}, {0, 0, 1}, {0, 4, 0}})).all_to_all(job.group({0, 1, 2}, Dimension::kEp), {0, 1, 2}, 1);
  EXPECT_EQ(job.run().makespan, ms(6));
}

TEST(Uneven, WhoHasNothingToSendOrReceiveIsDoneAtOnce) {
  for (const bool optical : {false, true}) {
    Job job = bare(3);
    if (optical) job.optical(ms(10));
    job.demands(table({{0, 0, 3}, {0, 9, 0}, {0, 0, 0}})).all_to_all(job.group({0, 1, 2}, Dimension::kEp), {0, 1, 2}, 1);
    job.compute(1, ms(1));
    const RunResult result = job.run();
    EXPECT_EQ(result.makespan, optical ? ms(13) : ms(3));
    EXPECT_EQ(result.ranks[1].peer_wait, result.makespan - ms(1));  // rank 1 computes at once
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(Uneven, NothingAtAllTakesNoTime) {
  for (const char* mode : {"", "static", "opus", "provisioned"}) {
    Job job = bare(2);
    if (*mode != '\0') job.optical(ms(10), mode == std::string("static") ? "static" : "opus");
    if (mode == std::string("provisioned")) job.scenario.controller.parameters.set("mode", "provisioned");
    job.scenario.run.iterations = 3;
    job.demands(table({{5, 0}, {0, 5}})).all_to_all(job.group({0, 1}, Dimension::kEp), {0, 1}, 1);
    job.compute(0, ms(1)).all_to_all(job.group({0, 1}, Dimension::kEp), {0, 1}, 1);
    const RunResult result = job.run();
    EXPECT_EQ(result.makespan, ms(3)) << mode;
    EXPECT_TRUE(books_balance(result)) << mode;
  }
}

/// From 0 to 1: as many ms as the iteration's number from 1, times the communicator's from 1, plus the seed; nothing back.
class Growing final : public TrafficSource {
 public:
  [[nodiscard]] std::optional<Member> members(std::uint32_t number) const override {
    return number == 1 ? std::optional<Member>{2} : std::nullopt;
  }
  [[nodiscard]] bool drifts() const override { return true; }
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override {
    TrafficMatrix demand(2);
    const std::int64_t times = (query.iteration + 1) * (query.communicator.value + 1);
    demand.at(0, 1) = {(times + static_cast<std::int64_t>(query.seed)) * kMs};
    return demand;
  }
};

/// 1 ms between two of four members in the first iteration, between the other two in the second.
class Moving final : public TrafficSource {
 public:
  [[nodiscard]] std::optional<Member> members(std::uint32_t number) const override {
    return number == 1 ? std::optional<Member>{4} : std::nullopt;
  }
  [[nodiscard]] bool drifts() const override { return true; }
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override {
    TrafficMatrix demand(4);
    demand.at(2 * query.iteration, 2 * query.iteration + 1) = {kMs};
    return demand;
  }
};

// What is profiled is the first iteration. Circuits that are set once must join those that exchange bytes in the second
// too.
TEST(Uneven, CircuitsThatAreSetOnceServeTheMatricesOfLaterIterations) {
  for (const char* policy : {"topoopt", "static_split"}) {
    Job job = bare(4);
    job.optical(us(10), policy);
    job.scenario.run.iterations = 2;
    job.demands(std::make_shared<Moving>());
    job.all_to_all(job.group({0, 1, 2, 3}, Dimension::kEp), {0, 1, 2, 3}, 1);
    const RunResult result = job.run();
    EXPECT_EQ(ep_bytes(result), Bytes{2 * kMs}) << policy;
    EXPECT_TRUE(books_balance(result)) << policy;
  }
}

TEST(Uneven, TheMatrixFollowsCommunicatorIterationAndSeed) {
  Job job = bare(4);
  job.scenario.run.iterations = 3;
  job.scenario.run.seed = 100;
  job.demands(std::make_shared<Growing>());
  job.all_to_all(job.group({0, 1}, Dimension::kEp), {0, 1}, 1);  // 101, 102, 103 ms
  job.all_to_all(job.group({2, 3}, Dimension::kEp), {2, 3}, 1);  // 102, 104, 106 ms
  const RunResult result = job.run();
  EXPECT_EQ(ep_bytes(result), Bytes{(101 + 102 + 103 + 102 + 104 + 106) * kMs});
  EXPECT_EQ(result.makespan, ms(102 + 104 + 106));
}

// The busiest ports, 0 and 2, send 4 ms worth: so long takes the decomposition when circuits cost nothing, where pairwise
// takes 6 ms. With 10 ms a change both have the two rounds that are the fewest possible, as 0 sends to both others; those
// of birkhoff last 4 ms together, while the greedy one begins with the pair of 4 ms, and 0 to 2 remains, 2 ms.
TEST(Uneven, DecompositionsOnOpticalRails) {
  const auto time = [](const char* algorithm, Duration reconfiguration) {
    Job job = bare(3);
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = algorithm;
    job.optical(reconfiguration).demands(table(kThree));
    job.all_to_all(job.group({0, 1, 2}, Dimension::kEp), {0, 1, 2}, 1);
    const RunResult result = job.run();
    EXPECT_TRUE(books_balance(result));
    EXPECT_EQ(ep_bytes(result), Bytes{9 * kMs});
    return result.makespan;
  };
  EXPECT_EQ(time("birkhoff", ms(0)), ms(4));
  EXPECT_EQ(time("pairwise", ms(0)), ms(6));
  EXPECT_EQ(time("greedy_matchings", ms(10)), ms(26));
  EXPECT_EQ(time("birkhoff", ms(10)), ms(24));
}

// Two all-to-alls without traffic wait for the lane of the reduction, and are over as they begin: the second begins while
// the lane that the first gives back names it once more.
TEST(Uneven, OperationsThatAreOverAtOnceBeginOnce) {
  for (const bool optical : {false, true}) {
    Job job = bare(2);
    if (optical) job.optical(ms(10));
    const auto both = job.group({0, 1}, Dimension::kEp);
    job.demands(table({{5, 0}, {0, 5}})).collective(both, {0, 1}, CollectiveOp::kReduce, kMs).all_to_all(both, {0, 1}, 1);
    for (const std::size_t rank : {0, 1}) job.detach(rank);
    job.all_to_all(both, {0, 1}, 1).collective(both, {0, 1}, CollectiveOp::kAllGather, 2 * kMs);
    const RunResult result = job.run();
    EXPECT_GE(result.makespan, optical ? ms(11) : ms(1)) << optical;
    EXPECT_TRUE(books_balance(result));
  }
}

}  // namespace
}  // namespace photonrail::test
