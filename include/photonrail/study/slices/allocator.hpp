// Policies that cut slices from a pod. An allocator maps a pod and a request to a placement or a refusal: a value in, a
// value out. What carries the answer out is written elsewhere (scheduling.hpp).
#pragma once

#include "photonrail/study/slices/pod.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::slices {

/// Holds what a job asks for: a number of accelerators, or a box of them in any rotation.
struct SliceRequest {
  std::uint32_t accelerators = 1;
  std::optional<Shape> shape{};  ///< REQUIRES: of `accelerators`

  [[nodiscard]] static SliceRequest box(const Shape& shape) { return {shape.size(), shape}; }
  [[nodiscard]] static SliceRequest count(std::uint32_t accelerators) { return {accelerators, {}}; }
};

enum class RefusalReason : std::uint8_t {
  kResource,  ///< fewer idle accelerators than the job wants
  kShape,     ///< enough, but not where the policy could use them
};

/// A placement, or why there is none.
struct SliceDecision {
  std::optional<Placement> placement{};
  RefusalReason reason = RefusalReason::kShape;  ///< without a placement
};

class Allocator {
 public:
  virtual ~Allocator() = default;

  /// REQUIRES: the shape has the dimensions of the torus and at most as many accelerators as are idle.
  [[nodiscard]] virtual std::optional<Placement> place(const Pod& pod, const Shape& shape) const = 0;
};

/// The links that join the accelerators of a slice that a policy places.
enum class SliceFabric : std::uint8_t {
  kTorus,     ///< the links of the pod's torus
  kCubes,     ///< links inside a cube, optical circuits between faces of cubes
  kServers,   ///< photonic servers: an accelerator's egress is a pool that is divided over the rings of the slice
  kRing,      ///< transceivers that switch, along a line of servers
  kSwitched,  ///< a switched scale-up domain
};

struct AllocatorFactory {
  std::string name;
  std::string summary;
  SliceFabric fabric = SliceFabric::kTorus;
  std::function<std::unique_ptr<Allocator>(const PodSpec& spec)> make{};  ///< throws ConfigError for a pod it cannot serve
  /// Never refuses a request of which some box, in some rotation and at some place of the torus, is idle.
  bool finds_every_box = false;
  /// Ignores the shape: never refuses a request for as many accelerators as are idle.
  bool takes_any_idle = false;
};

/// The table of allocators by name. It is a value: copies are independent.
class AllocatorRegistry {
 public:
  [[nodiscard]] static AllocatorRegistry builtin();

  /// Throws ConfigError when there is an allocator of that name, or the factory has no name.
  void add(AllocatorFactory factory);
  /// Throws ConfigError that lists the known names.
  [[nodiscard]] const AllocatorFactory& find(std::string_view name) const;
  [[nodiscard]] const std::vector<AllocatorFactory>& all() const& { return factories_; }
  void all() const&& = delete;  // the reference would outlive the temporary table

 private:
  std::vector<AllocatorFactory> factories_;
};

/// Asks the allocator. First check: as many idle accelerators as the job wants, or the refusal is kResource. A request
/// without a shape tries the boxes_of() its number. Throws ConfigError for a shape of more dimensions than the torus.
[[nodiscard]] SliceDecision allocate(const Allocator& allocator, const Pod& pod, const SliceRequest& request);

}  // namespace photonrail::slices
