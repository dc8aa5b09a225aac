#include "collective/torus_parts.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::collective {

namespace {

/// The order that begins with dimension `first`.
DimensionOrder order_from(const MemberBox& box, std::size_t first) {
  const std::size_t dimensions = box.sides.size();
  const auto members = static_cast<std::uint32_t>(box.members.size());
  DimensionOrder order;
  std::vector<std::uint32_t> stride(dimensions);  // of a dimension's coordinate in the box's own order
  std::uint32_t cells = 1;
  for (std::size_t d = dimensions; d-- > 0;) {
    stride[d] = cells;
    cells *= box.sides[d].cells;
  }
  PHOTONRAIL_CHECK(cells == members);
  std::uint32_t below = members;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const MemberBox::Side& side = box.sides[(first + k) % dimensions];
    below /= side.cells;
    order.phases.push_back({side.cells, side.closing, below});
  }
  order.place_of.resize(members);
  order.member_at.resize(members);
  for (std::uint32_t cell = 0; cell < members; ++cell) {
    std::uint32_t place = 0;
    for (std::size_t k = 0; k < dimensions; ++k) {
      const std::size_t d = (first + k) % dimensions;
      place += cell / stride[d] % box.sides[d].cells * order.phases[k].below;
    }
    order.member_at[place] = box.members[cell];
    order.place_of[box.members[cell]] = place;
  }
  return order;
}

}  // namespace

MemberBox box_of(const CollectiveCall& call) {
  if (!call.box.empty()) {
    PHOTONRAIL_CHECK(call.box.members.size() == call.members);
    return call.box;
  }
  MemberBox ring{{{call.members, 1}}, std::vector<Member>(call.members)};
  std::iota(ring.members.begin(), ring.members.end(), 0);
  return ring;
}

bool both_ways(const MemberBox& box) {
  return std::all_of(box.sides.begin(), box.sides.end(),
                     [](const MemberBox::Side& side) { return side.cells > 2 && side.closing == 1; });
}

TorusParts make_parts(const MemberBox& box, bool rotated, bool both) {
  TorusParts parts;
  const std::size_t orders = rotated ? box.sides.size() : 1;
  for (std::size_t first = 0; first < orders; ++first) parts.orders.push_back(order_from(box, first));
  for (const bool up : {true, false}) {
    for (std::uint32_t order = 0; (up || both) && order < orders; ++order) parts.parts.push_back({order, up});
  }
  return parts;
}

}  // namespace photonrail::collective
