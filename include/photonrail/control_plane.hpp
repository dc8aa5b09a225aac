// The control plane of optical rails: where controllers run, what becomes of messages, and when a controller is down.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/random.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail {

/// Who serves requests, one after another.
enum class ControllerPlacement : std::uint8_t {
  kPerRail,      ///< a controller for each rail, with a queue of its own
  kOne,          ///< one process for all rails: one queue
  kHierarchical  ///< a queue for each rail; who has all requests of an operation asks the root, which has one queue
};

/// Messages between ranks, controllers and switches: requests, commands, acknowledgements.
struct MessageSpec {
  double loss = 0.0;                       ///< probability that a message never arrives, in [0, 1)
  DelayDistribution delay{};               ///< of every message, on top of its own time
  Duration timeout{};                      ///< one that has not arrived after so long is sent again; 0: never
  std::optional<std::uint32_t> retries{};  ///< how often at most; nothing: until it arrives

  [[nodiscard]] bool reliable() const {
    return loss == 0.0 && delay.kind == DelayDistribution::Kind::kConstant && delay.a == Duration{};
  }
};

/// A controller stops, forgets everything, and is back after a while. Switches keep their circuits, and ranks repeat what
/// they still wait for.
struct ControllerRestart {
  Time at{};
  Duration down{};
  std::optional<RailId> rail{};  ///< nothing: the controllers of all rails
};

/// How the shim of some ranks differs from the others'. The last entry that names a rank and a setting counts.
struct ShimSpec {
  std::vector<RankId> ranks{};
  std::optional<bool> announce{};     ///< in place of ShimPolicy::announce
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
