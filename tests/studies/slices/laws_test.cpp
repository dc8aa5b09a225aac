// What every allocator promises, on random pods.
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "studies/slices/pods/wiring.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace photonrail::slices {
namespace {

/// The nearest that a policy serves: cubes of 4, servers of 2x2x1.
PodSpec random_spec(RandomStream& random) {
  PodSpec spec;
  const auto side = [&] { return static_cast<std::uint32_t>(4 * (1 + random.below(3))); };
  spec.torus = random.below(4) == 0 ? Shape::of({side(), side()}) : Shape::of({side(), side(), side()});
  if (spec.torus.dimensions == 2) spec.server = Shape::of({2, 2});
  spec.fibres = random.below(2) == 0 ? 0 : 8;
  spec.reach = 1 + static_cast<std::uint32_t>(random.below(3));
  spec.domain = 16;
  return spec;
}

Shape random_shape(RandomStream& random, std::uint32_t dimensions) {
  static const std::vector<std::uint32_t> kSides{1, 1, 2, 2, 3, 4, 4, 6, 8, 12};
  std::vector<std::uint32_t> sides;
  for (std::uint32_t d = 0; d < dimensions; ++d) sides.push_back(kSides[random.below(kSides.size())]);
  return Shape::of(sides);
}

bool has_idle_box(const Pod& pod, const Shape& shape) {
  const Shape& torus = pod.spec().torus;
  for (const Shape& turned : shape.rotations()) {
    if (turned[0] > torus[0] || turned[1] > torus[1] || turned[2] > torus[2]) continue;
    for (std::uint32_t start = 0; start < torus.size(); ++start) {
      const Coordinates from = torus.at(start);
      bool idle = true;
      for (std::uint32_t i = 0; idle && i < turned.size(); ++i) {
        Coordinates at = turned.at(i);
        for (std::size_t d = 0; d < 3; ++d) at[d] = (at[d] + from[d]) % torus[d];
        idle = pod.idle(torus.index(at));
      }
      if (idle) return true;
    }
  }
  return false;
}

/// Sides of the shape in parts of so many, rounded up: how many parts there are.
std::uint32_t parts_of(const Shape& shape, const Coordinates& part) {
  std::uint32_t parts = 1;
  for (std::size_t d = 0; d < 3; ++d) parts *= (shape[d] + part[d] - 1) / part[d];
  return parts;
}

/// Idle units of the pod, each given by its accelerators, by the group that `group` names.
template <class UnitOf, class GroupOf>
std::map<std::uint32_t, std::uint32_t> idle_units(const Pod& pod, UnitOf&& unit, GroupOf&& group) {
  std::map<std::uint32_t, bool> idle;  // by unit
  for (std::uint32_t a = 0; a < pod.size(); ++a) {
    const auto known = idle.try_emplace(unit(a), true).first;
    known->second = known->second && pod.idle(a);
  }
  std::map<std::uint32_t, std::uint32_t> found;
  std::set<std::uint32_t> counted;
  for (std::uint32_t a = 0; a < pod.size(); ++a) {
    if (idle.at(unit(a)) && counted.insert(unit(a)).second) ++found[group(a)];
  }
  return found;
}

std::uint32_t cube_of(const Pod& pod, std::uint32_t accelerator) {
  const Coordinates at = pod.spec().torus.at(accelerator);
  return (at[0] / 4 * 64 + at[1] / 4) * 64 + at[2] / 4;
}

bool any_has(const std::map<std::uint32_t, std::uint32_t>& groups, std::uint32_t wanted) {
  return std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return group.second >= wanted; });
}

/// What docs/models/slices.md says that a policy does not refuse, counted without the policy's own code.
bool must_place(const std::string& policy, const Pod& pod, const Shape& shape) {
  const auto itself = [](std::uint32_t a) { return a; };
  const auto cube = [&](std::uint32_t a) { return cube_of(pod, a); };
  if (policy == "switched") {
    return any_has(idle_units(pod, itself, [&](std::uint32_t a) { return a / pod.spec().domain; }), shape.size());
  }
  if (policy == "ocs_cubes") {
    return any_has(idle_units(pod, cube, [](std::uint32_t) { return 0U; }), parts_of(shape, {4, 4, 4}));
  }
  const Coordinates& sides = shape.sides;
  const bool in_rack = std::all_of(sides.begin(), sides.end(), [](std::uint32_t side) { return side <= 4; });
  if (policy != "photonic" || pod.spec().fibres != 0 || !in_rack) return false;
  std::uint32_t servers = UINT32_MAX;
  for (const Shape& turned : shape.rotations()) servers = std::min(servers, parts_of(turned, pod.spec().server.sides));
  return any_has(idle_units(
                     pod, [&](std::uint32_t a) { return server_of(pod.spec(), a).front(); }, cube),
                 servers);
}

/// A pod with slices that come and go, and the checks after each request.
class PodWalk {
 public:
  PodWalk(const AllocatorFactory& factory, const PodSpec& spec, RandomStream& random)
      : factory_(factory), random_(random), pod_(spec), allocator_(factory.make(spec)) {}

  void step() {
    if (!slices_.empty() && random_.below(3) == 0) {
      const std::size_t gone = random_.below(slices_.size());
      pod_.release(slices_[gone]);
      slices_.erase(slices_.begin() + static_cast<std::ptrdiff_t>(gone));
      return;
    }
    if (random_.below(6) == 0) {  // a failure of one accelerator, for good
      const auto a = static_cast<std::uint32_t>(random_.below(pod_.size()));
      if (pod_.idle(a)) pod_.take(std::vector{a});
      return;
    }
    const Shape shape = random_shape(random_, pod_.spec().torus.dimensions);
    const SliceRequest request = random_.below(4) == 0 ? SliceRequest::count(shape.size()) : SliceRequest::box(shape);
    check(request, allocate(*allocator_, pod_, request));
  }

 private:
  void check(const SliceRequest& request, const SliceDecision& decision) {
    const std::string what = factory_.name + " " + (request.shape ? request.shape->text() : "any") + " of " +
                             std::to_string(request.accelerators) + " in " + pod_.spec().torus.text();
    const SliceDecision again = allocate(*allocator_, pod_, request);
    ASSERT_EQ(decision.placement.has_value(), again.placement.has_value()) << what;
    if (!decision.placement) {
      EXPECT_EQ(decision.reason == RefusalReason::kResource, request.accelerators > pod_.idle_count()) << what;
      if (decision.reason == RefusalReason::kResource) return;
      EXPECT_FALSE(factory_.takes_any_idle) << what;
      const bool must_fit = factory_.finds_every_box && request.shape && has_idle_box(pod_, *request.shape);
      EXPECT_FALSE(must_fit) << what;
      EXPECT_FALSE(request.shape && must_place(factory_.name, pod_, *request.shape)) << what;
      return;
    }
    const Placement& slice = *decision.placement;
    EXPECT_EQ(slice.accelerators, again.placement->accelerators) << what;
    EXPECT_EQ(slice.shape.size(), request.accelerators) << what;
    const std::set<std::uint32_t> distinct(slice.accelerators.begin(), slice.accelerators.end());
    ASSERT_EQ(distinct.size(), request.accelerators) << what;
    for (const std::uint32_t a : distinct) ASSERT_TRUE(a < pod_.size() && pod_.idle(a)) << what;
    pod_.take(slice);
    slices_.push_back(slice);
    check_fibres(what);
    if (factory_.name == "ocs_cubes") check_circuits(what);
  }

  void check_fibres(const std::string& what) const {
    if (factory_.fabric != SliceFabric::kServers || pod_.spec().fibres == 0) return;
    for (std::uint32_t b = 0; b < 3 * pod_.servers().size(); ++b)
      EXPECT_LE(pod_.circuits_through(b), pod_.spec().fibres) << what;
  }

  /// The circuits of all slices together are a matching of faces, each between equal positions, and no link is missing.
  void check_circuits(const std::string& what) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> after;
    std::set<std::pair<std::uint32_t, std::uint32_t>> before;
    const Shape& torus = pod_.spec().torus;
    for (const Placement& slice : slices_) {
      const SliceWiring wiring = wiring_of(pod_.spec(), slice, factory_.fabric);
      EXPECT_EQ(wiring.missing, 0u) << what;
      for (const FaceCircuit& circuit : wiring.circuits) {
        EXPECT_TRUE(after.insert({circuit.dimension, circuit.from}).second) << what;
        EXPECT_TRUE(before.insert({circuit.dimension, circuit.to}).second) << what;
        for (std::uint32_t d = 0; d < torus.dimensions; ++d) {
          if (d == circuit.dimension) continue;
          EXPECT_EQ(torus.at(circuit.from)[d] % 4, torus.at(circuit.to)[d] % 4) << what;
        }
        EXPECT_EQ(torus.at(circuit.from)[circuit.dimension] % 4, 3u) << what;
        EXPECT_EQ(torus.at(circuit.to)[circuit.dimension] % 4, 0u) << what;
      }
    }
  }

  const AllocatorFactory& factory_;
  RandomStream& random_;
  Pod pod_;
  std::unique_ptr<Allocator> allocator_;
  std::vector<Placement> slices_;
};

TEST(AllocatorLaws, HoldForEveryPolicyOnRandomPods) {
  const AllocatorRegistry known = AllocatorRegistry::builtin();
  for (const AllocatorFactory& factory : known.all()) {
    RandomStream random(1, factory.name);
    for (std::uint64_t pod = 0; pod < test::test_cases(12) && !::testing::Test::HasFatalFailure(); ++pod) {
      PodWalk walk(factory, random_spec(random), random);
      for (int step = 0; step < 60; ++step) walk.step();
    }
  }
}

TEST(AllocatorLaws, ABoxSearchFindsWhatBruteForceFinds) {
  RandomStream random(7, "boxes");
  const auto first = AllocatorRegistry::builtin().find("firstfit").make(PodSpec{});
  for (int round = 0; round < 200; ++round) {
    PodSpec spec;
    spec.torus = Shape::of({3, 4, 5});
    Pod pod(spec);
    for (std::uint32_t a = 0; a < pod.size(); ++a) {
      if (random.below(3) == 0) pod.take(std::vector{a});
    }
    const Shape shape =
        Shape::of({1 + static_cast<std::uint32_t>(random.below(3)), 2, 1 + static_cast<std::uint32_t>(random.below(4))});
    EXPECT_EQ(first->place(pod, shape).has_value(), has_idle_box(pod, shape)) << shape.text();
  }
}

TEST(AllocatorRegistry, IsATableOfValues) {
  AllocatorRegistry mine = AllocatorRegistry::builtin();
  EXPECT_THROW(mine.add(mine.find("firstfit")), ConfigError);
  EXPECT_THROW(mine.add({}), ConfigError);
  AllocatorFactory own = mine.find("firstfit");
  own.name = "mine";
  mine.add(own);
  EXPECT_EQ(mine.find("mine").name, "mine");
  EXPECT_THROW((void)AllocatorRegistry::builtin().find("mine"), ConfigError);
  EXPECT_GE(mine.all().size(), 12u);
}

}  // namespace
}  // namespace photonrail::slices
