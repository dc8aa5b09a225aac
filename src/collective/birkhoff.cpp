// All-to-alls that decompose their demand into matchings, one round of circuits each (decomposition.hpp). An even
// all-to-all becomes n-1 matchings. `pieces` has no use here.
#include "collective/builtin.hpp"
#include "collective/decomposition.hpp"
#include "collective/matched_rounds.hpp"
#include "collective/uneven.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>

namespace photonrail::collective {

namespace {

using Decompose = std::vector<DemandRound> (*)(const TrafficMatrix& demand, Bytes reconfiguration);

// Shares that differ by a byte count as equal: rounds of one byte would cost more than they save.
TrafficMatrix even_demand(const CollectiveCall& call) {
  TrafficMatrix demand(call.members);
  for (Member from = 0; from < call.members; ++from) {
    for (Member to = 0; to < call.members; ++to) {
      demand.at(from, to) = std::max(share(call.size, call.members, 0), Bytes{1});
    }
  }
  return demand;
}

class Decomposed final : public CollectiveAlgorithm {
 public:
  Decomposed(std::string_view name, std::string_view summary, Decompose decompose)
      : name_(name), summary_(summary), decompose_(decompose) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view summary() const override { return summary_; }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return op == CollectiveOp::kAllToAll && members >= 2;
  }
  [[nodiscard]] bool takes_demand() const override { return true; }

  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.least_bytes = true, .matchings = true};
  }
  /// Round after round, each as long as its largest message.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    if (call.demand == nullptr) {
      const double round = on.rail_to(1).send(static_cast<double>(call.size.count) / call.members);
      return CollectiveCost{.picoseconds = (call.members - 1) * round, .circuits = call.members - 1};
    }
    std::vector<Bytes> largest;
    for (const DemandRound& round : decompose_(*call.demand, call.reconfiguration)) {
      largest.push_back(std::max_element(round.begin(), round.end(), [](const PairBytes& a, const PairBytes& b) {
                          return a.bytes < b.bytes;
                        })->bytes);
    }
    return cost_of_rounds(largest, on.rail_to(1));
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    const Member n = call.members;
    MatchedRounds plan(n, n * n);
    std::uint32_t number = 0;
    for (const DemandRound& round :
         decompose_(call.demand != nullptr ? *call.demand : even_demand(call), call.reconfiguration)) {
      for (const PairBytes& pair : round) {
        const std::uint32_t chunk = pair.from * n + pair.to;
        const Bytes bytes = call.demand != nullptr ? pair.bytes : chunk_bytes(call, n * n, chunk);
        plan.add({.from = pair.from, .to = pair.to, .bytes = bytes, .first_chunk = chunk, .round = number});
      }
      plan.end_round();
      ++number;
    }
    return std::move(plan).build();
  }

 private:
  std::string_view name_;
  std::string_view summary_;
  Decompose decompose_;
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_birkhoff() {
  return std::make_unique<Decomposed>("birkhoff",
                                      "all-to-all of uneven demand as matchings that last as long as the busiest port",
                                      [](const TrafficMatrix& demand, Bytes) { return birkhoff_rounds(demand); });
}

std::unique_ptr<const CollectiveAlgorithm> make_greedy_matchings() {
  return std::make_unique<Decomposed>(
      "greedy_matchings", "all-to-all of uneven demand as fewer matchings, weighing what re-pointing costs", greedy_rounds);
}

}  // namespace photonrail::collective
