// Decisions worked out by hand, policy by policy.
#include "photonrail/error.hpp"
#include "studies/slices/pods/fold_shape.hpp"
#include "studies/slices/pods/hilbert.hpp"
#include "studies/slices/pods/wiring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace photonrail::slices {
namespace {

/// A pod of which the accelerators in `idle`, given as boxes {start, sides}, are idle.
struct Box {
  Coordinates start{};
  Coordinates sides{1, 1, 1};
};

Pod pod_with(const Shape& torus, const std::vector<Box>& idle, PodSpec spec = {}) {
  spec.torus = torus;
  Pod pod(spec);
  std::vector<std::uint32_t> busy;
  for (std::uint32_t a = 0; a < pod.size(); ++a) {
    const Coordinates at = torus.at(a);
    const bool free = std::any_of(idle.begin(), idle.end(), [&](const Box& box) {
      for (std::size_t d = 0; d < 3; ++d) {
        if (at[d] < box.start[d] || at[d] >= box.start[d] + box.sides[d]) return false;
      }
      return true;
    });
    if (!free) busy.push_back(a);
  }
  pod.take(busy);
  return pod;
}

std::optional<Placement> place(const std::string& policy, const Pod& pod, const Shape& shape) {
  const AllocatorRegistry known = AllocatorRegistry::builtin();
  return allocate(*known.find(policy).make(pod.spec()), pod, SliceRequest::box(shape)).placement;
}

std::vector<Coordinates> places(const Pod& pod, const Placement& slice) {
  std::vector<Coordinates> at;
  for (const std::uint32_t a : slice.accelerators) at.push_back(pod.spec().torus.at(a));
  std::sort(at.begin(), at.end());
  return at;
}

TEST(Shapes, TurnInTheOrderOfPositions) {
  const std::vector<Shape> turned = Shape::of({1, 2, 3}).rotations();
  std::vector<std::string> texts;
  for (const Shape& shape : turned) texts.push_back(shape.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"1x2x3", "1x3x2", "2x1x3", "2x3x1", "3x1x2", "3x2x1"}));
  EXPECT_EQ(Shape::of({2, 2}).rotations().size(), 1u);
  EXPECT_THROW((void)Shape::of({2, 0}), ConfigError);
  EXPECT_THROW((void)Shape::of({1024, 1024, 2}), ConfigError);
  const std::vector<Shape> boxes = boxes_of(8, 3);  // surfaces 2 (ab + bc + ca): 24, 28, 34
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_EQ(boxes[0].text(), "2x2x2");
  EXPECT_EQ(boxes[1].text(), "1x2x4");
  EXPECT_EQ(boxes[2].text(), "1x1x8");
}

TEST(FirstFit, WrapsAroundBothSides) {
  const Pod pod = pod_with(
      Shape::of({4, 4}), {{{0, 3, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}, {{3, 3, 0}, {1, 1, 1}}, {{3, 0, 0}, {1, 1, 1}}});
  const auto slice = place("firstfit", pod, Shape::of({2, 2}));
  ASSERT_TRUE(slice.has_value());
  EXPECT_EQ(places(pod, *slice), (std::vector<Coordinates>{{0, 0, 0}, {0, 3, 0}, {3, 0, 0}, {3, 3, 0}}));
}

TEST(FirstFit, TakesTheShapeAsGivenBeforeAnEarlierStartOfAnotherRotation) {
  const Pod pod = pod_with(Shape::of({4, 4}), {{{0, 0, 0}, {3, 1, 1}}, {{1, 1, 0}, {1, 3, 1}}});
  const auto slice = place("firstfit", pod, Shape::of({1, 3}));
  ASSERT_TRUE(slice.has_value());
  EXPECT_EQ(slice->shape.text(), "1x3");
  EXPECT_EQ(places(pod, *slice).front(), (Coordinates{1, 0, 0}));  // (1,0) (1,1) (1,2): the corner of the L belongs to it
}

TEST(BestFit, FillsTheSmallestHole) {
  const Pod pod = pod_with(Shape::of({8, 8}), {{{0, 0, 0}, {4, 4, 1}}, {{6, 5, 0}, {1, 2, 1}}});
  const auto slice = place("bestfit", pod, Shape::of({1, 2}));
  ASSERT_TRUE(slice.has_value());
  EXPECT_EQ(places(pod, *slice), (std::vector<Coordinates>{{6, 5, 0}, {6, 6, 0}}));
}

// The first cell of a Hilbert curve of side 4 in two and three dimensions, as Skilling's transform orders them.
TEST(Hilbert, BeginsAsPublished) {
  const std::vector<Coordinates> in_plane{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const std::vector<Coordinates> in_space{{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}};
  for (std::uint32_t h = 0; h < 4; ++h) {
    EXPECT_EQ(hilbert_index(in_plane[h], 2, 2), h);
    EXPECT_EQ(hilbert_index(in_space[h], 3, 2), h);
  }
  // Each index once, and neighbours in the index are neighbours in space.
  const Shape cube = Shape::of({8, 8, 8});
  std::vector<std::uint32_t> at(512, UINT32_MAX);
  for (std::uint32_t i = 0; i < 512; ++i) at.at(hilbert_index(cube.at(i), 3, 3)) = i;
  for (std::uint32_t h = 1; h < 512; ++h) {
    std::uint32_t steps = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t a = cube.at(at[h - 1])[d];
      const std::uint32_t b = cube.at(at[h])[d];
      steps += a > b ? a - b : b - a;
    }
    EXPECT_EQ(steps, 1u);
  }
}

// 4x4x6 = a whole cube and a face of two layers, 6 being no multiple of 4. Idle: cube (0,0,0), and the near half of
// (1,1,1).
TEST(Cubes, AreJoinedWhereverTheyAre) {
  const Pod pod = pod_with(Shape::of({8, 8, 8}), {{{0, 0, 0}, {4, 4, 4}}, {{4, 4, 4}, {4, 4, 2}}});
  for (const char* policy : {"reconfig", "ocs_cubes", "rfold"}) {
    const auto slice = place(policy, pod, Shape::of({4, 4, 6}));
    ASSERT_TRUE(slice.has_value()) << policy;
    EXPECT_EQ(slice->shape.text(), "4x4x6");
    const SliceWiring wiring = wiring_of(pod.spec(), *slice, SliceFabric::kCubes);
    // Links: x and y wrap in every layer (2 x 16 x 6), z does not (16 x 5). In x and y one of four closes through a switch
    // (2 x 4 x 6), in z the layer between both cubes (16).
    EXPECT_EQ(wiring.missing, 0u);
    EXPECT_EQ(wiring.circuits.size(), 48u + 16u);
    EXPECT_EQ(wiring.electrical, 2 * 96u + 80u - 64u);
  }
  EXPECT_FALSE(place("firstfit", pod, Shape::of({4, 4, 6})).has_value());
}

// The rest is at the far end of the only cube that has it: it then comes before the whole cube.
TEST(Cubes, APartAtTheFarEndComesFirst) {
  const Pod pod = pod_with(Shape::of({4, 4, 8}), {{{0, 0, 0}, {4, 4, 4}}, {{0, 0, 6}, {4, 4, 2}}});
  for (const char* policy : {"reconfig", "ocs_cubes"}) {
    const auto slice = place(policy, pod, Shape::of({4, 4, 6}));
    ASSERT_TRUE(slice.has_value()) << policy;
    EXPECT_EQ(wiring_of(pod.spec(), *slice, SliceFabric::kCubes).missing, 0u);
    EXPECT_EQ(pod.spec().torus.at(slice->accelerators[0]), (Coordinates{0, 0, 6}));
    EXPECT_EQ(pod.spec().torus.at(slice->accelerators[2]), (Coordinates{0, 0, 0}));
  }
}

// 6x2x2 is an edge of 4x2x2 and a corner of 2x2x2. The published rules put each where it fits; here the faces then miss
// each other, and only the rule of one place refuses.
TEST(Cubes, ThePublishedRulesMayMissAFace) {
  const Pod pod = pod_with(Shape::of({4, 4, 8}), {{{0, 0, 0}, {4, 2, 2}}, {{2, 2, 6}, {2, 2, 2}}});
  const auto slice = place("reconfig", pod, Shape::of({6, 2, 2}));
  ASSERT_TRUE(slice.has_value());
  EXPECT_GT(wiring_of(pod.spec(), *slice, SliceFabric::kCubes).missing, 0u);
  EXPECT_FALSE(place("ocs_cubes", pod, Shape::of({6, 2, 2})).has_value());
}

TEST(Folding, KeepsTheLinksOfTheShape) {
  const auto texts = [](const std::vector<Shape>& shapes) {
    std::vector<std::string> found;
    for (const Shape& shape : shapes) found.push_back(shape.text());
    return found;
  };
  // 8x8 in space: halved once 2x4x8; in cubes of 4 also 4x4x4 (both halved) and 2x4x8 (quarter one: 2x8x4).
  EXPECT_EQ(texts(folds_of(Shape::of({1, 8, 8}), 8)), (std::vector<std::string>{"2x4x8"}));
  EXPECT_EQ(texts(folds_of(Shape::of({1, 8, 8}), 4)), (std::vector<std::string>{"4x4x4", "2x4x8"}));
  EXPECT_EQ(texts(folds_of(Shape::of({2, 4, 8}), 4)), (std::vector<std::string>{"4x4x4", "2x4x8"}));
  EXPECT_TRUE(folds_of(Shape::of({2, 4, 8}), 8).empty());
  EXPECT_TRUE(folds_of(Shape::of({3, 5, 7}), 4).empty());
  // A line of 16 is a box of any factors: in a torus of 8 the cubical one.
  const Pod pod = pod_with(Shape::of({8, 8, 8}), {{{0, 0, 0}, {8, 8, 8}}});
  EXPECT_EQ(place("folding", pod, Shape::of({1, 1, 16}))->shape.text(), "2x2x4");
  EXPECT_EQ(place("folding", pod, Shape::of({1, 8, 8}))->shape.text(), "2x4x8");
}

TEST(Folding, ALineGoesThroughTheEmptiestCubeInUse) {
  const Pod pod = pod_with(Shape::of({4, 4, 8}), {{{0, 0, 0}, {4, 4, 3}}, {{0, 0, 4}, {1, 1, 4}}});
  const auto slice = place("rfold", pod, Shape::of({1, 1, 6}));
  ASSERT_TRUE(slice.has_value());
  const Shape& torus = pod.spec().torus;
  for (std::size_t i = 1; i < slice->accelerators.size(); ++i) {
    std::uint32_t steps = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t a = torus.at(slice->accelerators[i - 1])[d];
      const std::uint32_t b = torus.at(slice->accelerators[i])[d];
      const std::uint32_t apart = a > b ? a - b : b - a;
      steps += std::min(apart, 4 - apart);
    }
    EXPECT_EQ(steps, 1u);
  }
}

// A rack of 4x4x4 in servers of 2x2x1 with one server free in each of the four corners of the grid but at other heights: no
// aligned 2x2x2, but photonic servers join any two.
TEST(PhotonicServers, JoinWhatIsFree) {
  const Pod pod = pod_with(Shape::of({4, 4, 4}), {{{0, 0, 0}, {2, 2, 1}}, {{2, 0, 1}, {2, 2, 1}}});
  EXPECT_FALSE(place("aligned", pod, Shape::of({2, 2, 2})).has_value());
  const auto slice = place("photonic", pod, Shape::of({2, 2, 2}));
  ASSERT_TRUE(slice.has_value());
  // One link of 4 circuits, from (0,0,0) to (1,0,1): a boundary in x and one in z, 4 circuits each.
  ASSERT_EQ(slice->fibres.size(), 2u);
  EXPECT_EQ(slice->fibres[0].circuits, 4u);
  EXPECT_EQ(slice->fibres[1].circuits, 4u);
  PodSpec few;
  few.fibres = 3;
  EXPECT_FALSE(place("photonic", pod_with(Shape::of({4, 4, 4}), {{{0, 0, 0}, {2, 2, 1}}, {{2, 0, 1}, {2, 2, 1}}}, few),
                     Shape::of({2, 2, 2}))
                   .has_value());
}

// 3 accelerators are 2 + 1 of two servers of 2x2x1, joined by one circuit. 3x3x3 needs 2 x 2 x 3 servers: an idle rack has
// them aligned, one that lacks a server has 12 of 15 somewhere.
TEST(PhotonicServers, GiveWholeServersToShapesThatCutThem) {
  const Pod idle = pod_with(Shape::of({4, 4, 4}), {{{0, 0, 0}, {4, 4, 4}}});
  for (const char* policy : {"aligned", "photonic"}) {
    const auto three = place(policy, idle, Shape::of({1, 1, 3}));
    ASSERT_TRUE(three.has_value()) << policy;
    ASSERT_EQ(three->fibres.size(), 1u);
    EXPECT_EQ(three->fibres[0].circuits, 1u);
    ASSERT_TRUE(place(policy, idle, Shape::of({3, 3, 3})).has_value()) << policy;
  }
  Pod lacks = idle;
  lacks.take(std::vector<std::uint32_t>{0, 4, 16, 20});
  EXPECT_FALSE(place("aligned", lacks, Shape::of({3, 3, 3})).has_value());
  const auto scattered = place("photonic", lacks, Shape::of({3, 3, 3}));
  ASSERT_TRUE(scattered.has_value());
  std::set<std::uint32_t> servers;
  for (const std::uint32_t a : scattered->accelerators) servers.insert(server_of(lacks.spec(), a).front());
  EXPECT_EQ(servers.size(), 12u);
}

// 2x2x3 begins at multiples of 3 inside each rack: at z = 4 where the first rack is busy.
TEST(Aligned, CountsFromTheBeginningOfARack) {
  const Pod pod = pod_with(Shape::of({4, 4, 8}), {{{0, 0, 4}, {4, 4, 4}}});
  const auto slice = place("aligned", pod, Shape::of({2, 2, 3}));
  ASSERT_TRUE(slice.has_value());
  EXPECT_EQ(places(pod, *slice).front(), (Coordinates{0, 0, 4}));
}

// 8 servers of 4 in a line; 2 and 5, 6 are not idle. Reach 2 bypasses one: 3 4 | 7 0 1 wraps round to 3 over 2.
TEST(KHop, ReachesOverBusyServers) {
  PodSpec spec;
  spec.server = Shape::of({1, 4});
  const std::vector<Box> idle{{{0, 0, 0}, {2, 4, 1}}, {{3, 0, 0}, {2, 4, 1}}, {{7, 0, 0}, {1, 4, 1}}};
  spec.reach = 1;
  EXPECT_TRUE(place("k_hop", pod_with(Shape::of({8, 4}), idle, spec), Shape::of({3, 4})).has_value());  // 7 0 1
  EXPECT_FALSE(place("k_hop", pod_with(Shape::of({8, 4}), idle, spec), Shape::of({4, 4})).has_value());
  spec.reach = 2;
  const Pod pod = pod_with(Shape::of({8, 4}), idle, spec);
  const auto slice = place("k_hop", pod, Shape::of({5, 4}));
  ASSERT_TRUE(slice.has_value());  // 7 0 1 3 4
  EXPECT_EQ(pod.spec().torus.at(slice->accelerators[0])[0], 7u);
  EXPECT_EQ(pod.spec().torus.at(slice->accelerators[19])[0], 4u);
}

TEST(Switched, TakesTheFullestDomainThatHasRoom) {
  PodSpec spec;
  spec.domain = 8;
  const Pod pod = pod_with(Shape::of({4, 8}), {{{0, 0, 0}, {1, 8, 1}}, {{2, 3, 0}, {1, 4, 1}}}, spec);
  const auto slice = place("switched", pod, Shape::of({1, 3}));
  ASSERT_TRUE(slice.has_value());
  EXPECT_EQ(places(pod, *slice).front(), (Coordinates{2, 3, 0}));
  EXPECT_FALSE(place("switched", pod, Shape::of({1, 9})).has_value());
}

// Two boxes of their own links do not meet. Two that interleave along y share: each ring of 2 goes over the other's links.
TEST(Shares, InterleavedTenantsHalveEachOther) {
  PodSpec spec;
  spec.torus = Shape::of({1, 8});
  const auto line = [](std::vector<std::uint32_t> accelerators) {
    return Placement{Shape::of({1, static_cast<std::uint32_t>(accelerators.size())}), accelerators, {}};
  };
  const std::vector<Placement> apart{line({0, 1}), line({4, 5})};
  EXPECT_EQ(torus_shares(spec, apart), (std::vector<double>{1.0, 1.0}));
  const std::vector<Placement> interleaved{line({0, 2}), line({1, 3})};
  EXPECT_EQ(torus_shares(spec, interleaved), (std::vector<double>{0.5, 0.5}));
  // A line of 3 closes its ring over its own links: two rings on each.
  const std::vector<Placement> open{line({0, 1, 2})};
  EXPECT_EQ(torus_shares(spec, open), (std::vector<double>{0.5}));
}

TEST(Stranded, IsWhatNoRequestGets) {
  const Pod pod = pod_with(Shape::of({4, 4, 4}), {{{0, 0, 0}, {2, 2, 1}}, {{2, 2, 2}, {2, 2, 1}}});
  const AllocatorRegistry known = AllocatorRegistry::builtin();
  const std::vector<Shape> sizes{Shape::of({2, 2, 1}), Shape::of({2, 2, 2})};
  EXPECT_DOUBLE_EQ(stranded_share(*known.find("aligned").make(pod.spec()), pod, sizes), 0.5);
  EXPECT_DOUBLE_EQ(stranded_share(*known.find("photonic").make(pod.spec()), pod, sizes), 0.0);
}

}  // namespace
}  // namespace photonrail::slices
