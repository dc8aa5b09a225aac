// The links of a scale-up shape inside one server, and the way of a message over them: the shortest, dimension by
// dimension.
//
// Ties, half-way around an even side: an even coordinate goes up and an odd one down, so that both directions carry the
// same. In a twisted torus the shortest displacements are found once for each difference of positions, and equally short
// ones take turns by the sum of the sender's coordinates.
#pragma once

#include "photonrail/cluster/scale_up.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::topology {

/// A directed link: the slot-th that leaves a GPU. Slot 2 d goes up in dimension d, slot 2 d + 1 down.
struct GridLink {
  std::uint32_t from = 0;  ///< local index
  std::uint32_t slot = 0;
  bool face = false;  ///< an optical switch joins its ends
};

/// A group that fills a box of the grid: its sides of 2 cells or more.
struct GridBox {
  std::vector<std::uint32_t> cells{};
  std::vector<std::uint32_t> closing{};  ///< links from the last cell of a line to its first
  std::vector<std::uint32_t> members{};  ///< by cell in row-major order: index in the group
};

class LinkGrid {
 public:
  /// REQUIRES: the shape is no crossbar and has no problem().
  LinkGrid(const ScaleUpShape& shape, std::uint32_t gpus);

  /// Which field of a ClusterSpec is wrong, and why.
  struct Problem {
    const char* field = "";
    std::string text{};
    std::string hint{};
  };
  /// nullopt: a server of so many GPUs can have the shape.
  [[nodiscard]] static std::optional<Problem> problem(const ScaleUpShape& shape, std::uint32_t gpus);

  /// Slots of a GPU: two a dimension. Some have no link.
  [[nodiscard]] std::uint32_t slots() const { return 2 * dimensions_; }
  /// The GPU that a slot's link leads to; nullopt: there is no link.
  [[nodiscard]] std::optional<std::uint32_t> neighbour(std::uint32_t local, std::uint32_t slot) const;
  [[nodiscard]] std::uint32_t degree(std::uint32_t local) const;
  /// Rate of a slot's link where a shape has `per_gpu` (ScaleUpSpec::per_gpu); 0 without a link.
  [[nodiscard]] Bandwidth rate(std::uint32_t local, std::uint32_t slot, Bandwidth per_gpu) const;

  /// Returns true when the ring goes through the GPU; every GPU of a torus.
  [[nodiscard]] bool has(std::uint32_t local) const { return cell_of_.empty() || cell_of_[local] != kNone; }

  /// Calls visit(GridLink) for each link of the way. REQUIRES: from != to, and has() both.
  template <class Visit>
  void route(std::uint32_t from, std::uint32_t to, Visit&& visit) const {
    if (!next_slot_.empty()) return follow(from, to, visit);
    Cell at = cell(from);
    const Steps steps = displacement(at, cell(to));
    for (std::uint32_t d = 0; d < dimensions_; ++d) {
      const bool up = steps[d] > 0;
      for (std::int32_t left = up ? steps[d] : -steps[d]; left > 0; --left) {
        visit(GridLink{local(at), 2 * d + (up ? 0 : 1), is_face(at, d, up)});
        step(at, d, up);
      }
    }
  }

  /// Returns true when an optical switch joins the ends of a slot's link. REQUIRES: has(local).
  [[nodiscard]] bool is_face(std::uint32_t local, std::uint32_t slot) const {
    return is_face(cell(local), slot / 2, slot % 2 == 0);
  }
  /// The links of a fault, in both directions. REQUIRES: it has no problem().
  [[nodiscard]] std::vector<GridLink> links_of(const ScaleUpFault& fault) const;
  /// nullopt: the grid has what the fault names.
  [[nodiscard]] std::optional<Problem> problem(const ScaleUpFault& fault) const;

  /// The group as a box, if it is one: lines of any length in each dimension, no twist. `locals`: by member.
  [[nodiscard]] std::optional<GridBox> box_of(std::span<const std::uint32_t> locals) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using Cell = std::array<std::uint32_t, ScaleUpShape::kMaxDimensions>;
  using Steps = std::array<std::int32_t, ScaleUpShape::kMaxDimensions>;

  [[nodiscard]] Cell cell(std::uint32_t local) const;
  [[nodiscard]] std::uint32_t local(const Cell& at) const;
  [[nodiscard]] bool closes(std::uint32_t dimension) const { return wraps_[dimension] && sides_[dimension] > 2; }
  [[nodiscard]] bool is_face(const Cell& at, std::uint32_t dimension, bool up) const;
  void step(Cell& at, std::uint32_t dimension, bool up) const;
  [[nodiscard]] Steps displacement(const Cell& from, const Cell& to) const;
  [[nodiscard]] std::int32_t along(std::uint32_t dimension, std::uint32_t from, std::uint32_t to) const;
  template <class Visit>
  void follow(std::uint32_t at, std::uint32_t to, Visit&& visit) const {
    while (at != to) {
      const std::uint32_t slot = next_slot_[std::size_t{at} * cells() + to];
      visit(GridLink{at, slot, is_face(at, slot)});
      at = *neighbour(at, slot);
    }
  }
  [[nodiscard]] std::uint32_t cells() const { return sides_[0] * sides_[1] * sides_[2]; }
  void wire_rail_rings();
  void find_ways();
  void skip_bypassed(const ScaleUpShape& shape, std::uint32_t gpus);
  void find_twisted();

  std::uint32_t dimensions_ = 0;
  Cell sides_{1, 1, 1};
  std::array<bool, ScaleUpShape::kMaxDimensions> wraps_{};
  std::uint32_t block_ = 0;
  std::uint32_t shift_ = 0;  // of a twisted torus: k
  bool pooled_ = false;
  std::vector<std::uint32_t> cell_of_;        // ring: by local index, its place among those that are not bypassed
  std::vector<std::uint32_t> local_of_;       // ring: by place
  std::vector<std::vector<Steps>> shortest_;  // twisted: by difference of positions
  // Rail rings: by dimension, ring and node, the next node and the one before; by GPU and destination, the slot to leave
  // by.
  std::array<std::vector<std::vector<std::array<std::uint32_t, 2>>>, 2> rings_;
  std::vector<std::uint8_t> next_slot_;
};

}  // namespace photonrail::topology
