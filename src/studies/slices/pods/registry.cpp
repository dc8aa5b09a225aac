#include "core/counted.hpp"
#include "photonrail/study/slices/allocator.hpp"

#include "photonrail/error.hpp"
#include "studies/slices/pods/builtin.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::slices {

AllocatorRegistry AllocatorRegistry::builtin() {
  AllocatorRegistry table;
  for (const auto make : {first_fit, best_fit, hilbert_windows, fold_only, cubes, folded_cubes, lined_up_cubes,
                          aligned_blocks, photonic_servers, k_hop_line, switched_domains}) {
    table.add(make());
  }
  return table;
}

void AllocatorRegistry::add(AllocatorFactory factory) {
  if (factory.name.empty()) throw ConfigError("allocator", "has no name");
  for (const AllocatorFactory& known : factories_) {
    if (known.name == factory.name) throw ConfigError("allocator", "there is already one of the name " + factory.name);
  }
  factories_.push_back(std::move(factory));
}

const AllocatorFactory& AllocatorRegistry::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const AllocatorFactory& factory : factories_) {
    if (factory.name == name) return factory;
    known.push_back(factory.name);
  }
  throw ConfigError("allocator", "unknown allocator \"" + std::string(name) + "\"", suggest(name, known));
}

namespace {

/// The shape in the dimensions of the torus: sides of 1 are added or dropped at the end.
Shape in_dimensions_of(const Shape& torus, const Shape& shape) {
  for (std::uint32_t d = torus.dimensions; d < shape.dimensions; ++d) {
    if (shape[d] == 1) continue;
    throw ConfigError("shape", shape.text() + " has more dimensions than the torus " + torus.text(),
                      "a shape of " + core::counted(torus.dimensions, "side"));
  }
  Shape same = shape;
  same.dimensions = torus.dimensions;
  return same;
}

}  // namespace

SliceDecision allocate(const Allocator& allocator, const Pod& pod, const SliceRequest& request) {
  const Shape& torus = pod.spec().torus;
  std::vector<Shape> shapes;
  if (request.shape) {
    PHOTONRAIL_CHECK(request.shape->size() == request.accelerators);
    shapes.push_back(in_dimensions_of(torus, *request.shape));
  }
  if (request.accelerators > pod.idle_count()) return {std::nullopt, RefusalReason::kResource};
  if (!request.shape) shapes = boxes_of(request.accelerators, torus.dimensions);
  for (const Shape& shape : shapes) {
    if (auto placement = allocator.place(pod, shape)) return {std::move(placement), {}};
  }
  return {std::nullopt, RefusalReason::kShape};
}

}  // namespace photonrail::slices
