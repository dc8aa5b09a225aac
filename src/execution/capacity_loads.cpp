#include "execution/capacity_loads.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::execution {

using fabric::Fabric;
using fabric::Place;

namespace {

// Returns the servers of each member, those of a folded group that no send leaves too.
std::vector<std::uint32_t> servers_of(const Operation& op, const Fabric& fabric) {
  std::vector<std::uint32_t> servers(op.gpus.size());
  for (std::size_t m = 0; m < servers.size(); ++m) servers[m] = op.gpus[m].value / fabric.spec().gpus_per_server;
  return servers;
}

bool all_differ(std::vector<std::uint32_t> servers) {
  std::sort(servers.begin(), servers.end());
  return std::adjacent_find(servers.begin(), servers.end()) == servers.end();
}

Bytes between_servers(const Operation& op, const Fabric& fabric) {
  const SendPlan& plan = op.plan();
  const std::vector<std::uint32_t> servers = servers_of(op, fabric);
  if (all_differ(servers)) return plan.wire_bytes();
  Bytes bytes{};
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    if (servers[send.from] != servers[send.to]) bytes += send.bytes;
  }
  return bytes;
}

std::vector<CapacityLoad> as_list(const std::map<Place, double>& loads) {
  std::vector<CapacityLoad> list;
  list.reserve(loads.size());
  for (const auto& [place, bytes] : loads) list.push_back({place, bytes});
  return list;
}

}  // namespace

std::vector<CapacityLoad> CapacityLoads::measure(const Operation& op, const Fabric& fabric) const {
  const SendPlan& plan = op.plan();
  std::map<Place, double> sum;
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    if (send.from == send.to) continue;
    fabric.places().each(op.gpus[send.from], op.gpus[send.to], [&](Place place) {
      if (remembers_ || place.is_uplink() || place.is_between_sites()) sum[place] += static_cast<double>(send.bytes.count);
    });
  }
  return as_list(sum);
}

CapacityLoads::Entry CapacityLoads::enter(const Operation& op, const Fabric& fabric) {
  Entry entry;
  if (op.crosses) entry.rail = between_servers(op, fabric);
  const bool shared = fabric.places().has_uplinks() || fabric.places().sites != nullptr;
  if (!remembers_ && !(op.crosses && shared)) return entry;
  std::vector<CapacityLoad> loads = measure(op, fabric);
  const double sent = static_cast<double>(op.plan().wire_bytes().count) / op.members();
  for (const CapacityLoad& load : loads) {
    if (load.place.is_uplink() && sent > 0.0)
      members_over_an_uplink_ = std::max(members_over_an_uplink_, load.bytes / sent);
  }
  if (op.demand != 0) {
    for (const CapacityLoad& load : loads) uneven_[load.place] += load.bytes;
    if (!remembers_) return entry;
  }
  loads_.push_back(std::move(loads));
  entry.loads = static_cast<std::uint32_t>(loads_.size() - 1);
  return entry;
}

Bytes CapacityLoads::count(const Operation& op, const Fabric& fabric) {
  if (!op.crosses && !remembers_) return {};
  Entry once;
  Entry* entry = &once;
  if (op.demand != 0) {
    once = enter(op, fabric);
  } else {
    const auto [at, fresh] = known_.try_emplace({op.runnable, op.key.communicator});
    if (fresh) at->second = enter(op, fabric);
    entry = &at->second;
  }
  ++entry->starts;
  if (remembers_) {
    loads_of_.resize(std::max<std::size_t>(loads_of_.size(), op.sequence + 1));
    loads_of_[op.sequence] = entry->loads;
  }
  return entry->rail;
}

const std::vector<CapacityLoad>& CapacityLoads::load_of(std::uint32_t sequence) const {
  PHOTONRAIL_CHECK(remembers_ && sequence < loads_of_.size());
  return loads_[loads_of_[sequence]];
}

std::vector<CapacityLoad> CapacityLoads::totals() const {
  std::map<Place, double> sum = uneven_;
  for (const auto& [key, entry] : known_) {
    for (const CapacityLoad& load : loads_[entry.loads]) sum[load.place] += load.bytes * static_cast<double>(entry.starts);
  }
  return as_list(sum);
}

}  // namespace photonrail::execution
