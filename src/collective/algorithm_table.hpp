// The algorithms that a job's collectives use, by operation: those of its specification, or the registry's.
#pragma once

#include "core/field.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/choice.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace photonrail::collective {

/// The field of a scenario that names the algorithm of the operation.
[[nodiscard]] core::Field algorithm_field(CollectiveOp op);

class AlgorithmTable {
 public:
  /// Both must outlive the table.
  AlgorithmTable(const CollectiveSpec& spec, const CollectiveRegistry& registry);

  [[nodiscard]] const CollectiveSpec& spec() const { return spec_; }
  [[nodiscard]] const CollectiveRegistry& registry() const { return registry_; }
  /// Returns true when the specification leaves the algorithm for the operation to "auto".
  [[nodiscard]] bool chooses(CollectiveOp op) const { return spec_.algorithm[index(op)] == kAutoAlgorithm; }
  /// The specification's own algorithm of that name, else the registered one, or null.
  [[nodiscard]] const CollectiveAlgorithm* find(std::string_view name) const;
  /// The algorithm for the operation. Throws ConfigError when there is none of its name. REQUIRES: !chooses(op).
  [[nodiscard]] const CollectiveAlgorithm& algorithm(CollectiveOp op) const;
  /// Returns true when the plan for the operation depends on where members sit.
  [[nodiscard]] bool uses_places(CollectiveOp op) const { return uses_places_[index(op)]; }
  /// Returns true when the algorithm for the operation wants CollectiveCall::straggler.
  [[nodiscard]] bool expects_straggler(CollectiveOp op) const { return expects_straggler_[index(op)]; }
  /// The algorithm for the operation. Throws ConfigError when it does not support the call. REQUIRES: !chooses(call.op).
  [[nodiscard]] const CollectiveAlgorithm& supporting(const CollectiveCall& call) const;
  /// The plan of `algorithm` for the call, in the specification's number of pieces. Throws ConfigError with a place.
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveAlgorithm& algorithm, CollectiveCall call) const;

 private:
  static void require_moving(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, const SendPlan* plan);
  [[nodiscard]] static std::size_t index(CollectiveOp op) { return static_cast<std::size_t>(op); }

  const CollectiveSpec& spec_;
  const CollectiveRegistry& registry_;
  std::array<bool, kCollectiveOpCount> uses_places_{};
  std::array<bool, kCollectiveOpCount> expects_straggler_{};
};

}  // namespace photonrail::collective
