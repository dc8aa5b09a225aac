// The control plane of optical rails: where controllers run, how messages are delayed or lost, and when a controller is
// down.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail {

/// The processes that serve requests. Each has a first-in first-out queue and serves one request at a time.
enum class ControllerPlacement : std::uint8_t {
  kPerRail,      ///< a controller for each rail, with a queue of its own
  kOne,          ///< one process for all rails: one queue
  kHierarchical  ///< a queue for each rail, and one at the root, which each complete request also passes
};

/// Messages between ranks, controllers and switches: requests, commands, acknowledgements.
struct MessageSpec {
  double loss = 0.0;                       ///< probability that a message never arrives, in [0, 1)
  DelayDistribution delay{};               ///< extra delay of every message, added to its own time
  Duration timeout{};                      ///< a message that has not arrived after this time is sent again; 0: never
  std::optional<std::uint32_t> retries{};  ///< maximum number of retransmissions; none: until the message arrives

  [[nodiscard]] bool reliable() const {
    return loss == 0.0 && delay.kind == DelayDistribution::Kind::kConstant && delay.a == Duration{};
  }
};

/// A controller stops at `at`, loses its state, and restarts after `down`. Switches keep their circuits, and ranks repeat
/// the requests that are still open.
struct ControllerRestart {
  Duration at{};  ///< since the job began
  Duration down{};
  std::optional<RailId> rail{};  ///< none: the controllers of all rails
};

/// Settings of the shim of some ranks in place of the common ones. If several entries name a rank and a setting, the last
/// one applies.
struct ShimSpec {
  std::vector<RankId> ranks{};
  std::optional<bool> announce{};     ///< in place of RankBehaviour::announce
  std::optional<Duration> request{};  ///< in place of ControllerSpec::request
};

struct ControlPlaneSpec {
  ControllerPlacement placement = ControllerPlacement::kPerRail;
  Duration root_request{};  ///< hierarchical: a message from a rail's controller to the root
  Duration root_service{};  ///< hierarchical: the root's work on an operation of one rail
  MessageSpec messages{};
  std::vector<ControllerRestart> restarts{};
  std::vector<ShimSpec> shims{};
};

}  // namespace photonrail
