#include "run/foldable.hpp"

#include "fabric/uplinks.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace photonrail::run {

namespace {

const char* rail_problem(const RailSpec& rail) {
  const OpticalSwitchSpec& optical = rail.optical;
  if (optical.reconfiguration.kind != DelayDistribution::Kind::kConstant) {
    return "reconfiguration delays are drawn at random for each rail";
  }
  if (optical.darkness != DarkScope::kPorts) return "a switch that re-points is dark as a whole";
  if (optical.batching != Duration{} || optical.command_gap != Duration{}) return "commands wait for others at the switch";
  if (optical.pip) return "a switch that blocks joins some ports and not others";
  if (rail.pods.servers != 0) return "circuits between pods differ from those within one";
  return "";
}

const char* tier_problem(const ClusterSpec& cluster) {
  const PlantSpec plant = cluster.plant();
  if (plant.routes_uplinks()) return "messages take single uplinks, which equal ranks do not share alike";
  if (fabric::uplinks_bind(plant)) return "electrical rails of two tiers: messages share uplinks";
  const bool longer = plant.two_tier() && cluster.rail.tier_latency != Duration{};
  return longer ? "electrical rails of two tiers: messages between leaves take longer than others" : "";
}

const char* control_problem(const ControlPlaneSpec& control) {
  if (control.root_service != Duration{}) return "requests queue at the root one after another";
  if (!control.messages.reliable()) return "messages of the control plane are lost or late";
  if (!control.restarts.empty()) return "controllers are restarted";
  if (!control.shims.empty()) return "the shims of some ranks differ";
  return "";
}

// Pairs are served by the places of their ports, and forwarded over any: a rail must be shown as it is, with all its ports.
const char* pair_problem(const ClusterSpec& cluster, const PolicyNeeds& needs, std::size_t ranks, bool by_ranks) {
  if (!needs.by_pair() && needs.hops == 0) return "";
  if (by_ranks) return "the controller serves pairs one by one, or forwards";
  return ranks == cluster.gpus() ? "" : "the controller serves pairs one by one, or forwards, and some GPUs have no rank";
}

bool folds_ranks(const ControllerFactory& factory, bool rehearsal) {
  return factory.rank_symmetric || (rehearsal && factory.rehearse != nullptr);
}

}  // namespace

std::string why_not_foldable(const ClusterSpec& cluster, const ControllerSpec& controller, const ControllerFactory& factory,
                             std::size_t ranks, bool rehearsal) {
  if (!cluster.scale_up.shape.crossbar()) return "a torus or a ring inside the servers: messages share links on their way";
  if (!cluster.rail.faults.empty()) return "some ports fail, or are stuck or slow";
  if (cluster.nic.gpus > 1) return "GPUs share NICs";
  if (!cluster.sites.servers.empty()) return "messages between sites share their links";
  if (cluster.rail.kind == RailKind::kElectrical) {
    return tier_problem(cluster);
  }
  if (!folds_ranks(factory, rehearsal) && !factory.rail_symmetric)
    return "the controller may treat equal ranks differently";
  const PolicyNeeds needs = factory.needs_of(controller);
  if (const std::string problem = pair_problem(cluster, needs, ranks, folds_ranks(factory, rehearsal)); !problem.empty())
    return problem;
  if (const std::string problem = rail_problem(cluster.rail); !problem.empty()) return problem;
  if (const std::string problem = control_problem(controller.control); !problem.empty()) return problem;
  if (controller.service != Duration{0}) return "requests queue at the controller one after another";
  if (cluster.rail.forwarding) return "messages may be forwarded over other GPUs";
  if (cluster.rail.on_dark != OnDark::kError) return "circuits in use may be darkened";
  return "";
}

// No circuit of such a job leaves the pod, so that one switch has them all, as on a rail without pods.
ClusterSpec seen_by(const ClusterSpec& cluster, std::span<const GpuId> gpus) {
  ClusterSpec seen = cluster;
  PodSpec& pods = seen.rail.pods;
  if (pods.servers == 0 || gpus.empty()) return seen;
  const auto pod_of = [&](GpuId gpu) { return gpu.value / cluster.gpus_per_server / pods.servers; };
  const std::uint32_t pod = pod_of(gpus.front());
  if (std::all_of(gpus.begin(), gpus.end(), [&](GpuId gpu) { return pod_of(gpu) == pod; })) pods = {};
  return seen;
}

bool folds_whole_rails(const ClusterSpec& cluster, const ControllerFactory& factory, bool rehearsal) {
  return cluster.rail.kind == RailKind::kOptical && !folds_ranks(factory, rehearsal);
}

bool may_have_sheets(const ClusterSpec& cluster, const ControllerFactory& factory) {
  return factory.tells_sheets && cluster.rail.kind == RailKind::kOptical && cluster.nic.ports == 1 &&
         cluster.rail.planes == 1;
}

bool are_fixed(std::span<const StragglerSpec> stragglers) {
  return std::all_of(stragglers.begin(), stragglers.end(), [](const StragglerSpec& s) {
    const bool drawn = s.trace.empty() && s.delay.kind != DelayDistribution::Kind::kConstant;
    return !drawn && s.whom != StragglerSpec::Whom::kOneAtRandom;
  });
}

std::vector<StragglerSpec> gpu_speeds(const ClusterSpec& cluster, std::span<const GpuId> gpu_of_rank) {
  std::vector<StragglerSpec> speeds;
  const std::vector<std::uint32_t> number = cluster.unlike_of_gpus();
  for (std::uint32_t i = 0; i < cluster.unlike.size(); ++i) {
    if (cluster.unlike[i].gpu && cluster.unlike[i].speed == 1.0) continue;
    StragglerSpec ranks{.whom = StragglerSpec::Whom::kListed, .slowdown = 1.0 / cluster.unlike[i].speed};
    for (std::size_t r = 0; r < gpu_of_rank.size(); ++r) {
      if (number[gpu_of_rank[r].index()] == i + 1) ranks.ranks.emplace_back(r);
    }
    if (!ranks.ranks.empty()) speeds.push_back(std::move(ranks));
  }
  return speeds;
}

namespace {

// Ranks with equal labels have equal marks from now on.
void split_by(const std::vector<std::uint32_t>& marks, std::vector<std::uint32_t>& labels) {
  labels.resize(marks.size(), 0);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number;  // label so far, mark -> label
  for (std::size_t r = 0; r < marks.size(); ++r) {
    labels[r] = number.try_emplace({labels[r], marks[r]}, static_cast<std::uint32_t>(number.size())).first->second;
  }
}

}  // namespace

std::vector<std::uint32_t> straggler_labels(std::span<const StragglerSpec> stragglers, std::size_t ranks) {
  std::vector<std::uint32_t> labels;
  for (const StragglerSpec& straggler : stragglers) {
    if (straggler.whom != StragglerSpec::Whom::kListed) continue;
    std::vector<std::uint32_t> listed(ranks, 0);
    for (const RankId rank : straggler.ranks) listed[rank.index()] = 1;
    split_by(listed, labels);
  }
  return labels;
}

std::vector<std::uint32_t> with_gpu_models(std::span<const std::uint32_t> labels, const ClusterSpec& cluster,
                                           std::span<const GpuId> gpu_of_rank) {
  std::vector<std::uint32_t> refined(labels.begin(), labels.end());
  if (!cluster.has_other_models()) return refined;
  const std::vector<std::uint32_t> unlike = cluster.unlike_of_gpus();
  std::vector<std::uint32_t> models;
  for (const GpuId gpu : gpu_of_rank) {
    const std::uint32_t number = unlike[gpu.index()];
    models.push_back(number > 0 && cluster.unlike[number - 1].gpu ? number : 0);
  }
  split_by(models, refined);
  return refined;
}

std::vector<StragglerSpec> folded_stragglers(std::span<const StragglerSpec> stragglers,
                                             std::span<const std::uint32_t> class_of_rank) {
  std::vector<StragglerSpec> folded(stragglers.begin(), stragglers.end());
  for (StragglerSpec& straggler : folded) {
    for (RankId& rank : straggler.ranks) rank = RankId{class_of_rank[rank.index()]};
    std::sort(straggler.ranks.begin(), straggler.ranks.end());
    straggler.ranks.erase(std::unique(straggler.ranks.begin(), straggler.ranks.end()), straggler.ranks.end());
  }
  return folded;
}

}  // namespace photonrail::run
