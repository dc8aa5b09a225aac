// The search through orders of circuits, on relaxed runs of a few transfers.
#include "run/circuit_orders.hpp"

#include "run/job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace photonrail::test {
namespace {

using run::CircuitOrders;
using run::RelaxedRun;
using run::Transfer;
using run::TransferFloors;
using run::TransferId;

TransferId transfer_id(std::uint32_t communicator) {
  TransferId id;
  id.communicator = CommunicatorId{communicator};
  return id;
}

/// Transfers of 10 ms that leave at 0 over the fibres of position 0, each to a peer of its own and with `tails` to come
/// after it, where there are no floors.
class Relaxation {
 public:
  explicit Relaxation(std::vector<Duration> tails) : tails_(std::move(tails)) {}

  RelaxedRun operator()(const TransferFloors& floors) {
    ++evaluations;
    RelaxedRun run;
    for (std::uint32_t i = 0; i < tails_.size(); ++i) {
      const TransferId id = transfer_id(i);
      const auto floor = floors.find(id);
      const Time until = std::max(Time{} + ms(10), floor == floors.end() ? Time{} : floor->second);
      run.transfers.push_back({id, {RailId{0u}, 0, true}, i + 1, Time{}, until, Bytes{500'000'000}});
      run.end = std::max(run.end, until + tails_[i]);
    }
    return run;
  }

  int evaluations = 0;

 private:
  std::vector<Duration> tails_;
};

Time least_end(Relaxation& job, std::uint32_t ports, std::size_t most) {
  run::BoundTerms terms;
  terms.dark = ms(5);
  terms.ports = ports;
  terms.port_rate = Bandwidth::from_gb_per_s(50);
  CircuitOrders orders(
      terms, [&job](const TransferFloors& floors) { return job(floors); }, most);
  return job(orders.search(job({}))).end;
}

// Either goes first; the one with more to come does: its 10 + 30, and the other one ends at 10 + 5 + 10.
TEST(CircuitOrders, TheOneWithMoreToComeGoesFirst) {
  Relaxation job({ms(1), ms(30)});
  EXPECT_EQ(least_end(job, 1, 100), Time{} + ms(40));
  Relaxation alike({ms(30), ms(30)});
  EXPECT_EQ(least_end(alike, 1, 100), Time{} + ms(25 + 30));
}

// Two fibres carry two of three at once; the third comes a turn later.
TEST(CircuitOrders, OfThreeOverTwoFibresOneWaits) {
  Relaxation job({ms(1), ms(2), ms(3)});
  EXPECT_EQ(least_end(job, 2, 100), Time{} + ms(16));
  Relaxation two({ms(1), ms(2)});
  EXPECT_EQ(least_end(two, 2, 100), Time{} + ms(12));
}

TEST(CircuitOrders, WithoutAnEvaluationLeftTheRunStaysAsItIs) {
  Relaxation job({ms(30), ms(30)});
  EXPECT_EQ(least_end(job, 1, 1), Time{} + ms(40));
  EXPECT_EQ(job.evaluations, 2);
}

}  // namespace
}  // namespace photonrail::test
