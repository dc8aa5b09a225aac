#include "testing/rail_life.hpp"

#include "photonrail/testing/fuzz.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::testing {

namespace {

// Positions and ports of the rail that a seed has.
std::uint32_t positions_of(std::uint64_t seed) { return 2 + static_cast<std::uint32_t>(seed % 5); }
std::uint32_t ports_of(std::uint64_t seed) { return 1 + static_cast<std::uint32_t>(seed / 5 % 2); }

FuzzCase cluster_of(std::uint64_t seed) {
  FuzzCase cluster;
  cluster.servers = positions_of(seed);
  cluster.ports = ports_of(seed);
  cluster.switching = std::chrono::microseconds(10);
  return cluster;
}

}  // namespace

RailLife::RailLife(const PolicyUnderTest& subject, const ControllerSpec& setting, std::uint64_t seed)
    : random_(seed, "life of a rail"),
      setting_(setting),
      positions_(positions_of(seed)),
      rail_(positions_, ports_of(seed)) {
  const Scenario scenario = under(subject, setting, scenario_of(cluster_of(seed)));
  const ControllerSpec spec = subject.factory.complete(scenario.controller);
  needs_ = subject.factory.needs_of(scenario.controller);
  policy_ = subject.factory.make(spec, RailId{0}, 1, ports_of(seed));
  rail_.reconfiguration(scenario.cluster.rail.optical.reconfiguration.typical());
}

void RailLife::want_something() {
  std::vector<ServerIndex> order;
  for (ServerIndex p = 0; p < positions_; ++p) order.push_back(p);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  const std::size_t members = 2 + random_.below(positions_ - 1);
  std::vector<ServerPair> pairs;
  if (members == 2 || random_.below(2) == 0) {
    pairs.push_back({order[0], order[1]});
  } else {
    for (std::size_t i = 0; i < members; ++i) pairs.push_back({order[i], order[(i + 1) % members]});
  }
  waiting_.push_back(std::move(pairs));
}

// The first operation that finds all of its circuits lit and free takes them.
void RailLife::use_what_is_lit() {
  for (std::size_t d = 0; d < waiting_.size(); ++d) {
    std::vector<ServerPair> held;
    for (const ServerPair pair : waiting_[d]) {
      if (!rail_.hold(pair)) break;
      held.push_back(pair);
    }
    if (held.size() == waiting_[d].size()) {
      holding_.push_back(std::move(held));
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(d));
      return;
    }
    for (const ServerPair pair : held) rail_.release(pair);
  }
}

void RailLife::give_back() {
  if (holding_.empty()) return;
  const auto which = holding_.begin() + static_cast<std::ptrdiff_t>(random_.below(holding_.size()));
  for (const ServerPair pair : *which) rail_.release(pair);
  holding_.erase(which);
}

void RailLife::happen() {
  now_ += std::chrono::microseconds(random_.below(20));
  switch (random_.below(4)) {
    case 0:
      if (waiting_.size() < 5) want_something();
      break;
    case 1:
      rail_.light();
      break;
    case 2:
      use_what_is_lit();
      break;
    default:
      give_back();
  }
  rail_.at(now_).clear_demands();
  for (const std::vector<ServerPair>& pairs : waiting_) {
    RailView::DemandOptions options;
    if (needs_.has(ViewPart::kBytes)) options.bytes.assign(pairs.size(), Bytes{1'000'000});
    rail_.demand(pairs, Dimension::kDp, options);
  }
}

Answer RailLife::ask_and_go_on() {
  happen();
  ++asked_;
  const FabricView& view = rail_.view();
  const Decision decision = policy_->decide(view);
  Answer answer = judge(view, decision);
  const bool now = !decision.steps.empty() && decision.steps.front().when == When::kNow;
  if (now && answer.problem().empty()) rail_.begin(decision.plan());
  return answer;
}

}  // namespace photonrail::testing
