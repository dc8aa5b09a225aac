// Ways over the links of tori, meshes, twisted tori and rings against a search in the graph of their links.
#include "topology/link_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::topology {
namespace {

using Kind = ScaleUpShape::Kind;

ScaleUpShape torus(std::vector<std::uint32_t> sides, bool wraps = true, bool twisted = false) {
  ScaleUpShape shape;
  shape.kind = Kind::kTorus;
  shape.wraps.assign(sides.size(), wraps);
  shape.sides = std::move(sides);
  shape.twisted = twisted;
  return shape;
}

std::uint32_t size_of(const ScaleUpShape& shape) {
  std::uint32_t size = 1;
  for (const std::uint32_t side : shape.sides) size *= side;
  return size;
}

std::vector<std::uint32_t> distances(const LinkGrid& grid, std::uint32_t gpus, std::uint32_t from) {
  std::vector<std::uint32_t> far(gpus, UINT32_MAX);
  std::deque<std::uint32_t> queue{from};
  far[from] = 0;
  while (!queue.empty()) {
    const std::uint32_t at = queue.front();
    queue.pop_front();
    for (std::uint32_t slot = 0; slot < grid.slots(); ++slot) {
      const auto next = grid.neighbour(at, slot);
      if (!next || far[*next] != UINT32_MAX) continue;
      far[*next] = far[at] + 1;
      queue.push_back(*next);
    }
  }
  return far;
}

/// Walks every way; returns how many of them use each link.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> loads(const LinkGrid& grid, std::uint32_t gpus) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> load;
  std::uint32_t wrong = 0;
  for (std::uint32_t from = 0; from < gpus; ++from) {
    if (!grid.has(from)) continue;
    const std::vector<std::uint32_t> far = distances(grid, gpus, from);
    for (std::uint32_t to = 0; to < gpus; ++to) {
      if (to == from || !grid.has(to)) continue;
      std::uint32_t at = from;
      std::uint32_t hops = 0;
      grid.route(from, to, [&](const GridLink& link) {
        wrong += link.from != at ? 1 : 0;
        at = grid.neighbour(at, link.slot).value();
        ++load[{link.from, link.slot}];
        ++hops;
      });
      wrong += at != to || hops != far[to] ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, 0u) << "ways that do not follow links, do not arrive, or are not the shortest";
  return load;
}

std::pair<std::uint32_t, std::uint32_t> extremes(const LinkGrid& grid, std::uint32_t gpus) {
  const auto load = loads(grid, gpus);
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(load.begin(), load.end(), less);
  return {least->second, most->second};
}

TEST(LinkGrid, WaysAreTheShortestOnTori) {
  for (const auto& sides : {std::vector<std::uint32_t>{2}, {7}, {8}, {3, 4}, {2, 5}, {4, 4, 4}, {3, 1, 5}, {2, 2, 2}}) {
    for (const bool wraps : {true, false}) {
      const ScaleUpShape shape = torus(sides, wraps);
      static_cast<void>(loads(LinkGrid(shape, size_of(shape)), size_of(shape)));
    }
  }
}

// All pairs of a ring of s: s^2 - 1 over 8 ways a link and direction for odd s, s^2 / 8 for multiples of 4.
TEST(LinkGrid, SpreadsAllPairsOverBothDirections) {
  const std::pair<std::uint32_t, std::uint32_t> five{3, 3};
  const std::pair<std::uint32_t, std::uint32_t> eight{8, 8};
  EXPECT_EQ(extremes(LinkGrid(torus({5}), 5), 5), five);
  EXPECT_EQ(extremes(LinkGrid(torus({8}), 8), 8), eight);
  // In a 4x4x4: 16 / 8 = 2 of a line, for each of 16 lines behind it.
  const std::pair<std::uint32_t, std::uint32_t> cube{32, 32};
  EXPECT_EQ(extremes(LinkGrid(torus({4, 4, 4}), 64), 64), cube);
}

// The mean of the ways of 4x4x8 is 512 / 127 links, on the plain torus half of them along the long side: 128 of all 128 x
// 127 ways on each of its links. Twisted, the ways are 440 / 127 links long, and on all six links of a GPU alike 440 / 6
// = 73.3.
TEST(LinkGrid, ATwistShortensWaysAndSpreadsThem) {
  const auto plain = extremes(LinkGrid(torus({4, 4, 8}), 128), 128);
  EXPECT_EQ(plain.second, 128u);
  const auto twisted = extremes(LinkGrid(torus({4, 4, 8}, true, true), 128), 128);
  EXPECT_GE(twisted.second, 74u);
  EXPECT_LE(twisted.second, 90u);
  std::cout << "4x4x8: the busiest link has " << plain.second << " ways, twisted " << twisted.second << '\n';
  const auto plain_wide = extremes(LinkGrid(torus({8, 4, 8}), 256), 256);
  const auto twisted_wide = extremes(LinkGrid(torus({8, 4, 8}, true, true), 256), 256);
  std::cout << "8x4x8: the busiest link has " << plain_wide.second << " ways, twisted " << twisted_wide.second << '\n';
  EXPECT_EQ(plain_wide.second, 256u);
  EXPECT_LT(twisted_wide.second, plain_wide.second);
  EXPECT_LT(twisted.second, plain.second);
}

TEST(LinkGrid, FacesOfCubesAreAtMultiples) {
  ScaleUpShape shape = torus({8, 4});
  shape.block = 4;
  const LinkGrid grid(shape, 32);
  std::uint32_t faces = 0;
  std::uint32_t links = 0;
  for (std::uint32_t from = 0; from < 32; ++from) {
    for (std::uint32_t slot = 0; slot < grid.slots(); ++slot) {
      const auto to = grid.neighbour(from, slot);
      ASSERT_TRUE(to.has_value());
      grid.route(from, *to, [&](const GridLink& link) {
        ++links;
        faces += link.face ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(links, 128u);
  EXPECT_EQ(faces, 2 * (4 * 2 + 8 * 1));  // each direction: two faces of 4 across the long side, one of 8 across the short
}

TEST(LinkGrid, ARingBypassesWhatFailed) {
  ScaleUpShape ring;
  ring.kind = Kind::kRing;
  ring.bypassed = {1, 4, 5};
  EXPECT_FALSE(LinkGrid::problem(ring, 8).has_value());  // 4 and 5 cut it once: a line from 6 to 3
  const LinkGrid line(ring, 8);
  EXPECT_FALSE(line.has(4));
  EXPECT_EQ(line.neighbour(0, 0), 2u);
  EXPECT_FALSE(line.neighbour(3, 0).has_value());
  EXPECT_EQ(line.neighbour(7, 0), 0u);
  static_cast<void>(loads(line, 8));
  ring.reach = 3;  // and with a longer reach not at all
  const LinkGrid closed(ring, 8);
  EXPECT_EQ(closed.neighbour(3, 0), 6u);
  static_cast<void>(loads(closed, 8));
  ring.reach = 1;
  EXPECT_NE(LinkGrid::problem(ring, 8)->text.find("2 parts, at GPUs 1 and 4"), std::string::npos);
}

// A pool of 6: 4 links in a ring of rings have 1.5 each, 2 links of a ring 3. At the corner of a 2x3 mesh a link that ends
// in a GPU of three links has a third.
TEST(LinkGrid, DividesAPoolOfEgress) {
  ScaleUpShape shape = torus({4, 4});
  shape.pooled = true;
  const auto rate = [](const ScaleUpShape& of, std::uint32_t gpu, std::uint32_t slot) {
    return LinkGrid(of, size_of(of)).rate(gpu, slot, Bandwidth{6.0}).bytes_per_second;
  };
  EXPECT_EQ(rate(shape, 5, 0), 1.5);
  shape.sides = {4};
  shape.wraps = {true};
  EXPECT_EQ(rate(shape, 0, 1), 3.0);
  shape.sides = {2, 3};
  shape.wraps = {false, false};
  EXPECT_EQ(rate(shape, 0, 0), 3.0);  // two links at both ends
  EXPECT_EQ(rate(shape, 0, 2), 2.0);
  EXPECT_EQ(rate(shape, 0, 3), 0.0);
}

TEST(LinkGrid, FindsBoxes) {
  const LinkGrid grid(torus({4, 4, 4}), 64);
  const std::vector<std::uint32_t> plane{21, 5, 4, 20};  // x 1 and 0, y 1, z 1 and 0
  const auto box = grid.box_of(plane);
  ASSERT_TRUE(box.has_value());
  EXPECT_EQ(box->cells, (std::vector<std::uint32_t>{2, 2}));
  EXPECT_EQ(box->members, (std::vector<std::uint32_t>{2, 1, 3, 0}));
  EXPECT_FALSE(grid.box_of(std::vector<std::uint32_t>{0, 1, 4}).has_value());
  const auto line = grid.box_of(std::vector<std::uint32_t>{0, 1, 2, 3});
  EXPECT_EQ(line->closing, std::vector<std::uint32_t>{1});
  const auto part = grid.box_of(std::vector<std::uint32_t>{0, 1, 2});
  EXPECT_EQ(part->closing, std::vector<std::uint32_t>{2});
}

ScaleUpShape rail_rings(std::uint32_t nodes, std::uint32_t mesh) {
  ScaleUpShape shape = torus({nodes * mesh, nodes * mesh});
  shape.block = mesh;
  shape.rail_rings = true;
  return shape;
}

// With (n - 1) / 2 rails, every pair of the n nodes of a row is joined by one rail, n (n - 1) / 2 links in all: rail i of a
// row leaves node a at its last column and reaches the first column of the next node of ring i. Columns alike.
TEST(LinkGrid, RailRingsJoinEveryPairOfARowOnce) {
  for (const auto& [n, mesh] : {std::pair{3u, 1u}, {5u, 2u}, {7u, 3u}, {9u, 4u}}) {
    const std::uint32_t side = n * mesh;
    const LinkGrid grid(rail_rings(n, mesh), side * side);
    for (const std::uint32_t d : {0u, 1u}) {
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined;
      for (std::uint32_t rail = 0; rail < mesh; ++rail) {
        for (std::uint32_t node = 0; node < n; ++node) {
          const std::uint32_t along = node * mesh + mesh - 1;
          const std::uint32_t gpu = d == 0 ? along * side + rail : rail * side + along;
          const std::uint32_t other = grid.neighbour(gpu, 2 * d).value();
          EXPECT_EQ(grid.neighbour(other, 2 * d + 1), gpu);
          EXPECT_TRUE(grid.is_face(gpu, 2 * d));
          const std::uint32_t next = (d == 0 ? other / side : other % side) / mesh;
          ++joined[{std::min(node, next), std::max(node, next)}];
        }
      }
      EXPECT_EQ(joined.size(), n * (n - 1) / 2);
      for (const auto& [pair, links] : joined) EXPECT_EQ(links, 1u) << pair.first << " and " << pair.second;
    }
  }
}

/// The fewest links between nodes on the way to each GPU, whatever links inside nodes it takes.
std::vector<std::uint32_t> fewest_faces(const LinkGrid& grid, std::uint32_t gpus, std::uint32_t from) {
  std::vector<std::uint32_t> faces(gpus, UINT32_MAX);
  std::deque<std::uint32_t> queue{from};
  faces[from] = 0;
  while (!queue.empty()) {
    const std::uint32_t at = queue.front();
    queue.pop_front();
    for (std::uint32_t slot = 0; slot < grid.slots(); ++slot) {
      const std::uint32_t next = grid.neighbour(at, slot).value_or(at);
      const std::uint32_t more = faces[at] + (grid.is_face(at, slot) ? 1 : 0);
      if (more >= faces[next]) continue;
      faces[next] = more;
      more > faces[at] ? queue.push_back(next) : queue.push_front(next);
    }
  }
  return faces;
}

// Every way arrives and is the shortest. With as many rails as rings two links between nodes do for any pair, one along the
// row and one along the column.
TEST(LinkGrid, RailRingsAreWaysOfTwoHops) {
  for (const auto& [n, mesh] : {std::pair{3u, 1u}, {5u, 2u}}) {
    const std::uint32_t gpus = n * n * mesh * mesh;
    const LinkGrid grid(rail_rings(n, mesh), gpus);
    static_cast<void>(loads(grid, gpus));
    for (const std::uint32_t faces : fewest_faces(grid, gpus, 0)) EXPECT_LE(faces, 2u);
    EXPECT_FALSE(grid.box_of(std::vector<std::uint32_t>{0, mesh}).has_value()) << "two nodes are no box";
  }
  EXPECT_NE(LinkGrid::problem(rail_rings(4, 2), 64)->text.find("every pair of 4 nodes"), std::string::npos);
  EXPECT_EQ(LinkGrid::problem(rail_rings(5, 13), 4225)->text, "the ways of more than 4096 GPUs are not tabled");
}

TEST(LinkGrid, RefusesWhatIsNoShape) {
  EXPECT_NE(LinkGrid::problem(torus({4, 4}), 8)->text.find("a torus of 4 x 4 has 16 GPUs"), std::string::npos);
  EXPECT_TRUE(LinkGrid::problem(torus({4, 4, 6}, true, true), 96).has_value());
  EXPECT_TRUE(LinkGrid::problem(torus({4, 4, 8}, false, true), 128).has_value());
  EXPECT_FALSE(LinkGrid::problem(torus({8, 4, 4}, true, true), 128).has_value());
  ScaleUpShape cubes = torus({4, 6});
  cubes.block = 4;
  EXPECT_TRUE(LinkGrid::problem(cubes, 24).has_value());
  EXPECT_TRUE(LinkGrid::problem(torus({}), 1).has_value());
}

}  // namespace
}  // namespace photonrail::topology
