#include "photonrail/collective/choice.hpp"

#include "collective/spread.hpp"
#include "core/counted.hpp"
#include "core/printed.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

using collective::Spread;
using collective::spread_of;

namespace {

/// The costs that an algorithm meets where the group is.
CostModel here(const CollectiveAlgorithm& algorithm, Spread spread, CostModel on) {
  if (spread == Spread::kServer) return {.rail = on.scale_up, .scale_up = on.scale_up, .ports = 1, .reconfiguration = {}};
  if (spread == Spread::kBoth && !algorithm.uses_places()) on.rail.latency += on.scale_up.latency;
  return on;
}

CollectiveCall even(const CollectiveCall& call) {
  CollectiveCall copy = call;
  if (call.demand == nullptr) return copy;
  const double size = static_cast<double>(call.demand->busiest_port().count) * call.members / (call.members - 1);
  copy.size = {static_cast<std::int64_t>(size)};
  copy.demand = nullptr;
  return copy;
}

/// Returns true when an algorithm of the registry follows the links of the group's box.
bool boxed(const CollectiveRegistry& registry, const CollectiveCall& call) {
  if (call.box.empty() || call.demand != nullptr) return false;
  return std::any_of(registry.all().begin(), registry.all().end(), [&](const auto& algorithm) {
    return algorithm->follows_box() && algorithm->supports(call.op, call.members);
  });
}

CollectiveCandidate candidate(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, Spread spread,
                              const CostModel& on) {
  CollectiveCandidate found;
  found.algorithm = &algorithm;
  if (!algorithm.supports(call.op, call.members)) {
    found.problem = "not among " + core::counted(call.members, "member");
    return found;
  }
  if (call.demand != nullptr && !algorithm.takes_demand()) {
    found.problem = "sends even shares only";
    return found;
  }
  if (spread == Spread::kBoth && on.optical() && !algorithm.uses_places()) {
    found.problem = "its circuits are not known for a group over several servers and rails";
    return found;
  }
  std::optional<CollectiveCost> cost;
  try {
    cost = algorithm.cost(even(call), on);
  } catch (const ConfigError& error) {
    found.problem = error.problem();
    return found;
  }
  if (!cost) {
    found.problem = "has no cost formula";
    return found;
  }
  found.cost = *cost;
  if (on.optical() && cost->partners > on.ports) {
    found.problem = "wants circuits to " + core::counted(cost->partners, "member") + " at once, and a NIC has " +
                    core::counted(on.ports, "port");
    return found;
  }
  found.predicted = cost->total(on);
  return found;
}

bool does(const CollectiveAlgorithm& algorithm, CollectiveOp op, Member members) {
  // One that wants a power of two is named, with its problem.
  return algorithm.supports(op, members) || algorithm.supports(op, 2) || algorithm.supports(op, 8);
}

std::string time_text(double picoseconds) {
  const auto [scale, unit] = picoseconds < 1e6   ? std::pair{1e3, "ns"}
                             : picoseconds < 1e9 ? std::pair{1e6, "us"}
                                                 : std::pair{1e9, "ms"};
  return core::printed("%.4g ", picoseconds / scale) + unit;
}

}  // namespace

std::vector<CollectiveCandidate> rank_collectives(const CollectiveRegistry& registry, const CollectiveCall& call,
                                                  const CostModel& on) {
  const Spread spread = spread_of(call);
  const bool links = boxed(registry, call);
  std::vector<CollectiveCandidate> all;
  for (const auto& algorithm : registry.all()) {
    if (!does(*algorithm, call.op, call.members)) continue;
    all.push_back(candidate(*algorithm, call, spread, here(*algorithm, spread, on)));
    if (!links || algorithm->follows_box() || !all.back().problem.empty()) continue;
    all.back().problem = "its messages would share links of the torus, and how is not predicted";
  }
  std::stable_sort(all.begin(), all.end(), [](const CollectiveCandidate& a, const CollectiveCandidate& b) {
    if (a.problem.empty() != b.problem.empty()) return a.problem.empty();
    return a.predicted < b.predicted;
  });
  return all;
}

std::string describe(const CollectiveCandidate& candidate, const CostModel& on) {
  std::string text = std::string(candidate.algorithm->name()) + ": ";
  if (!candidate.problem.empty()) return text + candidate.problem;
  text += time_text(static_cast<double>(candidate.predicted.count()));
  if (!on.optical()) return text;
  const std::uint32_t sets = candidate.cost.circuits;
  return text + " (" + core::counted(sets, "set") + " of circuits, " + time_text(candidate.cost.picoseconds) +
         " without switching)";
}

const CollectiveAlgorithm* CollectiveSpec::find_own(std::string_view name) const {
  const auto found = std::find_if(own.begin(), own.end(), [&](const auto& a) { return a->name() == name; });
  return found == own.end() ? nullptr : found->get();
}

}  // namespace photonrail
