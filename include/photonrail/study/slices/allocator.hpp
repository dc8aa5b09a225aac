// A pod of accelerators in a grid that jobs share, and the policies that cut slices from it. An allocator maps a pod and a
// request to a placement or a refusal: a value in, a value out. What carries the answer out is written elsewhere
// (scheduling.hpp). Units: counts of accelerators.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::slices {

/// Holds what a file may ask for: accelerators of a pod.
inline constexpr std::uint32_t kMaxAccelerators = 1U << 20;

/// Position in a grid; the first coordinate is the slowest in row-major order.
using Coordinates = std::array<std::uint32_t, 3>;

/// Sides of a box of accelerators, in one to three dimensions.
struct Shape {
  static constexpr std::uint32_t kMaxDimensions = 3;

  Coordinates sides{1, 1, 1};  ///< those from `dimensions` on are 1
  std::uint32_t dimensions = 3;

  /// Throws ConfigError when there are none or more than three sides, when a side is 0, or when they multiply to more than
  /// kMaxAccelerators.
  [[nodiscard]] static Shape of(std::span<const std::uint32_t> sides);
  [[nodiscard]] static Shape of(std::initializer_list<std::uint32_t> sides);

  [[nodiscard]] std::uint32_t operator[](std::size_t dimension) const { return sides[dimension]; }
  [[nodiscard]] std::uint32_t size() const { return sides[0] * sides[1] * sides[2]; }  ///< accelerators
  [[nodiscard]] std::uint64_t surface() const;   ///< half of that of the box; the least of equal sizes is the most cubical
  [[nodiscard]] std::uint32_t extended() const;  ///< dimensions with a side above 1
  /// Every permutation of the sides once, in the lexicographic order of positions: the shape as given comes first.
  [[nodiscard]] std::vector<Shape> rotations() const;
  [[nodiscard]] std::string text() const;  ///< "4x4x8"

  /// Row-major index of a position inside, and back.
  [[nodiscard]] std::uint32_t index(const Coordinates& at) const { return (at[0] * sides[1] + at[1]) * sides[2] + at[2]; }
  [[nodiscard]] Coordinates at(std::uint32_t index) const {
    return {index / (sides[1] * sides[2]), index / sides[2] % sides[1], index % sides[2]};
  }

  friend auto operator<=>(const Shape&, const Shape&) = default;
};

/// All boxes of `accelerators` in so many dimensions, with ascending sides; the one nearest to a cube (the least surface)
/// comes first, equal ones in ascending order of sides.
[[nodiscard]] std::vector<Shape> boxes_of(std::uint32_t accelerators, std::uint32_t dimensions);

/// The hardware that slices are cut from. Which fields count depends on the policy (AllocatorFactory::summary).
struct PodSpec {
  Shape torus{{4, 4, 4}, 3};   ///< accelerators; links wrap around in every dimension
  std::uint32_t block = 4;     ///< side of a cube whose faces go to optical switches; divides the sides of the torus
  Shape server{{2, 2, 1}, 3};  ///< accelerators that share a server: what fails together, and what photonic policies give
  std::uint32_t fibres = 0;    ///< circuits that fit through one boundary between two neighbouring servers; 0: no limit
  std::uint32_t reach = 2;     ///< k_hop: a server reaches so many next servers on both sides, 1 to 64
  std::uint32_t domain = 72;   ///< switched: accelerators of a scale-up domain

  /// Throws ConfigError for fields out of range.
  void check() const;
};

/// A slice: accelerators of the pod for the positions of a shape.
struct Placement {
  Shape shape{};  ///< after rotation and folding
  /// By row-major position in `shape`.
  std::vector<std::uint32_t> accelerators{};
  /// Circuits through boundaries between servers, each boundary once; see Pod::boundary().
  struct Fibres {
    std::uint32_t boundary = 0;
    std::uint32_t circuits = 0;
  };
  std::vector<Fibres> fibres{};
};

/// Which accelerators of a pod are idle, and how full the boundaries between servers are. An accelerator that failed is not
/// idle.
class Pod {
 public:
  /// All idle. Throws what PodSpec::check() does.
  explicit Pod(const PodSpec& spec);

  [[nodiscard]] const PodSpec& spec() const { return spec_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(idle_.size()); }
  [[nodiscard]] std::uint32_t idle_count() const { return idle_count_; }
  [[nodiscard]] bool idle(std::uint32_t accelerator) const { return idle_[accelerator] != 0; }
  /// 1: idle; by row-major index.
  [[nodiscard]] std::span<const std::uint8_t> idle_map() const { return idle_; }

  /// REQUIRES: each of them is idle (take), or is not (release).
  void take(std::span<const std::uint32_t> accelerators);
  void release(std::span<const std::uint32_t> accelerators);
  /// The same with the circuits of a slice.
  void take(const Placement& slice);
  void release(const Placement& slice);

  /// Servers of the pod in each dimension; the last ones may be smaller.
  [[nodiscard]] Shape servers() const;
  /// The boundary between a server and the next one in a dimension, which wraps around. Servers are counted in row-major
  /// order.
  [[nodiscard]] static std::uint32_t boundary(std::uint32_t server, std::uint32_t dimension) {
    return 3 * server + dimension;
  }
  [[nodiscard]] std::uint32_t circuits_through(std::uint32_t boundary) const { return circuits_[boundary]; }

 private:
  PodSpec spec_;
  std::vector<std::uint8_t> idle_;
  std::vector<std::uint32_t> circuits_;  // by boundary
  std::uint32_t idle_count_ = 0;
};

/// The accelerators of the server that `accelerator` is in, ascending.
[[nodiscard]] std::vector<std::uint32_t> server_of(const PodSpec& spec, std::uint32_t accelerator);

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
