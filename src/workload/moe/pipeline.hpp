// One layer of a mixture of experts as one plan.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/workload/moe.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace photonrail::workload {

/// The tiles of one row of them: how many in each matrix, and the FLOPs of one.
struct TileRow {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  double first_flops = 0.0;
  double second_flops = 0.0;
};
[[nodiscard]] TileRow tile_row(const MoeLayerSpec& spec);

/// Rows of tiles for the tokens of one message; the last may be short, and takes as long.
[[nodiscard]] std::uint32_t tile_rows(const MoeLayerSpec& spec, std::uint64_t tokens);

/// `servers`: of each member.
[[nodiscard]] std::unique_ptr<const SendPlan> plan_pipeline(const MoeLayerSpec& spec, const Routing& routing,
                                                            std::span<const std::uint32_t> servers);

}  // namespace photonrail::workload
