// What a candidate gave, and the line of the folder's log that it is in.
#pragma once

#include "photonrail/study/plan.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace photonrail::plan {

/// What a candidate gave.
struct Outcome {
  enum class Kind : std::uint8_t { kDone, kRejected, kFailed };
  Kind kind = Kind::kDone;
  std::string reason{};  ///< of the others
  std::string example{};
  PlannedRun run{};
};

[[nodiscard]] std::string text_of(const Outcome& outcome, std::uint64_t candidate);
/// Throws ConfigError where it is no such line.
[[nodiscard]] std::pair<std::uint64_t, Outcome> outcome_of(const std::string& text);

/// Of all that the numbers of candidates and what is kept of them depend on: the objectives order them, and limits reject.
[[nodiscard]] std::string hash_of(const Plan& plan);

}  // namespace photonrail::plan
