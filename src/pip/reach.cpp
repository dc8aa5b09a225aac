#include "pip/reach.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::pip {

namespace {

constexpr std::uint32_t kNone = ~0U;

/// The shortest ways of light from one port, found breadth first. Light is a waveguide and the end of it that it heads for:
/// 2 x waveguide + which end.
class Ways {
 public:
  explicit Ways(const PipMesh& mesh)
      : mesh_(mesh),
        before_(std::size_t{2} * mesh.waveguides()),
        first_(mesh.waveguides()),
        passed_by_(mesh.waveguides(), kNone) {}

  void spread_from(std::uint32_t port) {
    std::fill(before_.begin(), before_.end(), kNone);
    std::fill(first_.begin(), first_.end(), kNone);
    start_ = 2 * mesh_.waveguide_of(port);
    before_[start_] = start_;
    std::vector<std::uint32_t> queue{start_};
    for (std::size_t i = 0; i < queue.size(); ++i) spread(queue[i], queue);
  }

  /// Cells on the way to the waveguide; none: light does not get there, or passes a waveguide twice.
  [[nodiscard]] std::optional<std::uint32_t> cells_to(std::uint32_t waveguide) {
    ++asked_;
    std::uint32_t cells = 0;
    if (first_[waveguide] == kNone) return std::nullopt;
    for (std::uint32_t light = first_[waveguide];; light = before_[light], ++cells) {
      if (std::exchange(passed_by_[light / 2], asked_) == asked_) return std::nullopt;
      if (light == start_) return cells;
    }
  }
  [[nodiscard]] bool arrives(std::uint32_t waveguide) const { return first_[waveguide] != kNone; }

 private:
  void spread(std::uint32_t light, std::vector<std::uint32_t>& queue) {
    const std::uint32_t waveguide = light / 2;
    const std::uint32_t id = mesh_.cells_at(waveguide)[light % 2];
    if (id == PipMesh::kNoCell) return;
    const PipMesh::Cell& cell = mesh_.cells()[id];
    const bool from_near = cell.near[0] == waveguide || cell.near[1] == waveguide;
    for (const std::uint32_t next : from_near ? cell.far : cell.near) {
      const std::uint32_t onwards = 2 * next + (mesh_.cells_at(next)[0] == id ? 1U : 0U);
      if (before_[onwards] != kNone) continue;
      before_[onwards] = light;
      if (first_[next] == kNone) first_[next] = onwards;
      queue.push_back(onwards);
    }
  }

  const PipMesh& mesh_;
  std::uint32_t start_ = 0;
  std::vector<std::uint32_t> before_;     // by light
  std::vector<std::uint32_t> first_;      // by waveguide: the light that came first
  std::vector<std::uint32_t> passed_by_;  // by waveguide: the last question whose way has it
  std::uint32_t asked_ = 0;
};

// 0: no way. Where the shortest one passes a waveguide twice a longer one may not.
std::uint32_t cells_between(const PipMesh& mesh, Ways& ways, PortPair ends) {
  const std::uint32_t goal = mesh.waveguide_of(ends.b);
  if (!ways.arrives(goal)) return 0;
  if (const auto cells = ways.cells_to(goal)) return *cells;
  const auto longer = route_matching(mesh, {&ends, 1});
  return longer ? static_cast<std::uint32_t>(longer->front().waveguides.size()) - 1 : 0;
}

}  // namespace

PortReach port_reach(const PipMesh& mesh, bool (*wanted)(std::uint32_t, std::uint32_t)) {
  PortReach reach;
  Ways ways(mesh);
  for (std::uint32_t a = 0; a < mesh.ports(); ++a) {
    ways.spread_from(a);
    for (std::uint32_t b = a + 1; b < mesh.ports(); ++b) {
      if (!wanted(a, b)) continue;
      const std::uint32_t passed = cells_between(mesh, ways, {a, b});
      if (passed == 0 && reach.unjoined++ == 0) reach.apart = {a, b};
      if (passed <= reach.cells) continue;
      reach.farthest = {a, b};
      reach.cells = passed;
    }
  }
  return reach;
}

}  // namespace photonrail::pip
