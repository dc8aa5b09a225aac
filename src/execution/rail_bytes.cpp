#include "execution/rail_bytes.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::execution {

using fabric::Fabric;

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

Bytes sum(const Operation& op, const Fabric& fabric) {
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

}  // namespace

Bytes RailBytes::of(const Operation& op, const Fabric& fabric) {
  if (!op.crosses) return {};
  if (op.demand != 0) return sum(op, fabric);
  const auto [at, fresh] = known_.try_emplace({op.runnable, op.key.communicator});
  if (fresh) at->second = sum(op, fabric);
  return at->second;
}

}  // namespace photonrail::execution
