// Windows of idle accelerators along a Hilbert curve, as Slurm orders nodes. Rules: the public allocator of RFold
// (arXiv 2510.03891).
#include "studies/slices/pods/hilbert.hpp"

#include "studies/slices/pods/builtin.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace photonrail::slices {

std::uint64_t hilbert_index(Coordinates at, std::uint32_t dimensions, std::uint32_t bits) {
  // From coordinates to the transposed index: undo the exchanges and reflections from the coarsest bit on.
  for (std::uint32_t bit = bits; bit-- > 0;) {
    const std::uint32_t low = (std::uint32_t{1} << bit) - 1;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      if ((at[d] >> bit & 1U) != 0) {
        at[0] ^= low;
      } else {
        const std::uint32_t differing = (at[0] ^ at[d]) & low;
        at[0] ^= differing;
        at[d] ^= differing;
      }
    }
  }
  std::uint64_t gray = 0;  // the bits of all dimensions, coarse ones first
  for (std::uint32_t bit = bits; bit-- > 0;) {
    for (std::uint32_t d = 0; d < dimensions; ++d) gray = gray << 1U | (at[d] >> bit & 1U);
  }
  std::uint64_t index = gray;
  for (std::uint32_t shift = 1; shift < 64; shift *= 2) index ^= index >> shift;
  return index;
}

namespace {

/// Takes the window of as many idle accelerators that spans the least of the curve; the first of equals. The slice has the
/// accelerators in the order of the curve.
class HilbertWindows : public Allocator {
 public:
  explicit HilbertWindows(const PodSpec& spec) {
    const Shape& torus = spec.torus;
    const std::uint32_t largest = *std::max_element(torus.sides.begin(), torus.sides.end());
    const auto bits = static_cast<std::uint32_t>(std::bit_width(largest - 1));
    for (std::uint32_t i = 0; i < torus.size(); ++i) {
      curve_.emplace_back(hilbert_index(torus.at(i), torus.dimensions, bits), i);
    }
    std::sort(curve_.begin(), curve_.end());
  }

  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    std::vector<std::uint32_t> idle;  // places of the curve
    for (std::uint32_t i = 0; i < curve_.size(); ++i) {
      if (pod.idle(curve_[i].second)) idle.push_back(i);
    }
    const std::uint32_t size = shape.size();
    if (idle.size() < size) return std::nullopt;
    const auto span_from = [&](std::size_t i) { return curve_[idle[i + size - 1]].first - curve_[idle[i]].first; };
    std::size_t best = 0;
    for (std::size_t i = 1; i + size <= idle.size(); ++i) {
      if (span_from(i) < span_from(best)) best = i;
    }
    Placement placement{shape, {}, {}};
    for (std::size_t i = best; i < best + size; ++i) placement.accelerators.push_back(curve_[idle[i]].second);
    return placement;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> curve_;  // index of the curve and accelerator, ascending
};

}  // namespace

AllocatorFactory hilbert_windows() {
  AllocatorFactory factory;
  factory.name = "slurm_hilbert";
  factory.summary = "idle accelerators that span the least of a Hilbert curve; the shape does not matter";
  factory.make = [](const PodSpec& spec) { return std::make_unique<HilbertWindows>(spec); };
  factory.takes_any_idle = true;
  return factory;
}

}  // namespace photonrail::slices
