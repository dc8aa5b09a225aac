// Slices of a rack by whole servers: aligned boxes, and photonic servers that join whatever servers are free (LUMION, arXiv
// 2505.23105; Morphlux, arXiv 2508.03674). Slices larger than a rack are whole racks that optical switches join.
//
// Leaves out: which wavelength a circuit has, and crossings of circuits inside a server.
#include "photonrail/error.hpp"
#include "studies/slices/pods/box_search.hpp"
#include "studies/slices/pods/builtin.hpp"
#include "studies/slices/pods/cubes.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace photonrail::slices {

namespace {

void check_servers(const PodSpec& spec) {
  check_cubes(spec);
  for (std::uint32_t d = 0; d < spec.torus.dimensions; ++d) {
    if (spec.server[d] != 0 && spec.block % spec.server[d] == 0) continue;
    throw ConfigError("pod.server", spec.server.text() + " does not fill a block of " + std::to_string(spec.block),
                      "servers whose sides divide the block");
  }
}

std::uint32_t servers_along(const PodSpec& spec, const Shape& slice, std::size_t dimension) {
  return (slice[dimension] + spec.server[dimension] - 1) / spec.server[dimension];
}

/// Servers that a slice has accelerators of, in each dimension.
Shape servers_of(const PodSpec& spec, const Shape& slice) {
  Shape servers = slice;
  for (std::size_t d = 0; d < 3; ++d) servers.sides[d] = servers_along(spec, slice, d);
  return servers;
}

/// Rotations of a slice inside a rack that cut no server, or are cut from one. Where there is none, those that leave a part
/// of a server unused, fewest servers first.
std::vector<Shape> rotations_by_servers(const PodSpec& spec, const Shape& shape) {
  std::vector<Shape> kept;
  for (const Shape& turned : shape.rotations()) {
    bool whole = true;
    for (std::size_t d = 0; d < 3; ++d) whole = whole && turned[d] % spec.server[d] == 0;
    if (whole || servers_of(spec, turned).size() == 1) kept.push_back(turned);
  }
  if (!kept.empty()) return kept;
  kept = shape.rotations();
  std::stable_sort(kept.begin(), kept.end(),
                   [&](const Shape& a, const Shape& b) { return servers_of(spec, a).size() < servers_of(spec, b).size(); });
  return kept;
}

bool within_rack(const PodSpec& spec, const Shape& shape) {
  return std::all_of(shape.sides.begin(), shape.sides.end(), [&](std::uint32_t side) { return side <= spec.block; });
}

/// Circuits of a slice through boundaries, beside those that the pod has there. Changes are undone in reverse order, which
/// is what a search needs that tries one server after another.
class BoundaryLoad {
 public:
  explicit BoundaryLoad(const Pod& pod) : pod_(pod), circuits_(std::size_t{3} * pod.servers().size(), 0) {}

  /// Returns the circuits through the boundary with those of the pod.
  std::uint32_t add(std::uint32_t boundary, std::uint32_t circuits) {
    added_.push_back({boundary, circuits});
    circuits_[boundary] += circuits;
    return pod_.circuits_through(boundary) + circuits_[boundary];
  }
  [[nodiscard]] std::size_t mark() const { return added_.size(); }
  void undo_to(std::size_t mark) {
    for (; added_.size() > mark; added_.pop_back()) circuits_[added_.back().boundary] -= added_.back().circuits;
  }
  /// By boundary, ascending.
  [[nodiscard]] std::vector<Placement::Fibres> fibres() const {
    std::map<std::uint32_t, std::uint32_t> sums;
    for (const Placement::Fibres& one : added_) sums[one.boundary] += one.circuits;
    std::vector<Placement::Fibres> all;
    for (const auto& [boundary, circuits] : sums) all.push_back({boundary, circuits});
    return all;
  }

 private:
  const Pod& pod_;
  std::vector<std::uint32_t> circuits_;   // by boundary
  std::vector<Placement::Fibres> added_;  // in order
};

/// Servers of one rack and the circuits between them.
class RackWiring {
 public:
  RackWiring(const Pod& pod, const Shape& slice)
      : pod_(pod), slice_(slice), all_(pod.servers()), logical_(servers_of(pod.spec(), slice)) {
    const PodSpec& spec = pod.spec();
    for (std::size_t d = 0; d < 3; ++d) rack_[d] = std::max(1U, std::min(spec.block, spec.torus[d]) / spec.server[d]);
  }

  [[nodiscard]] const Shape& logical() const { return logical_; }

  /// No assignment has fewer circuits on its busiest boundary: a link between two servers crosses one with all of its own.
  [[nodiscard]] std::uint32_t least_load() const {
    std::uint32_t least = 0;
    for (std::uint32_t at = 0; at < logical_.size(); ++at) {
      const Coordinates here = logical_.at(at);
      for (std::size_t d = 0; d < 3; ++d) {
        if (here[d] > 0) least = std::max(least, circuits_of(d, here));
      }
    }
    return least;
  }

  /// Adds the circuits of the links of logical server `at` to those before it in row-major order, of which `servers` has
  /// the physical ones. The largest number of circuits on a boundary comes back.
  std::uint32_t add_links(std::uint32_t at, const std::vector<std::uint32_t>& servers, BoundaryLoad& load) const {
    std::uint32_t busiest = 0;
    const Coordinates here = logical_.at(at);
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t side = logical_[d];
      if (side == 1) continue;
      Coordinates back = here;
      if (here[d] > 0) {
        --back[d];
        busiest = std::max(busiest, route(servers[logical_.index(back)], servers[at], circuits_of(d, here), load));
      }
      const bool closes = here[d] + 1 == side && side > 2 && slice_[d] % pod_.spec().block == 0;
      if (!closes) continue;
      Coordinates first = here;
      first[d] = 0;
      busiest = std::max(busiest, route(servers[at], servers[logical_.index(first)], circuits_of(d, here), load));
    }
    return busiest;
  }

 private:
  /// Links between two neighbouring servers of the slice: accelerators of the face that the slice has of them.
  [[nodiscard]] std::uint32_t circuits_of(std::size_t dimension, const Coordinates& logical) const {
    const Shape& server = pod_.spec().server;
    std::uint32_t circuits = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      if (d != dimension) circuits *= std::min(server[d], slice_[d] - logical[d] * server[d]);
    }
    return circuits;
  }

  /// Dimension by dimension, the shorter way round the rack, forwards when both are equal.
  std::uint32_t route(std::uint32_t from, std::uint32_t to, std::uint32_t circuits, BoundaryLoad& load) const {
    Coordinates at = all_.at(from);
    const Coordinates end = all_.at(to);
    std::uint32_t busiest = 0;
    for (std::uint32_t d = 0; d < 3; ++d) {
      const std::uint32_t side = rack_[d];
      const std::uint32_t base = at[d] / side * side;
      const std::uint32_t ahead = (end[d] + side - at[d]) % side;
      const bool forwards = 2 * ahead <= side;
      for (std::uint32_t hop = forwards ? ahead : side - ahead; hop > 0; --hop) {
        const std::uint32_t next = base + (at[d] - base + (forwards ? 1 : side - 1)) % side;
        Coordinates crossed = at;
        if (!forwards) crossed[d] = next;
        busiest = std::max(busiest, load.add(Pod::boundary(all_.index(crossed), d), circuits));
        at[d] = next;
      }
    }
    return busiest;
  }

  const Pod& pod_;
  const Shape slice_;
  Shape all_;
  Shape logical_;       // servers of the slice
  Coordinates rack_{};  // servers of a rack
};

/// Assigns free servers of a rack to the servers of the slice so that the busiest boundary carries the fewest circuits:
/// depth first with bounds, limited by steps, until none can be better.
class ServerMapping {
 public:
  /// `load`: of nothing yet, and again when the mapping is found.
  ServerMapping(const Pod& pod, const RackWiring& wiring, const std::vector<std::uint32_t>& free, BoundaryLoad& load)
      : wiring_(wiring),
        free_(free),
        load_(load),
        taken_(free.size(), false),
        limit_(pod.spec().fibres),
        least_(wiring.least_load()) {}

  /// Empty when no assignment keeps the limit of fibres.
  [[nodiscard]] const std::vector<std::uint32_t>& find() {
    best_load_ = limit_ == 0 ? UINT32_MAX : limit_ + 1;
    extend(0);
    return best_;
  }

 private:
  static constexpr std::uint32_t kMaxSteps = 20'000;

  void extend(std::uint32_t busiest) {
    if (busiest >= best_load_ || best_load_ <= least_ || steps_ > kMaxSteps) return;
    if (chosen_.size() == wiring_.logical().size()) {
      best_ = chosen_;
      best_load_ = busiest;
      return;
    }
    const auto at = static_cast<std::uint32_t>(chosen_.size());
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (taken_[i]) continue;
      ++steps_;
      taken_[i] = true;
      chosen_.push_back(free_[i]);
      const std::size_t before = load_.mark();
      const std::uint32_t now = wiring_.add_links(at, chosen_, load_);
      extend(std::max(busiest, now));
      load_.undo_to(before);
      chosen_.pop_back();
      taken_[i] = false;
    }
  }

  const RackWiring& wiring_;
  const std::vector<std::uint32_t>& free_;
  BoundaryLoad& load_;
  std::vector<bool> taken_;
  std::uint32_t limit_;
  std::uint32_t least_;
  std::vector<std::uint32_t> chosen_;
  std::vector<std::uint32_t> best_;
  std::uint32_t best_load_ = UINT32_MAX;
  std::uint32_t steps_ = 0;
};

std::uint32_t server_index(const Pod& pod, std::uint32_t accelerator) {
  const Coordinates at = pod.spec().torus.at(accelerator);
  const Shape& server = pod.spec().server;
  return pod.servers().index({at[0] / server[0], at[1] / server[1], at[2] / server[2]});
}

/// The slice of logical servers on physical ones, with its circuits.
Placement on_servers(const Pod& pod, const Shape& slice, const RackWiring& wiring,
                     const std::vector<std::uint32_t>& servers) {
  const PodSpec& spec = pod.spec();
  const Shape all = pod.servers();
  Placement placement{slice, {}, {}};
  for (std::uint32_t i = 0; i < slice.size(); ++i) {
    const Coordinates at = slice.at(i);
    Coordinates logical{};
    for (std::size_t d = 0; d < 3; ++d) logical[d] = at[d] / spec.server[d];
    Coordinates place = all.at(servers[wiring.logical().index(logical)]);
    for (std::size_t d = 0; d < 3; ++d) place[d] = place[d] * spec.server[d] + at[d] % spec.server[d];
    placement.accelerators.push_back(spec.torus.index(place));
  }
  BoundaryLoad load(pod);
  for (std::uint32_t at = 0; at < wiring.logical().size(); ++at) wiring.add_links(at, servers, load);
  placement.fibres = load.fibres();
  return placement;
}

bool box_is_idle(const Pod& pod, const Coordinates& from, const Coordinates& sides) {
  for (std::uint32_t x = 0; x < sides[0]; ++x) {
    for (std::uint32_t y = 0; y < sides[1]; ++y) {
      const std::uint32_t row = pod.spec().torus.index({from[0] + x, from[1] + y, from[2]});
      for (std::uint32_t z = 0; z < sides[2]; ++z) {
        if (!pod.idle(row + z)) return false;
      }
    }
  }
  return true;
}

/// Multiples of a side inside each rack, along one dimension of the pod.
std::vector<std::uint32_t> aligned_starts(std::uint32_t pod, std::uint32_t rack, std::uint32_t side) {
  std::vector<std::uint32_t> starts;
  for (std::uint32_t first = 0; first < pod; first += rack) {
    const std::uint32_t end = std::min(first + rack, pod);
    for (std::uint32_t at = first; at + side <= end; at += side) starts.push_back(at);
  }
  return starts;
}

/// The first idle box of a rack that starts at a multiple of its sides.
std::optional<Coordinates> first_aligned(const Pod& pod, const Coordinates& sides) {
  const PodSpec& spec = pod.spec();
  std::array<std::vector<std::uint32_t>, 3> starts;
  for (std::size_t d = 0; d < 3; ++d) starts[d] = aligned_starts(spec.torus[d], spec.block, sides[d]);
  for (const std::uint32_t x : starts[0]) {
    for (const std::uint32_t y : starts[1]) {
      for (const std::uint32_t z : starts[2]) {
        if (box_is_idle(pod, {x, y, z}, sides)) return Coordinates{x, y, z};
      }
    }
  }
  return std::nullopt;
}

/// A box that starts at multiples of its own sides and stays inside a rack. One that cuts servers is given all of them.
std::optional<Placement> place_aligned(const Pod& pod, const Shape& shape) {
  const PodSpec& spec = pod.spec();
  for (const Shape& turned : rotations_by_servers(spec, shape)) {
    const RackWiring wiring(pod, turned);
    Coordinates given = turned.sides;
    for (std::size_t d = 0; d < 3; ++d) {
      if (wiring.logical().size() > 1) given[d] = std::min(wiring.logical()[d] * spec.server[d], spec.torus[d]);
    }
    const auto start = first_aligned(pod, given);
    if (!start) continue;
    Placement box = box_at(spec.torus, *start, turned);
    std::vector<std::uint32_t> servers(wiring.logical().size());
    for (std::uint32_t i = 0; i < turned.size(); ++i) {
      Coordinates logical = turned.at(i);
      for (std::size_t d = 0; d < 3; ++d) logical[d] = std::min(logical[d] / spec.server[d], wiring.logical()[d] - 1);
      servers[wiring.logical().index(logical)] = server_index(pod, box.accelerators[i]);
    }
    BoundaryLoad load(pod);
    for (std::uint32_t at = 0; at < wiring.logical().size(); ++at) wiring.add_links(at, servers, load);
    box.fibres = load.fibres();
    return box;
  }
  return std::nullopt;
}

/// Idle whole servers, rack by rack; racks with the fewest first.
std::vector<std::vector<std::uint32_t>> free_servers(const Pod& pod) {
  const PodSpec& spec = pod.spec();
  std::map<Coordinates, std::vector<std::uint32_t>> racks;
  const Shape all = pod.servers();
  for (std::uint32_t s = 0; s < all.size(); ++s) {
    Coordinates first = all.at(s);
    Coordinates rack{};
    for (std::size_t d = 0; d < 3; ++d) {
      first[d] *= spec.server[d];
      rack[d] = first[d] / spec.block;
    }
    const auto members = server_of(spec, spec.torus.index(first));
    if (std::all_of(members.begin(), members.end(), [&](std::uint32_t a) { return pod.idle(a); })) racks[rack].push_back(s);
  }
  std::vector<std::vector<std::uint32_t>> found;
  for (auto& [rack, servers] : racks) found.push_back(std::move(servers));
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return found;
}

class AlignedBlocks : public Allocator {
 public:
  explicit AlignedBlocks(std::unique_ptr<Allocator> racks, bool scattered)
      : racks_(std::move(racks)), scattered_(scattered) {}

  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    if (!within_rack(pod.spec(), shape)) return racks_->place(pod, shape);
    if (auto aligned = place_aligned(pod, shape); aligned && keeps_fibres(pod, *aligned)) return aligned;
    return scattered_ ? scatter(pod, shape) : std::nullopt;
  }

 private:
  [[nodiscard]] bool keeps_fibres(const Pod& pod, const Placement& slice) const {
    const std::uint32_t limit = pod.spec().fibres;
    return !scattered_ || limit == 0 || std::all_of(slice.fibres.begin(), slice.fibres.end(), [&](const auto& f) {
      return pod.circuits_through(f.boundary) + f.circuits <= limit;
    });
  }

  [[nodiscard]] static std::optional<Placement> scatter(const Pod& pod, const Shape& shape) {
    const std::vector<std::vector<std::uint32_t>> racks = free_servers(pod);
    BoundaryLoad load(pod);
    for (const Shape& turned : rotations_by_servers(pod.spec(), shape)) {
      const RackWiring wiring(pod, turned);
      if (wiring.logical().size() == 1) continue;  // an aligned place is all that there is
      for (const auto& servers : racks) {
        if (servers.size() < wiring.logical().size()) continue;
        const std::vector<std::uint32_t> chosen = ServerMapping(pod, wiring, servers, load).find();
        if (!chosen.empty()) return on_servers(pod, turned, wiring, chosen);
      }
    }
    return std::nullopt;
  }

  std::unique_ptr<Allocator> racks_;
  bool scattered_;
};

AllocatorFactory by_servers(const char* name, const char* summary, bool scattered) {
  AllocatorFactory factory;
  factory.name = name;
  factory.summary = summary;
  factory.fabric = scattered ? SliceFabric::kServers : SliceFabric::kCubes;
  factory.make = [scattered](const PodSpec& spec) {
    check_servers(spec);
    return std::make_unique<AlignedBlocks>(lined_up_cubes().make(spec), scattered);
  };
  return factory;
}

}  // namespace

AllocatorFactory aligned_blocks() {
  return by_servers("aligned", "boxes of whole servers at multiples of their own size in a rack; racks joined as ocs_cubes",
                    false);
}

AllocatorFactory photonic_servers() {
  return by_servers("photonic",
                    "as aligned; else any free servers of a rack with the fewest circuits a boundary (Morphlux)", true);
}

}  // namespace photonrail::slices
