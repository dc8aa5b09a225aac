// The cubes of a pod: what of each is idle, and a slice made of some of them.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace photonrail::slices {

/// A cube that a slice takes, and where in the cube its part begins.
struct CubeSlot {
  std::uint32_t cube = 0;
  Coordinates offset{};
};

class CubeMap {
 public:
  /// `pod` must outlive the map. REQUIRES: check_cubes().
  explicit CubeMap(const Pod& pod);

  [[nodiscard]] std::uint32_t size() const { return cubes_.size(); }  ///< cubes, in row-major order
  [[nodiscard]] std::uint32_t idle(std::uint32_t cube) const { return idle_[cube]; }
  /// All accelerators of the box of sides `part` from `from` are idle. REQUIRES: the box is inside the cube.
  [[nodiscard]] bool has(std::uint32_t cube, const Coordinates& from, const Coordinates& part) const;
  /// The slice of `shape` made of the cubes in `slots`, by position in the slice. `rest_first`: in that dimension the part
  /// of a cube comes before the whole ones.
  [[nodiscard]] Placement join(const Shape& shape, const std::vector<CubeSlot>& slots,
                               const std::array<bool, 3>& rest_first) const;

 private:
  [[nodiscard]] std::uint32_t accelerator(std::uint32_t cube, const Coordinates& local) const;

  const Pod* pod_;
  Coordinates edge_{};
  Shape cubes_{};
  std::vector<std::uint32_t> idle_;  // accelerators, by cube
};

}  // namespace photonrail::slices
