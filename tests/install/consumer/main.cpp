// Uses the library from outside: a scenario built in code, a collective and a controller of its own, a PipSwitch,
// ASTRA-sim's rules.
#include "photonrail/formats/astra.hpp"
#include "photonrail/pip/pip_switch.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/tiny_job.hpp"

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pr = photonrail;
using namespace std::chrono_literals;

namespace {

/// Broadcast along a chain: each member passes the message on when it has it.
class Chain : public pr::CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "chain"; }
  std::string_view summary() const override { return "broadcast from member to member"; }
  bool supports(pr::CollectiveOp op, pr::Member) const override { return op == pr::CollectiveOp::kBroadcast; }
  std::unique_ptr<const pr::SendPlan> expand(const pr::CollectiveCall& call) const override {
    pr::SendPlanBuilder plan(call.members, 1);
    std::vector<pr::SendIndex> before;
    for (pr::Member i = 0; i + 1 < call.members; ++i) {
      const auto member = [&](pr::Member distance) { return (call.root + distance) % call.members; };
      before = {plan.add({.from = member(i), .to = member(i + 1), .bytes = call.size}, before)};
    }
    return std::move(plan).build();
  }
};

/// Serves the first demand that all members asked for and whose fibres are free.
class FirstComeFirstServed : public pr::Controller {
 public:
  pr::Decision decide(const pr::FabricView& view) override {
    for (const auto& demand : view.requests) {
      if (!demand.all_asked()) continue;
      pr::CircuitPlan plan;
      bool free = true;
      for (const auto& pair : demand.pairs) {
        if (view.circuits(pair) > 0) continue;
        const pr::PortId from = view.port(pair.from, 0);
        const pr::PortId to = view.port(pair.to, 0);
        const pr::PortId holder = view.receive[to.index()];
        free = free && !view.transmit[from.index()].in_use;
        free = free && (holder.is_none() || !view.transmit[holder.index()].in_use);
        plan.connect.push_back({from, to});
      }
      if (free && !plan.connect.empty()) return plan;
    }
    return std::nullopt;
  }
};

/// Four servers of one GPU with a 50 GB/s port, no latencies: compute for 1 ms, then one collective over all.
pr::Scenario scenario(pr::CollectiveOp op, pr::Bytes size) {
  pr::TaskGraphBuilder graph(4);
  const auto group =
      graph.add_communicator("all", {pr::RankId{0}, pr::RankId{1}, pr::RankId{2}, pr::RankId{3}}, pr::Dimension::kDp);
  const auto program = graph.add_program();
  const std::vector<pr::TaskId> compute{graph.add_delay(program, 1ms, "compute")};
  graph.add_collective(program, 0, op, size, "exchange", compute);

  pr::Scenario s;
  s.cluster.servers = 4;
  for (std::uint32_t r = 0; r < 4; ++r) {
    graph.assign(pr::RankId{r}, program, {group});
    s.gpu_of_rank.push_back(pr::GpuId{r});
  }
  s.graph = std::move(graph).build();
  s.run.fidelity = pr::Fidelity::kExact;
  return s;
}

pr::Scenario on_optical_rails(pr::Scenario s) {
  s.cluster.rail.kind = pr::RailKind::kOptical;
  s.cluster.rail.optical.reconfiguration = pr::DelayDistribution::constant(10ms);
  s.controller.name = "first_come_first_served";
  return s;
}

pr::Registries registries() {
  pr::Registries r;
  r.collectives.add(std::make_unique<Chain>());
  r.controllers.add(
      {"first_come_first_served", "one demand after another",
       [](const pr::ControllerSpec&, pr::RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<pr::Controller> {
         return std::make_unique<FirstComeFirstServed>();
       }});
  return r;
}

/// Runs it twice: the makespan must be what was derived, and the two histories must be one.
bool check(std::string_view what, const pr::Scenario& s, pr::Duration expected) {
  pr::testing::HistoryHash first;
  pr::testing::HistoryHash second;
  const std::vector<pr::Observer*> observers{&first};
  const std::vector<pr::Observer*> again{&second};
  const auto result = pr::simulate(s, observers, registries());
  const bool same = pr::simulate(s, again, registries()).makespan == result.makespan && first.value() == second.value();
  std::cout << what << ": " << result.makespan.count() << " ps, expected " << expected.count()
            << (same ? "" : ", and another history the second time") << '\n';
  return same && first.events() > 0 && result.makespan == expected;
}

/// Four ports on a mesh of 2 x 2 hexagons: six pairs need three matchings of two, and light goes where their routes say.
bool check_pip() {
  const pr::pip::PipMesh mesh(2, 2, 4);
  const pr::pip::PipCover cover = pr::pip::cover_all_pairs(mesh);
  const std::string fault = pr::pip::fault_of(mesh, cover);
  std::cout << "PipSwitch: " << cover.matchings.size() << " matchings, expected 3 " << fault << '\n';
  return cover.matchings.size() == 3 && fault.empty();
}

/// A reduce-scatter of 2 GiB between two GPUs on a link of 1 GiB/s and no latency: each sends half of it, in a second.
bool check_astra() {
  pr::AnalyticalJob job;
  job.network = {{pr::AnalyticalShape::kRing, 2, 1.0, 0.0}};
  job.system.endpoint_delay_ns = 0;
  job.system.memory_gb_per_s = 1e6;
  job.system.reduce_scatter = {{.algorithm = pr::AnalyticalAlgorithm::kRing}};
  pr::AnalyticalTask task;
  task.kind = pr::AnalyticalTask::Kind::kCollective;
  task.op = pr::CollectiveOp::kReduceScatter;
  task.bytes = 2ULL << 30U;
  job.ranks.assign(2, {task});
  const auto result = pr::simulate_analytical(job, pr::AnalyticalBackend::kCongestionUnaware);
  std::cout << "ASTRA-sim's rules: " << pr::astra_log(result);
  return result.finish_ns.front() >= 1'000'000'000 && result.finish_ns.front() < 1'100'000'000;
}

}  // namespace

int main() {
  bool good = true;
  // Ring all-reduce of 400 MB over 4: 2 x 3 steps of 100 MB at 50 GB/s = 6 x 2 ms; 1 ms of compute before.
  const auto ring = scenario(pr::CollectiveOp::kAllReduce, pr::Bytes{400'000'000});
  good = check("ring all-reduce, electrical rail", ring, 13ms) && good;
  // The same on circuits that have to be set first: 10 ms more.
  good = check("ring all-reduce, own controller", on_optical_rails(ring), 23ms) && good;
  // Chain of 3 sends of 100 MB: 3 x 2 ms; 1 ms of compute before.
  auto chain = scenario(pr::CollectiveOp::kBroadcast, pr::Bytes{100'000'000});
  chain.collectives.algorithm[static_cast<int>(pr::CollectiveOp::kBroadcast)] = "chain";
  good = check("own broadcast, electrical rail", chain, 7ms) && good;
  good = check("own broadcast, own controller", on_optical_rails(chain), 17ms) && good;
  good = check_pip() && good;
  good = check_astra() && good;
  return good ? 0 : 1;
}
