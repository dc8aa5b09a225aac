// Tokens of timers and launches of the agent that serves requests: what they are of.
#pragma once

#include <cstdint>

namespace photonrail::serving {

enum class ServingTimer : std::uint8_t {
  kArrival,
  kGather,
  kHorizon,
  kFailure,
  kDetection,
  kRepair,
  kStarted,
  kLoad,
  kHostLink
};
[[nodiscard]] inline std::uint64_t timer_token(ServingTimer timer, std::uint64_t of = 0) {
  return of << 8 | static_cast<std::uint64_t>(timer);
}

/// The lowest bits of a launch's token.
enum class LaunchOf : std::uint8_t { kStep, kMessage, kWeights };
[[nodiscard]] inline std::uint64_t launch_token(LaunchOf of, std::uint64_t rest) {
  return rest << 2 | static_cast<std::uint64_t>(of);
}

}  // namespace photonrail::serving
