#include "topology/link_grid.hpp"

#include "core/counted.hpp"
#include "core/twist.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

namespace photonrail::topology {

namespace {

using Problem = LinkGrid::Problem;

std::string text_of(const std::vector<std::uint32_t>& sides) {
  std::string text;
  for (const std::uint32_t side : sides) text += (text.empty() ? "" : " x ") + std::to_string(side);
  return text;
}

/// The side k > 2 of a torus with a twisted form; 0: it has none.
std::uint32_t twist_of(const ScaleUpShape& shape) {
  const std::uint32_t k = core::short_side_of_twist(shape.sides);
  return k > 2 ? k : 0;
}

std::optional<Problem> problem_of_sides(const ScaleUpShape& shape, std::uint32_t gpus) {
  if (shape.sides.empty() || shape.sides.size() > ScaleUpShape::kMaxDimensions) {
    return Problem{"scale_up.shape.sides", "has " + core::counted(shape.sides.size(), "side"), "1 to 3"};
  }
  std::uint64_t product = 1;
  for (const std::uint32_t side : shape.sides) product = std::min(product * side, std::uint64_t{1} << 32);
  if (product == gpus) return std::nullopt;
  return Problem{"scale_up.shape.sides",
                 "a torus of " + text_of(shape.sides) + " has " + core::counted(product, "GPU") + ", but a server has " +
                     std::to_string(gpus),
                 "sides that multiply to {gpus_per_server}"};
}

std::optional<Problem> problem_of_rail_rings(const ScaleUpShape& shape, bool all_wrap) {
  constexpr std::uint32_t kMaxRouted = 4096;  // a table has a byte for each pair
  if (shape.sides.size() != 2 || shape.block == 0 || !all_wrap || shape.twisted) {
    return Problem{"scale_up.shape.rail_rings", "nodes in rows and columns are cubes of a wrapped torus of two sides",
                   "two {scale_up.shape.sides}, a {scale_up.shape.block}, no twist"};
  }
  for (const std::uint32_t side : shape.sides) {
    const std::uint32_t nodes = side / shape.block;
    if (side % shape.block != 0 || nodes == 1 || nodes % 2 == 1) continue;
    return Problem{"scale_up.shape.rail_rings",
                   "rings that have every pair of " + core::counted(nodes, "node") + " once do not exist",
                   "1 node, or an odd number, along each side"};
  }
  if (shape.sides[0] * shape.sides[1] <= kMaxRouted) return std::nullopt;
  return Problem{"scale_up.shape.rail_rings",
                 "the ways of more than " + std::to_string(kMaxRouted) + " GPUs are not tabled",
                 "smaller {scale_up.shape.sides}"};
}

std::optional<Problem> problem_of_torus(const ScaleUpShape& shape, std::uint32_t gpus) {
  if (auto wrong = problem_of_sides(shape, gpus)) return wrong;
  if (shape.wraps.size() != shape.sides.size()) {
    return Problem{
        "scale_up.shape.wraps",
        "is given for " + std::to_string(shape.wraps.size()) + " of " + core::counted(shape.sides.size(), "side"),
        "one for each side"};
  }
  const bool all_wrap = std::all_of(shape.wraps.begin(), shape.wraps.end(), [](bool wraps) { return wraps; });
  if (shape.twisted && (twist_of(shape) == 0 || !all_wrap)) {
    return Problem{"scale_up.shape.twisted",
                   text_of(shape.sides) + (all_wrap ? "" : " that is not closed") + " has no twisted form",
                   "sides k, k, 2k or k, 2k, 2k in any order, k of 3 or more, all wrapped"};
  }
  if (shape.rail_rings) {
    if (auto wrong = problem_of_rail_rings(shape, all_wrap)) return wrong;
  }
  for (const std::uint32_t side : shape.sides) {
    if (shape.block == 0 || side % shape.block == 0) continue;
    return Problem{"scale_up.shape.block",
                   "a side of " + std::to_string(side) + " is no number of cubes of " + std::to_string(shape.block),
                   "sides that are multiples of the cube's"};
  }
  return std::nullopt;
}

/// Where `reach` or more bypassed ones in a row begin: each of them cuts the ring.
std::vector<std::uint32_t> cuts_of(const ScaleUpShape& shape, std::uint32_t gpus) {
  const std::set<std::uint32_t> out(shape.bypassed.begin(), shape.bypassed.end());
  std::vector<std::uint32_t> cuts;
  for (const std::uint32_t first : out) {
    if (out.contains((first + gpus - 1) % gpus)) continue;
    std::uint32_t row = 0;
    while (row < gpus && out.contains((first + row) % gpus)) ++row;
    if (row >= shape.reach) cuts.push_back(first);
  }
  return cuts;
}

std::optional<Problem> problem_of_ring(const ScaleUpShape& shape, std::uint32_t gpus) {
  if (shape.reach == 0) return Problem{"scale_up.shape.reach", "is 0", "2 bypasses one GPU, 3 two in a row"};
  for (std::size_t i = 0; i < shape.bypassed.size(); ++i) {
    if (shape.bypassed[i] < gpus && (i == 0 || shape.bypassed[i - 1] < shape.bypassed[i])) continue;
    return Problem{"scale_up.shape.bypassed",
                   "GPU " + std::to_string(shape.bypassed[i]) + " is out of order, twice there, or not one of the " +
                       std::to_string(gpus) + " of a server",
                   "local indices, ascending"};
  }
  if (shape.bypassed.size() + 1 > gpus) return Problem{"scale_up.shape.bypassed", "leaves no GPU", "fewer of them"};
  const std::vector<std::uint32_t> cuts = cuts_of(shape, gpus);
  if (cuts.size() < 2) return std::nullopt;
  return Problem{"scale_up.shape.bypassed",
                 "cuts the ring into " + std::to_string(cuts.size()) + " parts, at GPUs " + std::to_string(cuts[0]) +
                     " and " + std::to_string(cuts[1]) + ": " + std::to_string(shape.reach) +
                     " in a row cannot be bypassed",
                 "a longer {scale_up.shape.reach}, or one server for each part"};
}

}  // namespace

std::optional<Problem> LinkGrid::problem(const ScaleUpShape& shape, std::uint32_t gpus) {
  switch (shape.kind) {
    case ScaleUpShape::Kind::kCrossbar:
      return std::nullopt;
    case ScaleUpShape::Kind::kTorus:
      return problem_of_torus(shape, gpus);
    case ScaleUpShape::Kind::kRing:
      return problem_of_ring(shape, gpus);
  }
  return std::nullopt;
}

LinkGrid::LinkGrid(const ScaleUpShape& shape, std::uint32_t gpus) : block_(shape.block), pooled_(shape.pooled) {
  PHOTONRAIL_CHECK(!shape.crossbar() && !problem(shape, gpus));
  if (shape.kind == ScaleUpShape::Kind::kRing) {
    skip_bypassed(shape, gpus);
    return;
  }
  dimensions_ = static_cast<std::uint32_t>(shape.sides.size());
  std::copy(shape.sides.begin(), shape.sides.end(), sides_.begin());
  std::copy(shape.wraps.begin(), shape.wraps.end(), wraps_.begin());
  if (shape.rail_rings) {
    wire_rail_rings();
    find_ways();
  }
  if (!shape.twisted) return;
  shift_ = twist_of(shape);
  find_twisted();
}

void LinkGrid::skip_bypassed(const ScaleUpShape& shape, std::uint32_t gpus) {
  dimensions_ = 1;
  const std::vector<std::uint32_t> cuts = cuts_of(shape, gpus);
  wraps_[0] = cuts.empty();
  const std::uint32_t first = cuts.empty() ? 0 : cuts.front();  // a ring that is cut is a line that begins behind the cut
  cell_of_.assign(gpus, kNone);
  for (std::uint32_t i = 0; i < gpus; ++i) {
    const std::uint32_t gpu = (first + i) % gpus;
    if (std::binary_search(shape.bypassed.begin(), shape.bypassed.end(), gpu)) continue;
    cell_of_[gpu] = static_cast<std::uint32_t>(local_of_.size());
    local_of_.push_back(gpu);
  }
  sides_[0] = static_cast<std::uint32_t>(local_of_.size());
}

LinkGrid::Cell LinkGrid::cell(std::uint32_t local) const {
  const std::uint32_t index = cell_of_.empty() ? local : cell_of_[local];
  PHOTONRAIL_CHECK(index != kNone);
  // Sides that are not there are 1. The first is the slowest.
  switch (dimensions_) {
    case 1:
      return {index, 0, 0};
    case 2:
      return {index / sides_[1], index % sides_[1], 0};
    default:
      return {index / (sides_[1] * sides_[2]), index / sides_[2] % sides_[1], index % sides_[2]};
  }
}

std::uint32_t LinkGrid::local(const Cell& at) const {
  std::uint32_t index = 0;
  for (std::uint32_t d = 0; d < dimensions_; ++d) index = index * sides_[d] + at[d];
  return local_of_.empty() ? index : local_of_[index];
}

bool LinkGrid::is_face(const Cell& at, std::uint32_t dimension, bool up) const {
  if (block_ == 0) return false;
  return up ? (at[dimension] + 1) % block_ == 0 : at[dimension] % block_ == 0;
}

// The link that closes a short side of a twisted torus is shifted along the long ones.
void LinkGrid::step(Cell& at, std::uint32_t dimension, bool up) const {
  if (!rings_[0].empty() && is_face(at, dimension, up)) {
    const auto& rings = rings_[dimension];
    const std::uint32_t rail = at[1 - dimension] % block_;
    const std::uint32_t node = rings[rail % rings.size()][at[dimension] / block_][up ? 0 : 1];
    at[dimension] = node * block_ + (up ? 0 : block_ - 1);
    return;
  }
  const std::uint32_t side = sides_[dimension];
  const bool turns = up ? at[dimension] + 1 == side : at[dimension] == 0;
  at[dimension] = up ? (turns ? 0 : at[dimension] + 1) : (turns ? side - 1 : at[dimension] - 1);
  if (!turns || shift_ == 0 || side != shift_) return;
  for (std::uint32_t d = 0; d < dimensions_; ++d) {
    if (sides_[d] != shift_) at[d] = (at[d] + shift_) % sides_[d];  // k up and k down are the same on 2k
  }
}

std::optional<std::uint32_t> LinkGrid::neighbour(std::uint32_t local, std::uint32_t slot) const {
  if (!has(local)) return std::nullopt;
  Cell at = cell(local);
  const std::uint32_t d = slot / 2;
  const bool up = slot % 2 == 0;
  const bool end = up ? at[d] + 1 == sides_[d] : at[d] == 0;
  if (end && !closes(d)) return std::nullopt;
  step(at, d, up);
  return this->local(at);
}

std::uint32_t LinkGrid::degree(std::uint32_t local) const {
  std::uint32_t links = 0;
  for (std::uint32_t slot = 0; slot < slots(); ++slot) links += neighbour(local, slot) ? 1 : 0;
  return links;
}

Bandwidth LinkGrid::rate(std::uint32_t local, std::uint32_t slot, Bandwidth per_gpu) const {
  const std::optional<std::uint32_t> other = neighbour(local, slot);
  if (!other) return {0.0};
  if (!pooled_) return per_gpu;
  return {per_gpu.bytes_per_second / std::max(degree(local), degree(*other))};
}

// Steps up (or down, below 0) in one dimension.
std::int32_t LinkGrid::along(std::uint32_t dimension, std::uint32_t from, std::uint32_t to) const {
  const auto side = static_cast<std::int32_t>(sides_[dimension]);
  const std::int32_t direct = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from);
  if (!closes(dimension)) return direct;
  const std::int32_t up = direct < 0 ? direct + side : direct;
  if (2 * up == side) return from % 2 == 0 ? up : -up;
  return 2 * up < side ? up : up - side;
}

LinkGrid::Steps LinkGrid::displacement(const Cell& from, const Cell& to) const {
  Steps steps{};
  if (shift_ == 0) {
    for (std::uint32_t d = 0; d < dimensions_; ++d) steps[d] = along(d, from[d], to[d]);
    return steps;
  }
  std::uint32_t turns = 0;  // a turn along a short side is a shift along the long ones
  for (std::uint32_t d = 0; d < dimensions_; ++d) turns += sides_[d] == shift_ && to[d] < from[d] ? 1 : 0;
  std::uint32_t difference = 0;
  for (std::uint32_t d = 0; d < dimensions_; ++d) {
    const std::uint32_t shift = sides_[d] == shift_ ? 0 : turns * shift_;
    difference = difference * sides_[d] + (to[d] + sides_[d] - from[d] + shift) % sides_[d];
  }
  const std::vector<Steps>& equal = shortest_[difference];
  return equal[(from[0] + from[1] + from[2]) % equal.size()];
}

// A twisted torus is the integer grid modulo three vectors: each long side alone, and a short side with k along each long
// one. All steps from nothing to a position differ by sums of them; two of each either way reach the shortest.
void LinkGrid::find_twisted() {
  std::array<Steps, 3> turns{};
  for (std::size_t d = 0; d < 3; ++d) {
    turns[d][d] = static_cast<std::int32_t>(sides_[d]);
    for (std::size_t e = 0; sides_[d] == shift_ && e < 3; ++e) {
      if (sides_[e] != shift_) turns[d][e] = static_cast<std::int32_t>(shift_);
    }
  }
  const std::size_t cells = std::size_t{sides_[0]} * sides_[1] * sides_[2];
  shortest_.resize(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    const Cell at = cell(static_cast<std::uint32_t>(i));
    std::int32_t least = INT32_MAX;
    for (std::int32_t t = 0; t < 125; ++t) {
      const std::array<std::int32_t, 3> times{t / 25 - 2, t / 5 % 5 - 2, t % 5 - 2};
      Steps steps{};
      std::int32_t length = 0;
      for (std::size_t e = 0; e < 3; ++e) {
        steps[e] = static_cast<std::int32_t>(at[e]);
        for (std::size_t d = 0; d < 3; ++d) steps[e] += times[d] * turns[d][e];
        length += std::abs(steps[e]);
      }
      if (length > least) continue;
      if (length < least) shortest_[i].clear();
      least = length;
      shortest_[i].push_back(steps);
    }
  }
}

std::optional<GridBox> LinkGrid::box_of(std::span<const std::uint32_t> locals) const {
  if (shift_ != 0) return std::nullopt;
  Cell low{kNone, kNone, kNone};
  Cell high{};
  for (const std::uint32_t gpu : locals) {
    if (!has(gpu)) return std::nullopt;
    const Cell at = cell(gpu);
    for (std::size_t d = 0; d < at.size(); ++d) {
      low[d] = std::min(low[d], at[d]);
      high[d] = std::max(high[d], at[d]);
    }
  }
  std::uint64_t size = 1;
  for (std::size_t d = 0; d < low.size(); ++d) size *= high[d] - low[d] + 1;
  if (size != locals.size()) return std::nullopt;  // a GPU has one rank at the most
  for (std::size_t d = 0; !next_slot_.empty() && d < 2; ++d) {
    if (low[d] / block_ != high[d] / block_) return std::nullopt;
  }
  GridBox box;
  for (std::uint32_t d = 0; d < dimensions_; ++d) {
    const std::uint32_t cells = high[d] - low[d] + 1;
    if (cells == 1) continue;
    box.cells.push_back(cells);
    const bool whole = next_slot_.empty();  // rail rings: a box inside a node is a mesh
    box.closing.push_back(whole ? static_cast<std::uint32_t>(std::abs(along(d, high[d], low[d]))) : cells - 1);
  }
  box.members.assign(locals.size(), kNone);
  for (std::uint32_t m = 0; m < locals.size(); ++m) {
    const Cell at = cell(locals[m]);
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < low.size(); ++d) index = index * (high[d] - low[d] + 1) + (at[d] - low[d]);
    box.members[index] = m;
  }
  return box;
}

}  // namespace photonrail::topology
