#include "pip/reach.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace photonrail::pip {

namespace {

// Breadth first, by light that heads for one end of a waveguide: 2 x waveguide + which end.
std::vector<std::uint32_t> cells_to_waveguides(const PipMesh& mesh, std::uint32_t port) {
  std::vector<std::uint32_t> cells(mesh.waveguides(), 0);  // 0: not reached
  std::vector<bool> seen(std::size_t{2} * mesh.waveguides(), false);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> queue{{2 * mesh.waveguide_of(port), 0}};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto [light, passed] = queue[i];
    const std::uint32_t waveguide = light / 2;
    const std::uint32_t id = mesh.cells_at(waveguide)[light % 2];
    if (id == PipMesh::kNoCell) continue;
    const PipMesh::Cell& cell = mesh.cells()[id];
    const bool from_near = cell.near[0] == waveguide || cell.near[1] == waveguide;
    for (const std::uint32_t next : from_near ? cell.far : cell.near) {
      const std::uint32_t onwards = 2 * next + (mesh.cells_at(next)[0] == id ? 1U : 0U);
      if (seen[onwards]) continue;
      seen[onwards] = true;
      if (cells[next] == 0) cells[next] = passed + 1;
      queue.emplace_back(onwards, passed + 1);
    }
  }
  return cells;
}

}  // namespace

FarthestPorts farthest_ports(const PipMesh& mesh) {
  FarthestPorts farthest;
  for (std::uint32_t a = 0; a < mesh.ports(); ++a) {
    const std::vector<std::uint32_t> cells = cells_to_waveguides(mesh, a);
    for (std::uint32_t b = a + 1; b < mesh.ports(); ++b) {
      const std::uint32_t passed = cells[mesh.waveguide_of(b)];
      if (passed > farthest.cells) farthest = {{a, b}, passed};
    }
  }
  return farthest;
}

}  // namespace photonrail::pip
