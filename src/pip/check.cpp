// The check follows what a matching of routes really does: cells are set as the routes say, and the light is followed.
#include "photonrail/pip/pip_switch.hpp"

#include <algorithm>
#include <set>

namespace photonrail::pip {

namespace {

std::string text(PortPair pair) { return std::to_string(pair.a) + "-" + std::to_string(pair.b); }

/// The cell that both waveguides end on, at different ends of it; kNoCell: there is none.
std::uint32_t cell_between(const PipMesh& mesh, std::uint32_t from, std::uint32_t to) {
  for (const std::uint32_t id : mesh.cells_at(from)) {
    if (id == PipMesh::kNoCell) continue;
    const PipMesh::Cell& cell = mesh.cells()[id];
    const auto at = [](const std::array<std::uint32_t, 2>& end, std::uint32_t w) { return end[0] == w || end[1] == w; };
    if ((at(cell.near, from) && at(cell.far, to)) || (at(cell.far, from) && at(cell.near, to))) return id;
  }
  return PipMesh::kNoCell;
}

bool straight(const PipMesh::Cell& cell, std::uint32_t from, std::uint32_t to) {
  for (const std::size_t i : {0u, 1u}) {
    if ((cell.near[i] == from && cell.far[i] == to) || (cell.far[i] == from && cell.near[i] == to)) return true;
  }
  return false;
}

std::uint32_t through(const PipMesh::Cell& cell, CellState state, std::uint32_t from) {
  for (const std::size_t i : {0u, 1u}) {
    const std::size_t other = state == CellState::kBar ? i : 1 - i;
    if (cell.near[i] == from) return cell.far[other];
    if (cell.far[i] == from) return cell.near[other];
  }
  return PipMesh::kNoCell;
}

/// The waveguide at which light from a port leaves the mesh.
std::uint32_t follow(const PipMesh& mesh, const std::vector<CellState>& states, std::uint32_t port) {
  std::uint32_t waveguide = mesh.waveguide_of(port);
  std::uint32_t cell = mesh.cells_at(waveguide)[0];
  while (cell != PipMesh::kNoCell) {
    waveguide = through(mesh.cells()[cell], states[cell], waveguide);
    const std::array<std::uint32_t, 2>& ends = mesh.cells_at(waveguide);
    cell = ends[0] == cell ? ends[1] : ends[0];
  }
  return waveguide;
}

}  // namespace

std::vector<CellState> states_of(const PipMesh& mesh, std::span<const PipRoute> matching) {
  std::vector<CellState> states(mesh.cells().size(), CellState::kBar);
  for (const PipRoute& route : matching) {
    for (std::size_t i = 1; i < route.waveguides.size(); ++i) {
      const std::uint32_t from = route.waveguides[i - 1];
      const std::uint32_t to = route.waveguides[i];
      const std::uint32_t cell = cell_between(mesh, from, to);
      states[cell] = straight(mesh.cells()[cell], from, to) ? CellState::kBar : CellState::kCross;
    }
  }
  return states;
}

std::string fault_of(const PipMesh& mesh, std::span<const PipRoute> matching) {
  std::vector<bool> used(mesh.waveguides(), false);
  for (const PipRoute& route : matching) {
    const auto [a, b] = route.ends;
    if (a >= mesh.ports() || b >= mesh.ports() || a == b) return text(route.ends) + " are not two ports of the mesh";
    for (std::size_t i = 0; i < route.waveguides.size(); ++i) {
      const std::uint32_t waveguide = route.waveguides[i];
      if (waveguide >= mesh.waveguides()) return text(route.ends) + " takes a waveguide that does not exist";
      if (used[waveguide]) return text(route.ends) + " shares waveguide " + std::to_string(waveguide);
      used[waveguide] = true;
      if (i > 0 && cell_between(mesh, route.waveguides[i - 1], waveguide) == PipMesh::kNoCell) {
        return text(route.ends) + " jumps to waveguide " + std::to_string(waveguide);
      }
    }
  }
  const std::vector<CellState> states = states_of(mesh, matching);
  for (const PipRoute& route : matching) {
    const auto [a, b] = route.ends;
    if (follow(mesh, states, a) != mesh.waveguide_of(b) || follow(mesh, states, b) != mesh.waveguide_of(a)) {
      return "light of " + text(route.ends) + " goes elsewhere";
    }
  }
  return {};
}

std::string fault_of(const PipMesh& mesh, const PipCover& cover) {
  std::set<PortPair> joined;
  for (std::size_t m = 0; m < cover.matchings.size(); ++m) {
    const std::string fault = fault_of(mesh, cover.matchings[m]);
    if (!fault.empty()) return "matching " + std::to_string(m) + ": " + fault;
    for (const PipRoute& route : cover.matchings[m])
      joined.insert({std::min(route.ends.a, route.ends.b), std::max(route.ends.a, route.ends.b)});
  }
  for (std::uint32_t a = 0; a < mesh.ports(); ++a) {
    for (std::uint32_t b = a + 1; b < mesh.ports(); ++b) {
      if (!joined.contains({a, b})) return text({a, b}) + " are never joined";
    }
  }
  return {};
}

}  // namespace photonrail::pip
