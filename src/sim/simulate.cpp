#include "photonrail/simulate.hpp"

#include "photonrail/error.hpp"
#include "sim/control_plane.hpp"
#include "sim/executor.hpp"
#include "sim/operation.hpp"
#include "sim/plan_cache.hpp"
#include "sim/recorder.hpp"
#include "sim/straggling.hpp"
#include "sim/transfers.hpp"
#include "sim/watchers.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace photonrail {

namespace {

constexpr std::uint64_t kEventsBetweenProgress = 65536;

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// What a port could send while it is re-pointed.
Bytes reconfiguration_bytes(const ClusterSpec& cluster) {
  if (cluster.rail.kind != RailKind::kOptical) return {};
  const OpticalSwitchSpec& optical = cluster.rail.optical;
  const double seconds = to_seconds(optical.reconfiguration.typical() + optical.link_up);
  return {static_cast<std::int64_t>(std::min(seconds * cluster.nic.per_port.bytes_per_second, 1e18))};
}

// One run: builds the objects, lets the engine go, and reads the books.
class Simulation {
 public:
  Simulation(const Scenario& scenario, const ClusterSpec& cluster, const ControllerSpec& controller, const RunSpec& run,
             const Registries& registries, std::span<const StragglerSpec> stragglers, const Schedule* schedule,
             Schedule* profile, std::span<Observer* const> observers)
      : scenario_(scenario),
        watchers_(observers),
        fabric_(engine_, cluster, run.seed),
        plans_(scenario.collectives, run, registries.collectives, scenario.graph.demands(), reconfiguration_bytes(cluster)),
        operations_(scenario.graph, scenario.gpu_of_rank, fabric_, plans_),
        recorder_(scenario.graph.ranks()),
        straggling_(stragglers, scenario.graph.ranks(), run.seed),
        control_(engine_, fabric_, operations_, controller, registries.controllers.find(controller.name), watchers_),
        transfers_(engine_, fabric_, operations_, recorder_, straggling_),
        executor_(scenario.graph, scenario.executor, run.iterations,
                  {engine_, fabric_, operations_, transfers_, control_, recorder_, watchers_, straggling_},
                  controller.shim(), schedule, profile) {
    fabric_.attach(transfers_, control_);
    transfers_.attach(executor_);
  }

  void run() {
    watchers_.tell([this](Observer& observer) { observer.begin(scenario_); });
    control_.begin(transfers_);
    executor_.begin();
    while (engine_.run(kEventsBetweenProgress) > 0) {
      watchers_.tell([this](Observer& o) { o.progress(executor_.tasks_done(), executor_.tasks(), engine_.now()); });
    }
    if (!executor_.finished()) throw DeadlockError(executor_.stuck());
  }

  void report(RunResult& result) {
    const std::vector<Time>& ends = executor_.iteration_ends();
    const Time makespan = ends.back();
    recorder_.finish(makespan, result);
    for (std::size_t i = 0; i < ends.size(); ++i) result.iterations.push_back(ends[i] - (i > 0 ? ends[i - 1] : Time{0}));
    control_.summarize(result.reconfigurations);
    result.reconfigurations.critical_path = executor_.last_cause().reconfigurations;
    result.engine.events = engine_.events_run();
    result.engine.sends = fabric_.network().messages();
    watchers_.tell([makespan](Observer& observer) { observer.end(makespan); });
  }

 private:
  const Scenario& scenario_;
  Watchers watchers_;
  Engine engine_;
  Fabric fabric_;
  PlanCache plans_;
  Operations operations_;
  Recorder recorder_;
  Straggling straggling_;
  ControlPlane control_;
  Transfers transfers_;
  Executor executor_;
};

// The order in which each rank's rail operations start on electrical rails when nobody is late: what the shim's profiling
// run sees.
Schedule profile_order(const Scenario& scenario, const Registries& registries) {
  ClusterSpec cluster = scenario.cluster;
  cluster.rail = RailSpec{};
  cluster.rail.switch_radix = std::max(2u, cluster.plant().rail_ports());
  RunSpec run = scenario.run;
  run.iterations = 1;
  run.fidelity = Fidelity::kStream;
  Schedule order;
  Simulation(scenario, cluster, ControllerSpec{}, run, registries, {}, nullptr, &order, {}).run();
  return order;
}

}  // namespace

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers) {
  return simulate(scenario, observers, Registries{});
}

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers, const Registries& registries) {
  scenario.validate();
  const auto started = std::chrono::steady_clock::now();
  std::optional<Schedule> schedule;
  const ShimPolicy shim = scenario.controller.shim();
  if (scenario.cluster.rail.kind == RailKind::kOptical && (shim.announce || shim.scheduled)) {
    schedule = profile_order(scenario, registries);
  }
  Simulation simulation(scenario, scenario.cluster, scenario.controller, scenario.run, registries, scenario.stragglers,
                        schedule ? &*schedule : nullptr, nullptr, observers);
  simulation.run();
  RunResult result;
  result.name = scenario.name;
  result.seed = scenario.run.seed;
  result.warnings = scenario.graph.warnings();
  simulation.report(result);
  result.engine.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  result.engine.peak_rss_mb = peak_rss_mb();
  return result;
}

}  // namespace photonrail
