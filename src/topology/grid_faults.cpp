// Which links of a grid a fault is about.
#include "photonrail/error.hpp"
#include "topology/link_grid.hpp"

#include <algorithm>

namespace photonrail::topology {

namespace {

using Problem = LinkGrid::Problem;

}  // namespace

std::optional<Problem> LinkGrid::problem(const ScaleUpFault& fault) const {
  if (fault.gpu.has_value() == fault.dimension.has_value()) {
    return Problem{"scale_up.faults[].gpu", "a fault is of a GPU's links or of an optical switch", "one of them"};
  }
  if (fault.dimension) {
    if (block_ == 0) {
      return Problem{"scale_up.faults[].dimension", "no optical switch joins the GPUs of this shape", "a torus of cubes"};
    }
    const bool fits =
        *fault.dimension < dimensions_ && fault.position.size() + 1 == dimensions_ &&
        std::all_of(fault.position.begin(), fault.position.end(), [&](std::uint32_t p) { return p < block_; });
    if (fits) return std::nullopt;
    return Problem{"scale_up.faults[].position", "there is no such switch",
                   "a dimension below " + std::to_string(dimensions_) + ", and " + std::to_string(dimensions_ - 1) +
                       " places on the face, each below " + std::to_string(block_)};
  }
  const auto gpus = static_cast<std::uint32_t>(cell_of_.empty() ? cells() : cell_of_.size());
  if (*fault.gpu >= gpus || !has(*fault.gpu) || degree(*fault.gpu) == 0) {
    return Problem{"scale_up.faults[].gpu", "GPU " + std::to_string(*fault.gpu) + " has no links",
                   "a local index of the shape"};
  }
  if (!fault.to || !links_of(fault).empty()) return std::nullopt;
  std::string neighbours;
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (const auto other = neighbour(*fault.gpu, slot))
      neighbours += (neighbours.empty() ? "" : ", ") + std::to_string(*other);
  }
  return Problem{"scale_up.faults[].to",
                 "no link joins GPUs " + std::to_string(*fault.gpu) + " and " + std::to_string(*fault.to),
                 "one of " + neighbours};
}

std::vector<GridLink> LinkGrid::links_of(const ScaleUpFault& fault) const {
  std::vector<GridLink> links;
  if (fault.gpu) {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      const std::optional<std::uint32_t> other = neighbour(*fault.gpu, slot);
      if (!other || (fault.to && *fault.to != *other)) continue;
      links.push_back({*fault.gpu, slot, is_face(*fault.gpu, slot)});
      links.push_back({*other, slot ^ 1U, is_face(*other, slot ^ 1U)});  // the same link, the other way
    }
    return links;
  }
  const std::uint32_t d = *fault.dimension;
  for (std::uint32_t local = 0; local < cells(); ++local) {
    const Cell at = cell(local);
    bool there = true;
    for (std::uint32_t other = 0, p = 0; other < dimensions_; ++other) {
      if (other == d) continue;
      there = there && at[other] % block_ == fault.position[p++];
    }
    for (const bool up : {true, false}) {
      const std::uint32_t slot = 2 * d + (up ? 0 : 1);
      if (there && is_face(at, d, up) && neighbour(local, slot)) links.push_back({local, slot, true});
    }
  }
  return links;
}

}  // namespace photonrail::topology
