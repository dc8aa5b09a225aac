#include "photonrail/study/slices/slices.hpp"

#include "core/twist.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace photonrail::slices {

namespace {

/// The long side, along all of which the wrap-around of short sides is shifted; throws when the shape has no twisted form.
std::uint32_t long_side(const Shape& shape) {
  const std::uint32_t k = core::short_side_of_twist({shape.sides.data(), shape.dimensions});
  if (k == 0) throw ConfigError("shape", shape.text() + " has no twisted form", "sides k, k, 2k or k, 2k, 2k");
  return 2 * k;
}

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

SliceWiring wiring_of(const PodSpec& spec, const Placement& slice, SliceFabric fabric, bool twisted) {
  const Shape& shape = slice.shape;
  PHOTONRAIL_CHECK(slice.accelerators.size() == shape.size());
  const std::uint32_t longest = twisted ? long_side(shape) : 0;
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
        for (std::uint32_t e = 0; twisted && shape[d] < longest && e < shape.dimensions; ++e) {
          if (shape[e] == longest) next[e] = (here[e] + shape[d]) % longest;
        }
      }
      search.join(slice.accelerators[i], slice.accelerators[shape.index(next)], d, wiring);
    }
  }
  std::sort(wiring.circuits.begin(), wiring.circuits.end());
  return wiring;
}

ScaleUpShape scale_up_of(const PodSpec& spec, const Placement& slice, SliceFabric fabric, bool twisted) {
  const SliceWiring wiring = wiring_of(spec, slice, fabric, twisted);
  if (wiring.missing > 0) {
    throw ConfigError("shape",
                      slice.shape.text() + " misses " + std::to_string(wiring.missing) + " of its links where it is placed",
                      "a policy that places what switches can wire, such as ocs_cubes");
  }
  const WiringSearch search(spec, fabric);
  ScaleUpShape shape;
  shape.kind = ScaleUpShape::Kind::kTorus;
  for (std::uint32_t d = 0; d < slice.shape.dimensions; ++d) {
    shape.sides.push_back(slice.shape[d]);
    shape.wraps.push_back(search.wraps(slice.shape[d], d));
  }
  const bool whole =
      std::all_of(shape.sides.begin(), shape.sides.end(), [&](std::uint32_t s) { return s % spec.block == 0; });
  if (fabric != SliceFabric::kTorus && whole) shape.block = spec.block;
  shape.twisted = twisted;
  return shape;
}

Egress egress_of(const Shape& shape, std::uint32_t wraps_from) {
  Egress egress;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const std::uint32_t side = shape[d];
    const bool wrapped = side >= wraps_from && side > 1;
    egress.of_dimension[d] = wrapped ? 1.0 : static_cast<double>(side - 1) / side;
    egress.total += egress.of_dimension[d] / 3.0;
  }
  return egress;
}

std::vector<RingUnits> ring_units(const std::vector<std::vector<std::uint32_t>>& rings, double injection, double link,
                                  std::span<const double> weights) {
  if (!weights.empty() && weights.size() != rings.size()) throw ConfigError("weights", "one for each ring, or none");
  const auto weight = [&](std::size_t ring) { return weights.empty() ? 1.0 : weights[ring]; };
  std::map<std::uint32_t, double> sums;
  for (std::size_t r = 0; r < rings.size(); ++r) {
    if (rings[r].empty()) throw ConfigError("rings", "ring " + std::to_string(r) + " has no members");
    if (!(weight(r) > 0.0)) throw ConfigError("weights", "a weight is not above 0");
    for (const std::uint32_t member : rings[r]) sums[member] += weight(r);
  }
  std::vector<RingUnits> units(rings.size());
  for (std::size_t r = 0; r < rings.size(); ++r) {
    double least = injection;
    for (const std::uint32_t member : rings[r]) least = std::min(least, injection * weight(r) / sums.at(member) / 2.0);
    units[r] = {least, static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(std::min(least, link))};
  }
  return units;
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

double blast_radius(const PodSpec& spec, std::span<const Placement> slices) {
  constexpr std::uint32_t kIdle = UINT32_MAX;
  std::vector<std::uint32_t> slice_of(spec.torus.size(), kIdle);
  for (std::uint32_t s = 0; s < slices.size(); ++s) {
    for (const std::uint32_t a : slices[s].accelerators) slice_of[a] = s;
  }
  std::vector<bool> seen(spec.torus.size(), false);
  std::uint64_t idled = 0;
  std::uint64_t servers = 0;
  for (std::uint32_t a = 0; a < spec.torus.size(); ++a) {
    if (seen[a]) continue;
    ++servers;
    std::set<std::uint32_t> hit;
    for (const std::uint32_t member : server_of(spec, a)) {
      seen[member] = true;
      if (slice_of[member] == kIdle) {
        ++idled;
      } else if (hit.insert(slice_of[member]).second) {
        idled += slices[slice_of[member]].accelerators.size();
      }
    }
  }
  return static_cast<double>(idled) / static_cast<double>(servers);
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
