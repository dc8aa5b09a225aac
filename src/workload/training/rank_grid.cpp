#include "workload/training/rank_grid.hpp"

#include <string>

namespace photonrail::workload {

RankGrid::RankGrid(const TrainingSpec& spec) : shape_(spec.parallelism) {
  std::uint32_t stride = 1;
  for (const std::string& dimension : spec.order) {
    if (dimension == "tp") {
      tp_stride_ = stride;
      stride *= shape_.tp;
    } else if (dimension == "cp") {
      cp_stride_ = stride;
      stride *= shape_.cp;
    } else if (dimension == "dp") {
      dp_stride_ = stride;
      stride *= shape_.dp;
    } else {
      pp_stride_ = stride;
      stride *= shape_.pp;
    }
  }
}

RankId RankGrid::rank(std::uint32_t position) const {
  const std::uint32_t tp = position % shape_.tp;
  const std::uint32_t cp = position / shape_.tp % shape_.cp;
  const std::uint32_t dp = position / (shape_.tp * shape_.cp) % shape_.dp;
  const std::uint32_t pp = position / stage_size();
  return RankId{std::size_t{tp} * tp_stride_ + std::size_t{cp} * cp_stride_ + std::size_t{dp} * dp_stride_ +
                std::size_t{pp} * pp_stride_};
}

std::vector<std::uint32_t> RankGrid::members(const GroupShape& group, std::uint32_t base) {
  std::vector<std::uint32_t> positions;
  positions.reserve(group.members());
  for (std::uint32_t j = 0; j < group.outer_extent; ++j) {
    for (std::uint32_t i = 0; i < group.extent; ++i) positions.push_back(base + i * group.stride + j * group.outer_stride);
  }
  return positions;
}

std::uint32_t RankGrid::along(const GroupShape& ring, std::uint32_t position, std::uint32_t steps) {
  const std::uint32_t at = position / ring.stride % ring.extent;
  return position + ((at + steps) % ring.extent) * ring.stride - at * ring.stride;
}

}  // namespace photonrail::workload
