// The engine in whole nanoseconds.
#pragma once

#include "engine/engine.hpp"

#include <cstdint>

namespace photonrail::astra {

class Clock {
 public:
  [[nodiscard]] std::uint64_t now() const {
    return static_cast<std::uint64_t>(engine_.now().since_start().count()) / kPicoseconds;
  }
  /// Throws ConfigError when no run can take so long.
  void after(std::uint64_t nanoseconds, const engine::Action& action) {
    const auto longest = static_cast<std::uint64_t>(kLongest.count()) / kPicoseconds;
    if (nanoseconds > longest - now()) fail_too_long(static_cast<double>(nanoseconds) * kPicoseconds);
    engine_.schedule(engine_.now() + Duration{static_cast<std::int64_t>(nanoseconds * kPicoseconds)},
                     engine::Phase::kFinish, action);
  }
  void run() { engine_.run(); }
  [[nodiscard]] std::uint64_t events() const { return engine_.events_run(); }

 private:
  static constexpr std::uint64_t kPicoseconds = 1000;

  engine::Engine engine_;
};

/// Nanoseconds are cut to whole ones. Throws ConfigError when no run can take so long.
[[nodiscard]] inline std::uint64_t whole_nanoseconds(double nanoseconds) {
  if (!(nanoseconds * 1000.0 < static_cast<double>(kLongest.count()))) fail_too_long(nanoseconds * 1000.0);
  return static_cast<std::uint64_t>(nanoseconds);
}

}  // namespace photonrail::astra
