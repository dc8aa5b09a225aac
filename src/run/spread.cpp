// The spread says how far the makespans of a run lie apart under other seeds.
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/workload/moe.hpp"
#include "run/foldable.hpp"
#include "run/rehearsals.hpp"
#include "run/rl_workload.hpp"
#include "run/served_workload.hpp"
#include "run/shared_cluster.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace photonrail {

namespace {

bool routes_at_random(const MoeTraffic& moe) {
  const RouterSpec& router = moe.spec().router;
  const bool layers = router.kind == RouterKind::kZipf && router.fresh_layers;
  return layers || router.kind == RouterKind::kDirichlet || router.layer_drift > 0.0 || moe.drifts();
}

// Matrices that are written down, and routers whose popularities are, are the same under every seed.
bool traffic_draws(const TrafficSource* traffic) {
  if (traffic == nullptr || dynamic_cast<const DemandTable*>(traffic) != nullptr) return false;
  if (const auto* moe = dynamic_cast<const MoeTraffic*>(traffic)) return routes_at_random(*moe);
  if (const auto* layers = dynamic_cast<const MoeLayers*>(traffic)) return routes_at_random(layers->traffic());
  return true;
}

bool job_draws(const JobSpec& job, bool optical) {
  const MessageSpec& messages = job.controller.control.messages;
  if (const auto* const served = run::ServedWorkload::of(job); served != nullptr && served->draws()) return true;
  if (dynamic_cast<const run::RlWorkload*>(job.workload.get()) != nullptr) return true;
  const bool messages_draw = messages.loss > 0.0 || messages.delay.kind != DelayDistribution::Kind::kConstant;
  return !run::are_fixed(job.stragglers) || traffic_draws(job.graph.demands()) || (optical && messages_draw);
}

// Job j of several keeps its distance from the seed of the whole.
void run_jobs_with(std::uint64_t seed, const Scenario& scenario, const Registries& registries, RunResult& result) {
  Scenario other = scenario;
  other.run.seed = seed;
  for (JobSpec& job : other.jobs) job.run.seed = seed + (job.run.seed - scenario.run.seed);
  run::run_jobs(other, {}, registries, result);
}

// None: the run cannot finish under this seed.
std::optional<Duration> makespan_with(std::uint64_t seed, const Scenario& scenario, const Registries& registries) {
  RunResult result;
  try {
    if (scenario.jobs.empty()) {
      RunSpec run = scenario.run;
      run.seed = seed;
      run::run_job({scenario, registries, run}, result);
    } else {
      run_jobs_with(seed, scenario, registries, result);
    }
  } catch (const DeadlockError&) {
    return std::nullopt;
  } catch (const ControllerError&) {
    return std::nullopt;
  }
  return result.makespan;
}

}  // namespace

bool draws_of_seed(const Scenario& scenario) {
  const RailSpec& rail = scenario.cluster.rail;
  const bool optical = rail.kind == RailKind::kOptical;
  if (optical && rail.optical.reconfiguration.kind != DelayDistribution::Kind::kConstant) return true;
  if (scenario.cluster.plant().routes_uplinks() && rail.uplinks.routing == UplinkRouting::kHash) return true;
  if (scenario.jobs.empty()) return job_draws(scenario, optical);
  return std::any_of(scenario.jobs.begin(), scenario.jobs.end(),
                     [optical](const JobSpec& job) { return job_draws(job, optical); });
}

void add_spread(const Scenario& scenario, std::uint32_t seeds, const Registries& registries, RunResult& result) {
  if (seeds < 2 || !draws_of_seed(scenario)) return;
  std::vector<Duration> makespans{result.makespan};
  for (std::uint32_t i = 1; i < seeds; ++i) {
    const auto makespan = makespan_with(repeated_seed(scenario.run.seed, i), scenario, registries);
    if (makespan) makespans.push_back(*makespan);
  }
  std::sort(makespans.begin(), makespans.end());
  const auto finished = static_cast<std::uint32_t>(makespans.size());
  result.spread = {seeds, seeds - finished, makespans.front(), makespans[(finished - 1) / 2], makespans.back()};
}

}  // namespace photonrail
