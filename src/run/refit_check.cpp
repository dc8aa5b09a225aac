#include "run/refit_check.hpp"

#include "collective/refit/refit.hpp"
#include "core/counted.hpp"
#include "core/field.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail::run {

namespace {

/// The most circuits of a round that begin or end at one NIC. A message to another server leaves through the NIC on the
/// receiver's rail.
std::size_t widest_round(const SendPlan& plan, std::span<const GpuId> gpus, std::uint32_t gpus_per_server) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::set<std::uint32_t>> ends;
  std::size_t most = 0;
  const auto end = [&](std::uint32_t round, std::uint32_t rail, std::uint32_t server, bool out, std::uint32_t other) {
    std::set<std::uint32_t>& others = ends[{round, rail, server, out}];
    others.insert(other);
    most = std::max(most, others.size());
  };
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    const std::uint32_t from = gpus[send.from].value / gpus_per_server;
    const std::uint32_t to = gpus[send.to].value / gpus_per_server;
    if (from == to) continue;
    const std::uint32_t rail = gpus[send.to].value % gpus_per_server;
    end(send.round, rail, from, true, to);
    end(send.round, rail, to, false, from);
  }
  return most;
}

}  // namespace

void check_refit(const Scenario& scenario, const Registries& registries) {
  const auto* refit = dynamic_cast<const collective::RefitTraffic*>(scenario.graph.demands());
  if (refit == nullptr || scenario.cluster.rail.kind != RailKind::kOptical) return;
  const ControllerFactory& policy = registries.controllers.find(scenario.controller.name);
  if (policy.bound || policy.needs_of(scenario.controller).by_pair()) return;
  const std::span<const GpuId> gpus = std::span(scenario.gpu_of_rank).first(refit->spec().members());
  std::vector<std::uint32_t> servers;
  for (const GpuId gpu : gpus) servers.push_back(gpu.value / scenario.cluster.gpus_per_server);
  const std::size_t wanted =
      widest_round(*collective::plan_refit(refit->spec(), servers).plan, gpus, scenario.cluster.gpus_per_server);
  core::require(wanted <= scenario.cluster.nic.ports, core::field("graph"),
                "the refit wants " + core::counted(wanted, "circuit") + " at once of a NIC, which has " +
                    core::counted(scenario.cluster.nic.ports, "port"),
                "\"by\": \"sharded_matchings\" or \"ring_per_rail\", more {cluster.nic.ports}, or a controller that serves "
                "pairs one by one");
}

}  // namespace photonrail::run
