// The collectives on a torus share these parts. The data is cut into parts. Each part goes through the dimensions in an
// order of its own, so that at any time the parts use different links.
#pragma once

#include "photonrail/collective.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::collective {

/// Describes how a part numbers the cells: mixed radix of the coordinates, the dimension of its first phase is the slowest
/// digit.
struct DimensionOrder {
  struct Phase {
    std::uint32_t cells = 1;    ///< of a line in the phase's dimension
    std::uint32_t closing = 1;  ///< MemberBox::Side::closing
    std::uint32_t below = 1;    ///< places that share a block of this phase: the cells of all later phases multiplied
  };
  std::vector<Phase> phases{};
  std::vector<std::uint32_t> place_of{};  ///< by member
  std::vector<Member> member_at{};        ///< by place

  /// Coordinate of a place in the dimension of a phase, and the place with another coordinate there.
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t place, const Phase& phase) const {
    return place / phase.below % phase.cells;
  }
  [[nodiscard]] std::uint32_t moved(std::uint32_t place, const Phase& phase, std::uint32_t to) const {
    return place + (to - coordinate(place, phase)) * phase.below;  // unsigned wrap-around is meant
  }
};

struct TorusPart {
  std::uint32_t order = 0;                        ///< TorusParts::orders
  bool up = true;                                 ///< the direction of rings
  std::vector<std::vector<Bytes>> block_bytes{};  ///< by phase and block: a place divided by Phase::below
};

struct TorusParts {
  std::vector<DimensionOrder> orders{};  ///< the rotations of the dimensions, or the first alone
  std::vector<TorusPart> parts{};

  [[nodiscard]] const DimensionOrder& order(std::uint32_t part) const { return orders[parts[part].order]; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(parts.size()); }
};

/// The box of the call; a call without one is a ring of its members.
[[nodiscard]] MemberBox box_of(const CollectiveCall& call);

/// Returns true when rings can use both directions of every line at once: all are closed and of 3 cells or more.
[[nodiscard]] bool both_ways(const MemberBox& box);

/// Parts without bytes. `rotated`: a part for each dimension to begin with; `both`: twice as many, half of them downwards.
[[nodiscard]] TorusParts make_parts(const MemberBox& box, bool rotated, bool both);

/// Fills block_bytes: `bytes(part, place)` is what a part has for the member at a place.
template <class BytesOf>
void fill_blocks(TorusParts& parts, BytesOf&& bytes) {
  for (std::uint32_t p = 0; p < parts.count(); ++p) {
    const DimensionOrder& order = parts.order(p);
    for (const DimensionOrder::Phase& phase : order.phases) {
      std::vector<Bytes>& blocks = parts.parts[p].block_bytes.emplace_back(order.member_at.size() / phase.below);
      for (std::uint32_t place = 0; place < order.member_at.size(); ++place) blocks[place / phase.below] += bytes(p, place);
    }
  }
}

/// All to all over the lines of each dimension in turn, as a plan. REQUIRES: the call is an all-to-all without a demand.
[[nodiscard]] std::unique_ptr<const SendPlan> make_torus_exchange(const CollectiveCall& call, bool rotated);

/// The time of make_torus_exchange, in picoseconds. It is exact where all sides have equally many cells.
[[nodiscard]] double torus_exchange_cost(const CollectiveCall& call, const LinkCost& link, bool rotated);

}  // namespace photonrail::collective
