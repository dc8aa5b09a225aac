// The outcome of a candidate, and its line in the folder's log.
#pragma once

#include "photonrail/study/plan.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace photonrail::plan {

/// The outcome of one run.
struct Outcome {
  enum class Kind : std::uint8_t { kDone, kRejected, kFailed };
  Kind kind = Kind::kDone;
  std::string reason{};  ///< of the others
  std::string example{};
  PlannedRun run{};
};

/// Where a run served too few requests within their limits.
inline constexpr const char* kMissedLimits = "/workload/serving/slo";
// Where a candidate is rejected by its bill.
inline constexpr const char* kTooDear = "/limits/usd";
inline constexpr const char* kTooMuchPower = "/limits/power_w";

/// The bill of a candidate's network.
struct NetworkBill {
  double usd = 0.0;
  double power_w = 0.0;
  std::string problem{};  ///< why it cannot be, or has no price; empty where it has
};

/// Rejected: a candidate with this bill cannot be, before it is run.
[[nodiscard]] Outcome refusal(const Plan& plan, const NetworkBill& bill);

[[nodiscard]] std::string text_of(const Outcome& outcome, std::uint64_t candidate);
/// Throws ConfigError where it is no such line.
[[nodiscard]] std::pair<std::uint64_t, Outcome> outcome_of(const std::string& text);

/// Of all that the numbers of candidates and what is kept of them depend on: the objectives order them, and limits reject.
[[nodiscard]] std::string hash_of(const Plan& plan);

}  // namespace photonrail::plan
