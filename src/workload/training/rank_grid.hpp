// Which rank is where in tp x cp x dp x pp, and which ranks form a group.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/training.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::workload {

/// Members at base + i x stride + j x outer_stride, in grid positions; REQUIRES: the base is the member with i = j = 0.
struct GroupShape {
  std::uint32_t stride = 1;
  std::uint32_t extent = 1;
  std::uint32_t outer_stride = 0;
  std::uint32_t outer_extent = 1;

  [[nodiscard]] std::uint32_t members() const { return extent * outer_extent; }
};

/// A grid position counts tp innermost, then cp, then dp, then pp, whatever the order of the rank numbers; the shapes of
/// all groups are strides in it. Of the positions of a stage, experts take etp innermost, then ep, then the rest.
class RankGrid {
 public:
  explicit RankGrid(const TrainingSpec& spec);

  [[nodiscard]] std::uint32_t stage_size() const { return shape_.tp * shape_.cp * shape_.dp; }
  [[nodiscard]] std::uint32_t positions() const { return stage_size() * shape_.pp; }
  [[nodiscard]] std::uint32_t stage(std::uint32_t position) const { return position / stage_size(); }
  [[nodiscard]] RankId rank(std::uint32_t position) const;

  /// Returns true when the position is the first member of its group.
  [[nodiscard]] static bool is_base(const GroupShape& group, std::uint32_t position) {
    return position / group.stride % group.extent == 0;
  }
  /// Positions, base first. REQUIRES: is_base(group, base).
  [[nodiscard]] static std::vector<std::uint32_t> members(const GroupShape& group, std::uint32_t base);
  /// The position `steps` further along the group's ring.
  [[nodiscard]] static std::uint32_t along(const GroupShape& ring, std::uint32_t position, std::uint32_t steps);

 private:
  ParallelismSpec shape_;
  std::uint32_t tp_stride_ = 1;
  std::uint32_t cp_stride_ = 1;
  std::uint32_t dp_stride_ = 1;
  std::uint32_t pp_stride_ = 1;
};

}  // namespace photonrail::workload
