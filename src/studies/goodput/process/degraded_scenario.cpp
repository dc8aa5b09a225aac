// The step scenario of a configuration: what the step simulator can say of parts that are down.
#include "studies/goodput/process/step_times.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::goodput {

namespace {

core::FieldError in_section(const core::Field& field, const std::string& problem, const std::string& hint) {
  return core::FieldError(field, problem, hint).in(core::Field{"reliability", {}});
}

bool replicas_are_outermost(const TrainingSpec& training) {
  const ParallelismSpec& p = training.parallelism;
  for (auto at = training.order.rbegin(); at != training.order.rend(); ++at) {
    if (*at == "dp") return true;
    const std::uint32_t size = *at == "tp" ? p.tp : *at == "cp" ? p.cp : p.pp;
    if (size > 1) return false;
  }
  return false;
}

bool is_identity(const std::vector<GpuId>& gpu_of_rank) {
  for (std::size_t r = 0; r < gpu_of_rank.size(); ++r) {
    if (gpu_of_rank[r].value != r) return false;
  }
  return true;
}

// What is said of one server goes with the server; what is said of all servers stays.
template <class Faults>
void keep_faults(std::uint32_t servers, Faults& faults) {
  std::erase_if(faults, [&](const auto& fault) { return fault.server && *fault.server >= servers; });
}

template <class Specs>
void keep_ranks(std::size_t ranks, Specs& specs) {
  std::erase_if(specs, [&](auto& spec) {
    return std::erase_if(spec.ranks, [&](RankId rank) { return rank.index() >= ranks; }) > 0 && spec.ranks.empty();
  });
}

// Sites without servers go with their links, and with faults of links, whose numbers are others then.
void keep_sites(ClusterSpec& cluster) {
  SitesSpec& sites = cluster.sites;
  if (sites.servers.empty()) return;
  std::uint32_t left = cluster.servers;
  std::vector<std::uint32_t> servers;
  for (const std::uint32_t each : sites.servers) {
    if (left > 0) servers.push_back(std::min(each, left));
    left -= std::min(each, left);
  }
  const auto gone = [&](const SiteLink& link) { return std::max(link.a, link.b) >= servers.size(); };
  std::vector<std::uint32_t> number(sites.links.size());  // of each link among those that stay
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < sites.links.size(); ++i) number[i] = gone(sites.links[i]) ? ~0U : next++;
  std::erase_if(cluster.rail.faults, [&](PortFault& fault) {
    if (!fault.site_link) return false;
    fault.site_link = number[*fault.site_link];
    return *fault.site_link == ~0U;
  });
  std::erase_if(sites.links, gone);
  sites.servers = std::move(servers);
  if (sites.servers.size() == 1) sites = {};
}

// The last servers and ranks are gone, with everything that was said of them alone.
void keep_first(std::uint32_t servers, std::size_t ranks, Scenario& scenario) {
  ClusterSpec& cluster = scenario.cluster;
  cluster.servers = servers;
  scenario.gpu_of_rank.resize(ranks);
  scenario.storage_ranks = 0;
  keep_faults(servers, cluster.rail.faults);
  keep_sites(cluster);
  const std::uint32_t leaves = cluster.plant().two_tier() ? cluster.plant().leaves() : 0;
  std::erase_if(cluster.rail.faults, [leaves](const PortFault& fault) {
    return fault.of_uplinks() && (leaves == 0 || fault.leaf.value_or(0) >= leaves);
  });
  keep_faults(servers, cluster.scale_up.faults);
  std::erase_if(cluster.unlike, [&](UnlikeGpus& unlike) {
    std::erase_if(unlike.servers, [&](std::uint32_t server) { return server >= servers; });
    return unlike.servers.empty();
  });
  if (cluster.rail.pods.servers >= servers) cluster.rail.pods = {};  // one switch holds what is left
  keep_ranks(ranks, scenario.stragglers);
  keep_ranks(ranks, scenario.controller.control.shims);
  const std::uint32_t gpus = servers * cluster.gpus_per_server;
  std::erase_if(scenario.controller.circuits,
                [&](const StaticCircuit& circuit) { return circuit.from.value >= gpus || circuit.to.value >= gpus; });
}

// The same work in each of the replicas that are left, the first ones: data parallelism and the global batch shrink
// together.
void drop_replicas(const GoodputSpec& spec, const std::optional<TrainingSpec>& training, std::uint32_t dropped,
                   Scenario& scenario) {
  const auto refuse = [](const std::string& why) {
    throw in_section(core::field("recovery"), "replicas cannot be dropped: " + why, "remove the option \"drop_replica\"");
  };
  if (!training) refuse("the workload is no \"training\" section");
  if (!replicas_are_outermost(*training))
    refuse("dp must be the outermost dimension of the placement, the last of its \"order\"");
  if (!is_identity(scenario.gpu_of_rank)) refuse("ranks are placed on GPUs one by one");
  TrainingSpec smaller = *training;
  const std::uint32_t left = spec.job.replicas - dropped;
  if (smaller.parallelism.dp % spec.job.replicas != 0) refuse("the number of replicas does not divide dp");
  smaller.parallelism.dp = smaller.parallelism.dp / spec.job.replicas * left;
  const std::uint64_t batch = std::uint64_t{smaller.global_batch} * left;
  if (batch % spec.job.replicas != 0) refuse("the global batch is no multiple of the replicas");
  smaller.global_batch = static_cast<std::uint32_t>(batch / spec.job.replicas);
  if (!smaller.operators_of_ranks.empty()) smaller.operators_of_ranks.resize(smaller.parallelism.ranks());  // the first
  if (smaller.parallelism.dp == 1) smaller.parallelism.fsdp = smaller.parallelism.zero1 = false;
  try {
    scenario.graph = make_training_graph(smaller);
  } catch (const ConfigError& error) {
    refuse("with " + std::to_string(left) + " of " + std::to_string(spec.job.replicas) + " left, " + error.where() + " " +
           error.problem());
  }
  keep_first(spec.job.servers / spec.job.replicas * left, scenario.graph.ranks(), scenario);
  scenario.memory.clear();
  scenario.work.reset();
}

void slow_gpu(std::uint32_t gpu, double factor, Scenario& scenario) {
  const auto rank =
      std::find_if(scenario.gpu_of_rank.begin(), scenario.gpu_of_rank.end(), [&](GpuId g) { return g.value == gpu; });
  if (rank == scenario.gpu_of_rank.end()) return;  // the job does not use it
  StragglerSpec straggler;
  straggler.whom = StragglerSpec::Whom::kListed;
  straggler.ranks = {RankId{static_cast<std::size_t>(rank - scenario.gpu_of_rank.begin())}};
  straggler.slowdown = factor;
  scenario.stragglers.push_back(straggler);
}

// One straggler of all GPUs at that place of each replica that is left: the place's servers of the others are as slow.
void slow_stage(const GoodputSpec& spec, std::uint32_t place, double factor, Scenario& scenario) {
  const std::uint32_t of_replica = spec.job.servers / spec.job.replicas;
  StragglerSpec straggler;
  straggler.whom = StragglerSpec::Whom::kListed;
  for (std::size_t r = 0; r < scenario.gpu_of_rank.size(); ++r) {
    const std::uint32_t server = scenario.gpu_of_rank[r].value / scenario.cluster.gpus_per_server;
    if (server % of_replica == place) straggler.ranks.push_back(RankId{r});
  }
  if (straggler.ranks.empty()) return;  // the job does not use them
  straggler.slowdown = factor;
  scenario.stragglers.push_back(straggler);
}

// Of the rails that a degradation is about, only some kinds can be simulated with it.
void require_rails(const GoodputSpec& spec, std::uint32_t source, const ClusterSpec& cluster) {
  const bool optical = cluster.rail.kind == RailKind::kOptical;
  const auto refuse = [&](const char* what) {
    throw in_section(core::field("failures[].degradation", source), std::string(what) + " cannot be simulated",
                     "take \"uplinks\" or \"nic_rate\", or let the failure stop the job");
  };
  const Degradation degradation = spec.failures[source].degradation;
  if (degradation == Degradation::kPort && !optical) refuse("dark ports of electrical rails");
  if (degradation == Degradation::kPlane && !optical) refuse("dark planes of electrical rails");
  if (degradation == Degradation::kUplinks && optical) refuse("uplinks of optical rails");
}

void darken(std::optional<std::uint32_t> server, std::uint32_t rail, std::uint32_t port, Scenario& scenario) {
  PortFault fault;
  fault.rail = RailId{rail};
  fault.server = server;
  fault.port = port;
  scenario.cluster.rail.faults.push_back(fault);
}

void degrade(const GoodputSpec& spec, const DegradedPart& part, Scenario& scenario) {
  require_rails(spec, part.source, scenario.cluster);
  const FailureSource& source = spec.failures[part.source];
  ClusterSpec& cluster = scenario.cluster;
  const std::uint32_t server = part.replica * (spec.job.servers / spec.job.replicas) + part.place;
  const std::uint32_t each = std::max(1U, source.per_server / cluster.gpus_per_server);
  switch (source.degradation) {
    case Degradation::kNone:
      return;
    case Degradation::kCompute:
      return slow_gpu(server * cluster.gpus_per_server + part.local / each, source.factor, scenario);
    case Degradation::kStageCompute:
      return slow_stage(spec, part.place, source.factor, scenario);
    case Degradation::kPort:
      return darken(server, part.local / each, part.local % each, scenario);
    case Degradation::kPlane: {
      const std::uint32_t planes = cluster.rail.planes;
      for (std::uint32_t p = part.place % planes; p < cluster.nic.ports; p += planes) {
        darken(std::nullopt, part.place / planes % cluster.gpus_per_server, p, scenario);
      }
      return;
    }
    case Degradation::kUplinks:
      cluster.rail.oversubscription *= source.factor;
      for (Bandwidth& rate : cluster.rail.uplinks.rates) rate.bytes_per_second /= source.factor;
      return;
    case Degradation::kNicRate:
      cluster.nic.per_port.bytes_per_second /= source.factor;
      return;
  }
}

}  // namespace

Scenario degraded_scenario(const GoodputSpec& spec, const Scenario& healthy, const std::optional<TrainingSpec>& training,
                           const Configuration& configuration) {
  if (!healthy.jobs.empty()) throw ConfigError("jobs", "goodput is of one job", "remove all but one");
  Scenario scenario = healthy;
  scenario.run.spread_seeds.reset();  // the step of one seed is what the months are made of
  if (configuration.dropped > 0) drop_replicas(spec, training, configuration.dropped, scenario);
  for (const DegradedPart& part : configuration.parts) degrade(spec, part, scenario);
  return scenario;
}

void check_degraded(const GoodputSpec& spec, const Scenario& healthy, const std::optional<TrainingSpec>& training) {
  for (std::uint32_t source = 0; source < spec.failures.size(); ++source) require_rails(spec, source, healthy.cluster);
  const auto drops = [](const RecoveryOption& option) { return option.action == RecoveryAction::kDropReplica; };
  if (spec.job.replicas <= spec.job.min_replicas || std::none_of(spec.recovery.begin(), spec.recovery.end(), drops)) return;
  static_cast<void>(degraded_scenario(spec, healthy, training, Configuration{1, {}}));
}

}  // namespace photonrail::goodput
