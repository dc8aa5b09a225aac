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
