// Contiguous boxes on the links of the torus. Rules of first fit: the public allocator of RFold (arXiv 2510.03891).
#include "studies/slices/pods/box_search.hpp"
#include "studies/slices/pods/builtin.hpp"

namespace photonrail::slices {

namespace {

class FirstFit : public Allocator {
 public:
  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const BoxSearch search(pod, shape);
    for (const Shape& turned : shape.rotations()) {
      if (const auto start = search.first(turned)) return box_at(pod.spec().torus, *start, turned);
    }
    return std::nullopt;
  }
};

/// The idle box, over all rotations, that leaves the fewest idle neighbours around it, so that large holes stay whole.
class BestFit : public Allocator {
 public:
  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const BoxSearch search(pod, shape);
    std::optional<Placement> best;
    std::uint32_t fewest = 0;
    for (const Shape& turned : shape.rotations()) {
      std::uint32_t neighbours = 0;
      const auto start = search.tightest(turned, neighbours);
      if (!start || (best && neighbours >= fewest)) continue;
      best = box_at(pod.spec().torus, *start, turned);
      fewest = neighbours;
    }
    return best;
  }
};

}  // namespace

AllocatorFactory first_fit() {
  AllocatorFactory factory;
  factory.name = "firstfit";
  factory.summary = "the first idle box, rotations in order, starts in row-major order";
  factory.make = [](const PodSpec&) { return std::make_unique<FirstFit>(); };
  factory.finds_every_box = true;
  return factory;
}

AllocatorFactory best_fit() {
  AllocatorFactory factory;
  factory.name = "bestfit";
  factory.summary = "the idle box with the fewest idle neighbours";
  factory.make = [](const PodSpec&) { return std::make_unique<BestFit>(); };
  factory.finds_every_box = true;
  return factory;
}

}  // namespace photonrail::slices
