// Folding: a box of another shape that carries the job's links. Rules: RFold (arXiv 2510.03891).
#include "studies/slices/pods/fold_shape.hpp"

#include "studies/slices/pods/box_search.hpp"
#include "studies/slices/pods/builtin.hpp"
#include "studies/slices/pods/cubes.hpp"
#include "studies/slices/pods/line_search.hpp"

#include <algorithm>
#include <set>

namespace photonrail::slices {

namespace {

constexpr std::uint32_t kFoldingCube = 4;  // the wrap-around links of such a cube close folds of a quarter

std::uint32_t largest_side(const Shape& s) { return *std::max_element(s.sides.begin(), s.sides.end()); }

/// A side of 2 becomes 4, another even side is halved.
void fold_two_to_four(const Shape& shape, std::set<Shape>& found) {
  for (std::uint32_t two = 0; two < shape.dimensions; ++two) {
    for (std::uint32_t halved = 0; halved < shape.dimensions; ++halved) {
      if (two == halved || shape[two] != 2 || shape[halved] % 2 != 0) continue;
      Shape folded = shape;
      folded.sides[two] = 4;
      folded.sides[halved] /= 2;
      if (folded.extended() == shape.extended()) found.insert(ascending(folded));
    }
  }
}

/// Two long sides become three.
void fold_into_space(const Shape& shape, std::uint32_t edge, std::set<Shape>& found) {
  std::vector<std::uint32_t> sides;
  for (const std::uint32_t side : shape.sides) {
    if (side != 1) sides.push_back(side);
  }
  const auto add = [&](std::uint32_t by_a, std::uint32_t by_b) {
    if (sides[0] % by_a != 0 || sides[1] % by_b != 0) return;
    const Shape folded = Shape::of({sides[0] / by_a, sides[1] / by_b, by_a * by_b});
    if (folded.extended() == 3) found.insert(ascending(folded));
  };
  add(2, 1);
  add(1, 2);
  if (edge != kFoldingCube) return;
  add(4, 1);
  add(2, 2);
  add(1, 4);
}

}  // namespace

Shape ascending(Shape shape) {
  std::sort(shape.sides.begin(), shape.sides.begin() + shape.dimensions);
  return shape;
}

std::vector<Shape> folds_of(const Shape& shape, std::uint32_t edge) {
  std::set<Shape> found;
  const std::uint32_t extended = shape.extended();
  if (edge == kFoldingCube && extended >= 2) fold_two_to_four(shape, found);
  if (extended == 2 && shape.dimensions == 3) fold_into_space(shape, edge, found);
  std::vector<Shape> folds(found.begin(), found.end());
  std::stable_sort(folds.begin(), folds.end(), [](const Shape& a, const Shape& b) { return a.surface() < b.surface(); });
  return folds;
}

namespace {

/// The fold that fits the torus and has the smallest largest side, the most cubical of equals, at the first idle box. The
/// cube whose wrap-around links close folds is the torus itself here: only in a torus of side 4 do the rules for cubes of 4
/// apply.
class FoldOnly : public Allocator {
 public:
  explicit FoldOnly(std::unique_ptr<Allocator> boxes) : boxes_(std::move(boxes)) {}

  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const Shape& torus = pod.spec().torus;
    const std::uint32_t side = *std::min_element(torus.sides.begin(), torus.sides.begin() + torus.dimensions);
    std::vector<Shape> folds = shape.extended() == 1 ? boxes_of(shape.size(), shape.dimensions) : folds_of(shape, side);
    std::erase_if(folds, [&](const Shape& fold) { return largest_side(fold) > side; });
    const auto best = std::min_element(folds.begin(), folds.end(),
                                       [](const Shape& a, const Shape& b) { return largest_side(a) < largest_side(b); });
    return boxes_->place(pod, best == folds.end() ? shape : *best);
  }

 private:
  std::unique_ptr<Allocator> boxes_;
};

/// The fold with the fewest cubes, if they are not more than unfolded, in cubes. Lines are laid through the fullest cubes.
class FoldedCubes : public Allocator {
 public:
  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const std::uint32_t edge = pod.spec().block;
    if (shape.extended() == 1) {
      if (auto line = place_line(pod, shape)) return line;
      return place_in_cubes(pod, shape);
    }
    const std::vector<Shape> folds = folds_of(shape, edge);
    const auto best = std::min_element(folds.begin(), folds.end(), [&](const Shape& a, const Shape& b) {
      return cubes_needed(a, edge) < cubes_needed(b, edge);
    });
    const bool folded = best != folds.end() && cubes_needed(*best, edge) <= cubes_needed(shape, edge);
    return place_in_cubes(pod, folded ? *best : shape);
  }
};

}  // namespace

AllocatorFactory fold_only() {
  AllocatorFactory factory;
  factory.name = "folding";
  factory.summary = "the shape folded to the smallest largest side, in the first idle box";
  factory.make = [](const PodSpec& spec) { return std::make_unique<FoldOnly>(first_fit().make(spec)); };
  return factory;
}

AllocatorFactory folded_cubes() {
  AllocatorFactory factory;
  factory.name = "rfold";
  factory.summary = "the shape folded to the fewest cubes, then as reconfig (RFold, arXiv 2510.03891)";
  factory.fabric = SliceFabric::kCubes;
  factory.make = [](const PodSpec& spec) {
    check_cubes(spec);
    return std::make_unique<FoldedCubes>();
  };
  return factory;
}

}  // namespace photonrail::slices
