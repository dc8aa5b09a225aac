#include "control_plane/rail_circuits.hpp"

#include <algorithm>
#include <optional>

namespace photonrail::control_plane {

using fabric::Fabric;
using fabric::RailCrossing;

namespace {

using Parts = std::map<RailId, std::vector<PairTraffic>>;

void add_round(const Fabric& fabric, std::span<const GpuId> gpus, const execution::RunnablePlan& plan, std::uint32_t round,
               Parts& parts) {
  const std::vector<MemberPair> pairs = plan.plan->pairs(round);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const std::optional<RailCrossing> crossing = fabric.crossing(gpus[pairs[p].first], gpus[pairs[p].second]);
    if (!crossing) continue;
    const Bytes bytes = plan.pair_bytes.empty() ? Bytes{} : plan.pair_bytes[round][p];
    parts[crossing->rail].push_back({{crossing->from, crossing->to}, bytes});
  }
}

void add_all(const Fabric& fabric, std::span<const GpuId> gpus, Bytes each, Parts& parts) {
  for (const GpuId from : gpus) {
    for (const GpuId to : gpus) {
      const std::optional<RailCrossing> crossing = fabric.crossing(from, to);
      if (crossing) parts[crossing->rail].push_back({{crossing->from, crossing->to}, each});
    }
  }
}

std::map<RailId, RailCircuits> merged(Parts&& parts, bool bytes) {
  std::map<RailId, RailCircuits> rails;
  for (auto& [rail, list] : parts) {
    std::sort(list.begin(), list.end(), [](const PairTraffic& a, const PairTraffic& b) { return a.pair < b.pair; });
    RailCircuits& of = rails[rail];
    for (const PairTraffic& part : list) {
      const bool again = !of.pairs.empty() && of.pairs.back() == part.pair;
      if (!again) of.pairs.push_back(part.pair);
      if (!bytes) continue;
      if (!again) of.bytes.emplace_back();
      of.bytes.back().count += part.bytes.count;
    }
  }
  return rails;
}

}  // namespace

std::map<RailId, RailCircuits> rail_circuits(const Fabric& fabric, std::span<const GpuId> gpus,
                                             const execution::RunnablePlan& plan, std::uint32_t round) {
  Parts parts;
  add_round(fabric, gpus, plan, round, parts);
  return merged(std::move(parts), !plan.pair_bytes.empty());
}

std::map<RailId, RailCircuits> rail_circuits(const Fabric& fabric, std::span<const GpuId> gpus,
                                             const execution::RunnablePlan& plan) {
  Parts parts;
  for (std::uint32_t round = 0; round < plan.plan->rounds(); ++round) add_round(fabric, gpus, plan, round, parts);
  return merged(std::move(parts), !plan.pair_bytes.empty());
}

std::map<RailId, RailCircuits> drifting_circuits(const Fabric& fabric, std::span<const GpuId> gpus,
                                                 const execution::RunnablePlan& plan) {
  Parts parts;
  for (std::uint32_t round = 0; round < plan.plan->rounds(); ++round) add_round(fabric, gpus, plan, round, parts);
  add_all(fabric, gpus, Bytes{}, parts);
  return merged(std::move(parts), !plan.pair_bytes.empty());
}

std::map<RailId, RailCircuits> all_circuits(const Fabric& fabric, std::span<const GpuId> gpus, Bytes sent) {
  Parts parts;
  const Bytes share{gpus.size() < 2 ? 0 : sent.count / static_cast<std::int64_t>(gpus.size() - 1)};
  add_all(fabric, gpus, share, parts);
  return merged(std::move(parts), true);
}

}  // namespace photonrail::control_plane
