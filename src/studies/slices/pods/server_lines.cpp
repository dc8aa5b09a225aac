// Scale-up domains without a torus: a line of servers whose transceivers switch (InfiniteHBD, arXiv 2502.03885), and
// switched domains of a fixed size.
#include "photonrail/error.hpp"
#include "studies/slices/pods/builtin.hpp"

#include <algorithm>

namespace photonrail::slices {

namespace {

/// Servers in the order of the line, which is closed to a ring.
std::vector<std::vector<std::uint32_t>> servers_in_line(const PodSpec& spec) {
  std::vector<std::vector<std::uint32_t>> servers;
  std::vector<bool> seen(spec.torus.size(), false);
  for (std::uint32_t a = 0; a < spec.torus.size(); ++a) {
    if (seen[a]) continue;
    servers.push_back(server_of(spec, a));
    for (const std::uint32_t member : servers.back()) seen[member] = true;
  }
  return servers;
}

/// Whole servers that follow each other, with at most reach - 1 that are not idle between two of them: the links reach
/// over these. Takes the shortest piece of the line that has enough, from its beginning.
class KHopLine : public Allocator {
 public:
  explicit KHopLine(const PodSpec& spec) : servers_(servers_in_line(spec)), reach_(spec.reach) {}

  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const std::uint32_t per_server = pod.spec().server.size();
    const std::uint32_t wanted = (shape.size() + per_server - 1) / per_server;
    const std::vector<std::uint32_t>* best = nullptr;
    const auto found = pieces(pod);
    for (const auto& piece : found) {
      if (piece.size() >= wanted && (best == nullptr || piece.size() < best->size())) best = &piece;
    }
    if (best == nullptr) return std::nullopt;
    Placement placement{shape, {}, {}};
    for (std::uint32_t i = 0; i < wanted; ++i) {
      for (const std::uint32_t a : servers_[(*best)[i]]) {
        if (placement.accelerators.size() < shape.size()) placement.accelerators.push_back(a);
      }
    }
    return placement;
  }

 private:
  /// Runs of idle servers that the links join, in the order of the ring.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> pieces(const Pod& pod) const {
    const auto count = static_cast<std::uint32_t>(servers_.size());
    std::vector<bool> idle(count);
    for (std::uint32_t s = 0; s < count; ++s) {
      idle[s] = std::all_of(servers_[s].begin(), servers_[s].end(), [&](std::uint32_t a) { return pod.idle(a); });
    }
    std::vector<std::uint32_t> line;
    for (std::uint32_t s = 0; s < count; ++s) {
      if (idle[s]) line.push_back(s);
    }
    std::vector<std::vector<std::uint32_t>> found;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i == 0 || line[i] - line[i - 1] > reach_) found.emplace_back();
      found.back().push_back(line[i]);
    }
    // The last piece goes on in the first one, unless they are one.
    if (found.size() > 1 && line.front() + count - line.back() <= reach_) {
      found.back().insert(found.back().end(), found.front().begin(), found.front().end());
      found.erase(found.begin());
    }
    return found;
  }

  std::vector<std::vector<std::uint32_t>> servers_;
  std::uint32_t reach_;
};

/// Any idle accelerators of one domain: the one that is left with the fewest.
class SwitchedDomains : public Allocator {
 public:
  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const std::uint32_t size = pod.spec().domain;
    std::uint32_t best = 0;
    std::uint32_t best_idle = UINT32_MAX;
    for (std::uint32_t from = 0; from < pod.size(); from += size) {
      std::uint32_t idle = 0;
      for (std::uint32_t a = from; a < std::min(from + size, pod.size()); ++a) idle += pod.idle(a) ? 1 : 0;
      if (idle < shape.size() || idle >= best_idle) continue;
      best = from;
      best_idle = idle;
    }
    if (best_idle == UINT32_MAX) return std::nullopt;
    Placement placement{shape, {}, {}};
    for (std::uint32_t a = best; placement.accelerators.size() < shape.size(); ++a) {
      if (pod.idle(a)) placement.accelerators.push_back(a);
    }
    return placement;
  }
};

}  // namespace

AllocatorFactory k_hop_line() {
  AllocatorFactory factory;
  factory.name = "k_hop";
  factory.summary = "whole servers along a ring whose links reach over up to reach - 1 others (InfiniteHBD)";
  factory.fabric = SliceFabric::kRing;
  factory.make = [](const PodSpec& spec) { return std::make_unique<KHopLine>(spec); };
  return factory;
}

AllocatorFactory switched_domains() {
  AllocatorFactory factory;
  factory.name = "switched";
  factory.summary = "any idle accelerators of one switched domain, the fullest that has room";
  factory.fabric = SliceFabric::kSwitched;
  factory.make = [](const PodSpec&) { return std::make_unique<SwitchedDomains>(); };
  return factory;
}

}  // namespace photonrail::slices
