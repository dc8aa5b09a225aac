// A view with what only some policies are shown: bytes, later rounds, the known schedule, traffic.
#pragma once

#include "photonrail/controller.hpp"
#include "photonrail/testing/policy_kit.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {

class Shown {
 public:
  /// A picture of the rail as it is now.
  explicit Shown(testing::RailView& rail) : view(rail.view()), demands_(view.requests.begin(), view.requests.end()) {
    view.requests = demands_;
    view.port_rate = Bandwidth{1e12};  // 1 byte per picosecond
  }

  FabricView view;

  /// Of the demand's pairs, in their order.
  Shown& bytes(std::size_t demand, const std::vector<std::int64_t>& counts) {
    demands_[demand].bytes = keep(counts);
    return *this;
  }
  Shown& next_round(std::size_t demand, std::vector<ServerPair> pairs, const std::vector<std::int64_t>& counts) {
    pairs_.push_back(std::move(pairs));
    rounds_.push_back({pairs_.back(), keep(counts)});
    demands_[demand].next = rounds_;
    return *this;
  }
  Shown& iteration(std::size_t demand, std::uint32_t number) {
    demands_[demand].iteration = number;
    return *this;
  }
  Shown& traffic(const std::vector<std::pair<ServerPair, std::int64_t>>& past) {
    for (const auto& [pair, count] : past) traffic_.push_back({pair, Bytes{count}});
    view.traffic = traffic_;
    return *this;
  }
  /// The rank at the position sends over its pairs in a step.
  Shown& sends(ServerIndex from, Dimension dimension, std::vector<ServerPair> pairs,
               const std::vector<std::int64_t>& counts) {
    pairs_.push_back(std::move(pairs));
    ScheduledOperation op;
    op.dimension = dimension;
    op.pairs = pairs_.back();
    op.bytes = keep(counts);
    operations_.push_back({op});
    schedule_.push_back({RankId{schedule_.size()}, from, operations_.back(), 0, 0});
    view.schedule = schedule_;
    return *this;
  }

 private:
  std::span<const Bytes> keep(const std::vector<std::int64_t>& counts) {
    std::vector<Bytes>& bytes = bytes_.emplace_back();
    for (const std::int64_t count : counts) bytes.push_back(Bytes{count});
    return bytes;
  }

  std::vector<CircuitRequest> demands_;
  std::deque<std::vector<Bytes>> bytes_;
  std::deque<std::vector<ServerPair>> pairs_;
  std::vector<RoundView> rounds_;
  std::vector<PairTraffic> traffic_;
  std::deque<std::vector<ScheduledOperation>> operations_;
  std::vector<RankSchedule> schedule_;
};

/// A built-in controller for rail 0 of single-GPU servers.
inline std::unique_ptr<Controller> make_controller(const std::string& name, ParameterValues parameters = {},
                                                   std::uint32_t ports_per_gpu = 1) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  const ControllerFactory& factory = registry.find(name);
  ControllerSpec spec;
  spec.name = name;
  spec.parameters = std::move(parameters);
  return factory.make(factory.complete(spec), RailId{0}, 1, ports_per_gpu);
}

/// The pairs of positions that a plan joins, ascending.
inline std::vector<ServerPair> joined(const FabricView& view, const CircuitPlan& plan) {
  std::vector<ServerPair> pairs;
  for (const Circuit c : plan.connect) pairs.push_back({view.position(c.from), view.position(c.to)});
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace photonrail::test
