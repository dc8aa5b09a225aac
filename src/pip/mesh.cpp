// The mesh of hexagons: corners, cells between them, waveguides that join the cells at the corners.
#include "core/counted.hpp"
#include "photonrail/error.hpp"
#include "photonrail/pip/pip_switch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace photonrail::pip {

namespace {

/// A corner of a hexagon that stands on its point, in units of half its width and a quarter of its height.
using Corner = std::pair<int, int>;

constexpr std::array<Corner, 6> kCorners{{{0, -2}, {1, -1}, {1, 1}, {0, 2}, {-1, 1}, {-1, -1}}};

std::set<std::pair<Corner, Corner>> sides(std::uint32_t rows, std::uint32_t columns) {
  std::set<std::pair<Corner, Corner>> all;
  for (int row = 0; row < static_cast<int>(rows); ++row) {
    for (int column = 0; column < static_cast<int>(columns); ++column) {
      const Corner middle{2 * column + row % 2, 3 * row};
      for (std::size_t i = 0; i < kCorners.size(); ++i) {
        const Corner& from = kCorners[i];
        const Corner& to = kCorners[(i + 1) % kCorners.size()];
        const Corner a{middle.first + from.first, middle.second + from.second};
        const Corner b{middle.first + to.first, middle.second + to.second};
        all.insert(std::minmax(a, b));
      }
    }
  }
  return all;
}

PipMesh::Point point(const Corner& corner) { return {corner.first * std::sqrt(3.0) / 2.0, corner.second / 2.0}; }

PipMesh::Point between(PipMesh::Point a, PipMesh::Point b, double share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

/// A cell as seen from one of its corners.
struct Arm {
  std::uint32_t cell = 0;
  bool near = false;  ///< the corner is at its near end
  PipMesh::Point to;  ///< its other corner
  double angle = 0.0;
};

void require(bool good, const std::string& what, const std::string& hint) {
  if (!good) throw ConfigError("mesh", what, hint);
}

/// An open end and where it is on the rim, as an angle around the middle of the mesh.
struct Open {
  std::uint32_t waveguide = 0;
  double angle = 0.0;
};

}  // namespace

struct PipMesh::Builder {
  PipMesh& mesh;
  std::map<Corner, std::vector<Arm>> arms{};
  std::vector<Open> open{};

  void add_cells() {
    const auto angle = [](Point from, Point to) { return std::atan2(to.y - from.y, to.x - from.x); };
    for (const auto& [a, b] : sides(mesh.rows_, mesh.columns_)) {
      const auto cell = static_cast<std::uint32_t>(mesh.cells_.size());
      const std::pair<Point, Point> ends{point(a), point(b)};
      arms[a].push_back({cell, true, ends.second, angle(ends.first, ends.second)});
      arms[b].push_back({cell, false, ends.first, angle(ends.second, ends.first)});
      mesh.cells_.emplace_back();
      mesh.corners_.push_back(ends);
    }
  }

  // The waveguide of an arm on its left side, seen from the corner (angles grow to the left), or on its right one. Bar
  // joins what is on one side of the cell, which is left at one end and right at the other.
  [[nodiscard]] std::uint32_t& slot(const Arm& arm, bool left) {
    Cell& cell = mesh.cells_[arm.cell];
    return arm.near ? cell.near[left ? 0 : 1] : cell.far[left ? 1 : 0];
  }

  std::uint32_t add_waveguide(const Arm& arm, bool left, std::uint32_t other_cell, Point place) {
    const std::uint32_t id = slot(arm, left) = mesh.waveguides();
    mesh.cells_at_.push_back({arm.cell, other_cell});
    mesh.places_.push_back(place);
    return id;
  }

  // Neighbouring arms are joined across the hexagon between them; on the rim both stay open.
  void join(const Corner& corner, std::vector<Arm>& around) {
    std::sort(around.begin(), around.end(), [](const Arm& a, const Arm& b) { return a.angle < b.angle; });
    const Point here = point(corner);
    for (std::size_t i = 0; i < around.size(); ++i) {
      const Arm& arm = around[i];
      const Arm& next = around[(i + 1) % around.size()];
      const Point inward = between(arm.to, next.to, 0.5);
      const double turn = std::remainder(next.angle - arm.angle, 2.0 * std::acos(-1.0));
      if (turn > 0.0) {  // a third of a turn; around the rim it is two thirds, which count as one backward
        slot(next, false) = add_waveguide(arm, true, next.cell, between(here, inward, 0.3));
        continue;
      }
      add_open(arm, true, here, inward);
      add_open(next, false, here, inward);
    }
  }

  void add_open(const Arm& arm, bool left, Point here, Point inward) {
    const Point out = between(here, inward, -0.6);
    const Point aside = between(here, arm.to, 0.25);
    const Point place{out.x + aside.x - here.x, out.y + aside.y - here.y};
    const Point middle = point({static_cast<int>(mesh.columns_) - 1, static_cast<int>(3 * (mesh.rows_ - 1) / 2)});
    open.push_back({add_waveguide(arm, left, kNoCell, place), std::atan2(place.y - middle.y, place.x - middle.x)});
  }

  // Light that enters there gets out of the rim's way only past other ports' ends.
  [[nodiscard]] bool along_rim(const Open& end) const {
    const Cell& cell = mesh.cells_[mesh.cells_at_[end.waveguide][0]];
    const auto is_open = [this](std::uint32_t w) { return mesh.cells_at_[w][1] == kNoCell; };
    return std::any_of(cell.near.begin(), cell.near.end(), is_open) &&
           std::any_of(cell.far.begin(), cell.far.end(), is_open);
  }

  void place_ports(std::uint32_t ports) {
    const auto ends = static_cast<std::uint32_t>(open.size());
    mesh.open_ends_ = ends;
    require(ports >= 2 && ports <= ends,
            core::counted(ports, "port") + " on " + std::to_string(mesh.rows_) + "x" + std::to_string(mesh.columns_) +
                " hexagons, which have " + core::counted(ends, "open end"),
            "2 to " + core::counted(ends, "port") + ", or more hexagons");
    std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.angle < b.angle; });
    std::vector<Open> inward;
    std::copy_if(open.begin(), open.end(), std::back_inserter(inward), [this](const Open& o) { return !along_rim(o); });
    const std::vector<Open>& from = inward.size() < ports ? open : inward;
    for (std::uint32_t p = 0; p < ports; ++p) mesh.port_.push_back(from[std::size_t{p} * from.size() / ports].waveguide);
  }
};

PipMesh::PipMesh(std::uint32_t rows, std::uint32_t columns, std::uint32_t ports) : rows_(rows), columns_(columns) {
  const auto fits = [](std::uint32_t n) { return n >= 1 && n <= kMaxHexagons; };
  require(fits(rows) && fits(columns), "has " + std::to_string(rows) + "x" + std::to_string(columns) + " hexagons",
          "1x1 to 64x64");
  Builder builder{*this};
  builder.add_cells();
  for (auto& [corner, around] : builder.arms) builder.join(corner, around);
  builder.place_ports(ports);
}

}  // namespace photonrail::pip
