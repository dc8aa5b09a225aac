#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "photonrail/task_graph.hpp"

#include <algorithm>

namespace photonrail {

namespace {

constexpr std::array<std::string_view, kDimensionCount> kNames{"tp", "cp", "ep", "dp", "pp", "other", "kv", "refit"};

Dimension dimension_of(const Communicator& communicator, std::span<const GpuId> gpu_of_rank,
                       std::uint32_t gpus_per_server) {
  if (communicator.point_to_point) return Dimension::kPp;
  const GpuId first = gpu_of_rank[communicator.members.front().index()];
  bool one_server = true;
  bool one_rail = true;
  for (const RankId member : communicator.members) {
    const GpuId gpu = gpu_of_rank[member.index()];
    one_server = one_server && gpu.value / gpus_per_server == first.value / gpus_per_server;
    one_rail = one_rail && gpu.value % gpus_per_server == first.value % gpus_per_server;
  }
  if (one_server) return Dimension::kTp;
  return one_rail ? Dimension::kDp : Dimension::kOther;
}

}  // namespace

std::string_view name(Dimension d) { return kNames.at(static_cast<std::size_t>(d)); }

std::optional<Dimension> dimension_from(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Dimension>(found - kNames.begin());
}

void TaskGraph::infer_dimensions(std::span<const GpuId> gpu_of_rank, std::uint32_t gpus_per_server) {
  if (gpus_per_server == 0)
    throw core::FieldError(core::field("cluster.gpus_per_server"), "is 0", "a server has at least one GPU");
  if (gpu_of_rank.size() < ranks()) {
    throw core::FieldError(core::field("gpu_of_rank"), "places " + core::counted(gpu_of_rank.size(), "rank") +
                                                           ", but the job has " + std::to_string(ranks()));
  }
  for (Communicator& communicator : communicators_) {
    if (communicator.dimension == Dimension::kOther) {
      communicator.dimension = dimension_of(communicator, gpu_of_rank, gpus_per_server);
    }
  }
}

bool TaskGraph::set_dimension(std::string_view name, Dimension d) {
  bool found = false;
  for (Communicator& communicator : communicators_) {
    if (communicator.name != name) continue;
    communicator.dimension = d;
    found = true;
  }
  return found;
}

}  // namespace photonrail
