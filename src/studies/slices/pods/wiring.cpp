#include "studies/slices/pods/wiring.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail::slices {

namespace {

class WiringSearch {
 public:
  WiringSearch(const PodSpec& spec, SliceFabric fabric) : torus_(spec.torus), cubes_(fabric != SliceFabric::kTorus) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      edge_[d] = cubes_ && d < torus_.dimensions ? spec.block : torus_[d];
    }
  }

  [[nodiscard]] bool wraps(std::uint32_t side, std::uint32_t d) const { return side > 2 && side % edge_[d] == 0; }

  void join(std::uint32_t from, std::uint32_t to, std::uint32_t d, SliceWiring& wiring) const {
    const Coordinates a = torus_.at(from);
    const Coordinates b = torus_.at(to);
    bool same_position = true;  // in the plane across the dimension, within the cube
    bool same_cube = true;
    for (std::uint32_t e = 0; e < 3; ++e) {
      if (e != d) same_position = same_position && a[e] % edge_[e] == b[e] % edge_[e];
      same_cube = same_cube && a[e] / edge_[e] == b[e] / edge_[e];
    }
    const std::uint32_t at = a[d] % edge_[d];
    const std::uint32_t next = b[d] % edge_[d];
    if (same_position && same_cube && at + 1 == next) {
      ++wiring.electrical;
    } else if (same_position && at + 1 == edge_[d] && next == 0 && (cubes_ || same_cube)) {
      if (cubes_) {
        wiring.circuits.push_back({d, from, to});
      } else {
        ++wiring.electrical;
      }
    } else {
      ++wiring.missing;
    }
  }

 private:
  Shape torus_;
  bool cubes_;
  Coordinates edge_{};
};

}  // namespace

SliceWiring wiring_of(const PodSpec& spec, const Placement& slice, SliceFabric fabric) {
  const Shape& shape = slice.shape;
  PHOTONRAIL_CHECK(slice.accelerators.size() == shape.size());
  const WiringSearch search(spec, fabric);
  SliceWiring wiring;
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    const Coordinates here = shape.at(i);
    for (std::uint32_t d = 0; d < shape.dimensions; ++d) {
      Coordinates next = here;
      next[d] = here[d] + 1;
      if (next[d] == shape[d]) {
        if (!search.wraps(shape[d], d)) continue;
        next[d] = 0;
      }
      search.join(slice.accelerators[i], slice.accelerators[shape.index(next)], d, wiring);
    }
  }
  std::sort(wiring.circuits.begin(), wiring.circuits.end());
  return wiring;
}

double egress_of(const Shape& shape, std::uint32_t wraps_from) {
  double egress = 0.0;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const std::uint32_t side = shape[d];
    egress += (side >= wraps_from && side > 1 ? 1.0 : static_cast<double>(side - 1) / side) / 3.0;
  }
  return egress;
}

namespace {

/// Counts rings on directed links of the torus; a link is an accelerator, a dimension and a direction.
class LinkLoads {
 public:
  explicit LinkLoads(const Shape& torus) : torus_(torus), load_(std::size_t{torus.size()} * 6, 0) {}

  /// Calls `visit` with every link of the way, dimension by dimension.
  template <class Visit>
  void route(std::uint32_t from, std::uint32_t to, Visit&& visit) {
    Coordinates at = torus_.at(from);
    const Coordinates end = torus_.at(to);
    for (std::uint32_t d = 0; d < 3; ++d) {
      const std::uint32_t side = torus_[d];
      const std::uint32_t ahead = (end[d] + side - at[d]) % side;
      const bool forwards = 2 * ahead <= side;
      for (std::uint32_t hop = forwards ? ahead : side - ahead; hop > 0; --hop) {
        visit(load_[std::size_t{torus_.index(at)} * 6 + 2 * d + (forwards ? 0 : 1)]);
        at[d] = (at[d] + (forwards ? 1 : side - 1)) % side;
      }
    }
  }

  /// Calls `visit` with the links of all rings of the slice, both directions.
  template <class Visit>
  void rings(const Placement& slice, Visit&& visit) {
    for (std::uint32_t i = 0; i < slice.shape.size(); ++i) {
      const Coordinates here = slice.shape.at(i);
      for (std::uint32_t d = 0; d < 3; ++d) {
        const std::uint32_t side = slice.shape[d];
        if (side == 1 || (side == 2 && here[d] == 1)) continue;
        Coordinates next = here;
        next[d] = (here[d] + 1) % side;
        const std::uint32_t a = slice.accelerators[i];
        const std::uint32_t b = slice.accelerators[slice.shape.index(next)];
        route(a, b, visit);
        route(b, a, visit);
      }
    }
  }

 private:
  Shape torus_;
  std::vector<std::uint32_t> load_;
};

}  // namespace

std::vector<double> torus_shares(const PodSpec& spec, std::span<const Placement> slices) {
  LinkLoads loads(spec.torus);
  for (const Placement& slice : slices) loads.rings(slice, [](std::uint32_t& load) { ++load; });
  std::vector<double> shares;
  for (const Placement& slice : slices) {
    std::uint32_t busiest = 1;
    loads.rings(slice, [&](std::uint32_t& load) { busiest = std::max(busiest, load); });
    shares.push_back(1.0 / busiest);
  }
  return shares;
}

double stranded_share(const Allocator& allocator, const Pod& pod, std::span<const Shape> sizes) {
  if (pod.idle_count() == 0) return 0.0;
  std::uint32_t largest = 0;
  for (const Shape& shape : sizes) {
    if (shape.size() > largest && allocate(allocator, pod, SliceRequest::box(shape)).placement) largest = shape.size();
  }
  return 1.0 - static_cast<double>(largest) / pod.idle_count();
}

}  // namespace photonrail::slices
