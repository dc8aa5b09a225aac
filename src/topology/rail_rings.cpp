// RailX: rows and columns of nodes whose rails are rings of their own.
#include "topology/link_grid.hpp"

namespace photonrail::topology {

namespace {

/// Walecki's construction: node n - 1 in the middle and the others in a circle; ring i zigzags across the circle from i: i,
/// i + 1, i - 1, i + 2 ... For odd n the (n - 1) / 2 rings have every pair of nodes once. By ring and node: the next one
/// and the one before.
std::vector<std::vector<std::array<std::uint32_t, 2>>> hamiltonian_rings(std::uint32_t n) {
  std::vector<std::vector<std::array<std::uint32_t, 2>>> rings;
  if (n == 1) return {{{0, 0}}};
  const std::uint32_t circle = n - 1;
  for (std::uint32_t i = 0; i < circle / 2; ++i) {
    std::vector<std::uint32_t> order{circle};
    for (std::uint32_t k = 0; k < circle; ++k) {
      const std::uint32_t half = (k + 1) / 2;
      order.push_back((i + (k % 2 == 1 ? half : circle - half)) % circle);
    }
    std::vector<std::array<std::uint32_t, 2>>& ring = rings.emplace_back(n);
    for (std::uint32_t k = 0; k < n; ++k) {
      ring[order[k]][0] = order[(k + 1) % n];
      ring[order[(k + 1) % n]][1] = order[k];
    }
  }
  return rings;
}

}  // namespace

void LinkGrid::wire_rail_rings() {
  for (std::uint32_t d = 0; d < 2; ++d) rings_[d] = hamiltonian_rings(sides_[d] / block_);
}

// A search from each destination. Slots are tried from another one for each, so that equally short ways spread.
void LinkGrid::find_ways() {
  const std::uint32_t gpus = cells();
  next_slot_.assign(std::size_t{gpus} * gpus, 0);
  std::vector<std::uint32_t> queue;
  std::vector<std::uint32_t> seen(gpus, kNone);  // by GPU: the last destination whose search came by
  for (std::uint32_t to = 0; to < gpus; ++to) {
    queue.assign(1, to);
    seen[to] = to;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (std::uint32_t turn = 0; turn < slots(); ++turn) {
        const std::uint32_t slot = (to + turn) % slots();
        const std::optional<std::uint32_t> other = neighbour(queue[next], slot);
        if (!other || seen[*other] == to) continue;
        seen[*other] = to;
        next_slot_[std::size_t{*other} * gpus + to] = static_cast<std::uint8_t>(slot ^ 1U);  // the same link, the other way
        queue.push_back(*other);
      }
    }
  }
}

}  // namespace photonrail::topology
