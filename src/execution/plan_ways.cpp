#include "execution/plan_ways.hpp"

#include "execution/transfers.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::execution {

using fabric::Fabric;
using network::Network;
using network::Path;

namespace {

bool same_capacities(const Path& a, const Path& b) {
  return a.parts == b.parts && std::equal(a.hops().begin(), a.hops().end(), b.hops().begin(), b.hops().end());
}

bool start_alike(const SendPlan& plan) {
  if (plan.initial_sends() != plan.send_count() || plan.send_count() > Network::kMaxParts) return false;
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    if (send.from == send.to || send.ordered || send.bytes != plan.send(0).bytes) return false;
  }
  return plan.send_count() > 0;
}

bool none_twice(std::vector<network::CapacityId> capacities) {
  std::sort(capacities.begin(), capacities.end());
  return std::adjacent_find(capacities.begin(), capacities.end()) == capacities.end();
}

// parts = 0: not all of them have the same number of capacities, latency and overhead, or two share a capacity.
Path joined(const std::vector<Path>& ways) {
  Path path;
  path.parts = 0;
  for (const Path& way : ways) {
    const bool alike = way.hops().size() == ways.front().hops().size() && way.latency == ways.front().latency &&
                       way.overhead == ways.front().overhead;
    if (!alike) return path;
    for (const network::CapacityId capacity : way.hops()) path.add(capacity);
  }
  if (!none_twice({path.hops().begin(), path.hops().end()})) return path;
  path.latency = ways.front().latency;
  path.overhead = ways.front().overhead;
  path.parts = static_cast<std::uint32_t>(ways.size());
  return path;
}

}  // namespace

std::optional<PlanWays::Ways> PlanWays::of(const Operation& op, Fabric& fabric) {
  const bool lasting = op.runnable->stream && !op.optical && op.demand == 0 && fabric.plant().grid() == nullptr;
  if (!lasting || !op.complete() || fabric.shared().uplink_routes() != nullptr) return std::nullopt;
  if (known_.size() <= op.key.communicator.index()) known_.resize(op.key.communicator.index() + 1);
  std::vector<Way>& ways = known_[op.key.communicator.index()];
  auto way = std::find_if(ways.begin(), ways.end(), [&](const Way& w) { return w.plan == op.runnable; });
  if (way == ways.end()) {
    way = ways.insert(ways.end(), Way{op.runnable, {}, {}});
    find(op, fabric, *way);
    way->first = first_of(ways, way->path);
  }
  if (way->path.parts == 0) return std::nullopt;
  const Ways found{way->path, ways[way->first].standing};
  const Bandwidth rate = fabric.network().rate_of_parts(way->path, found.standing);
  if (rate.bytes_per_second != way->rate.bytes_per_second) {
    const Path before = std::move(way->path);
    find(op, fabric, *way);
    if (!same_capacities(before, way->path)) way->path.parts = 0;
  }
  if (way->path.parts == 0 || way->rate.bytes_per_second <= 0.0) return std::nullopt;
  return found;
}

std::size_t PlanWays::first_of(const std::vector<Way>& ways, const Path& path) {
  const auto same = [&](const Way& way) { return same_capacities(way.path, path); };
  return static_cast<std::size_t>(std::find_if(ways.begin(), ways.end(), same) - ways.begin());
}

void PlanWays::find(const Operation& op, Fabric& fabric, Way& way) {
  way.path.parts = 0;
  if (!start_alike(op.plan())) return;
  std::vector<Path> ways;
  for (SendIndex i = 0; i < op.plan().send_count(); ++i) {
    const Send send = op.plan().send(i);
    ways.push_back(way_of(fabric, op, {send.from, send.to}).path);
  }
  way.path = joined(ways);
  if (way.path.parts > 0) way.rate = fabric.network().rate_of_parts(way.path);
}

}  // namespace photonrail::execution
