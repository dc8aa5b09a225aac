// Recovery and spare-placement policies: a value in, a value out.
#pragma once

#include "photonrail/study/goodput/spec.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::goodput {

/// One of the recovery options of the scenario, for the failure that is to be recovered.
struct OptionView {
  RecoveryAction action = RecoveryAction::kWait;
  Rollback rollback = Rollback::kCheckpoint;
  bool possible = false;
  double stages_s = 0.0;  ///< mean of all stages
};

struct RecoveryView {
  LongTime now{};
  std::string_view source;  ///< what failed
  FailureEffect effect = FailureEffect::kStop;
  bool server_down = false;          ///< the failure took a server of the job that is not repaired yet
  double repair_s = 0.0;             ///< mean repair time of the source
  double work_at_risk_s = 0.0;       ///< done since the last durable checkpoint
  std::uint32_t spares_in_rack = 0;  ///< idle and healthy, in the rack of the failure
  std::uint32_t spares_elsewhere = 0;
  std::uint32_t replicas = 1;  ///< that take part now
  std::uint32_t all_replicas = 1;
  std::span<const OptionView> options;  ///< in the order of the scenario
};

/// Called by several threads at once, each with views of its own.
class RecoveryPolicy {
 public:
  virtual ~RecoveryPolicy() = default;
  /// Which of the options, which must be possible. None: leave a slow part as it is; of a job that stopped, an error.
  [[nodiscard]] virtual std::optional<std::size_t> decide(const RecoveryView& view) const = 0;
};

struct SpareView {
  std::uint32_t server = 0;
  std::uint32_t rack = 0;
  std::uint32_t idle_in_rack = 0;  ///< idle and healthy servers of that rack, this one too
};

class SparePlacement {
 public:
  virtual ~SparePlacement() = default;
  /// Which of `spares` (ascending servers, never empty) takes the place of a server of rack `rack`.
  [[nodiscard]] virtual std::size_t choose(std::uint32_t rack, std::span<const SpareView> spares) const = 0;
};

template <class Policy>
struct NamedPolicy {
  std::string name;
  std::string summary;
  std::shared_ptr<const Policy> policy;
};

/// The policies that a run looks names up in; a caller adds its own.
struct PolicyTable {
  std::vector<NamedPolicy<RecoveryPolicy>> recovery = builtin_recovery();
  std::vector<NamedPolicy<SparePlacement>> placement = builtin_placement();

  /// Throw ConfigError that lists what is known.
  [[nodiscard]] const RecoveryPolicy& recovery_named(std::string_view name) const;
  [[nodiscard]] const SparePlacement& placement_named(std::string_view name) const;
  [[nodiscard]] static std::vector<NamedPolicy<RecoveryPolicy>> builtin_recovery();
  [[nodiscard]] static std::vector<NamedPolicy<SparePlacement>> builtin_placement();
};

}  // namespace photonrail::goodput
