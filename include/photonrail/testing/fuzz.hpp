// Searches small jobs for one in which a policy breaks a promise, and makes it as small as it gets.
//
//     const FuzzReport report = fuzz(my_factory, {.cases = 1000});
//     EXPECT_FALSE(report.found) << report.found->text();
//
// The same seed gives the same search, on every machine.
#pragma once

#include "photonrail/result.hpp"
#include "photonrail/testing/fuzz_case.hpp"
#include "photonrail/testing/subject.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace photonrail::testing {

/// What every policy promises.
enum class Invariant : std::uint8_t {
  kMatching,     ///< a fibre is in one circuit, and ports exist
  kBusy,         ///< no circuit in use goes dark, unless the policy says that it may
  kStuck,        ///< every job finishes
  kStarvation,   ///< an operation waited for circuits longer than Patience allows
  kRestless,     ///< the same, or a job does not end, while circuits are changed again and again
  kBooks,        ///< the parts of each rank's time add up to the makespan, to the picosecond
  kDeterminism,  ///< the same scenario has the same history
  kFault         ///< nothing else is thrown
};
[[nodiscard]] std::string_view name(Invariant invariant);

struct Violation {
  Invariant invariant = Invariant::kFault;
  std::string what;
};

/// Limits on waiting times: long enough for a rotation through all matchings that ignores requests.
struct Patience {
  double serial_times = 100;   ///< of serial_time(), for one wait; for the job twice as many
  Duration least{std::chrono::milliseconds(200)};  ///< or so long, where that is longer
  std::uint64_t asked = 5000;  ///< questions on all rails
};

/// The first promise that the policy breaks in the case, which must be valid(). Runs it twice.
[[nodiscard]] std::optional<Violation> check(const PolicyUnderTest& subject, const FuzzCase& fuzz_case,
                                             const Patience& patience = {});

/// What of a result does not add up, or "".
[[nodiscard]] std::string books_problem(const RunResult& result);

struct Finding {
  FuzzCase drawn;
  FuzzCase small;  ///< nothing simpler breaks the same promise, as far as simpler() goes
  Violation violation;
  Scenario scenario;  ///< of `small`, under the policy
  ControllerFactory factory;
  std::uint64_t shrink_runs = 0;

  /// For people, with the scenario that repeats it.
  [[nodiscard]] std::string text() const;
};

/// Makes a case that breaks a promise simpler for as long as it breaks the same one. `most_runs` of check().
[[nodiscard]] Finding shrink(const PolicyUnderTest& subject, const FuzzCase& fuzz_case, const Violation& violation,
                             std::uint64_t most_runs = 2000, const Patience& patience = {});

struct FuzzOptions {
  std::uint64_t seed = 1;
  std::uint32_t cases = 500;
  std::uint64_t shrink_runs = 2000;
  Patience patience{};
};

struct FuzzReport {
  std::uint64_t cases = 0;
  std::optional<Finding> found;  ///< the search ends with the first
};
[[nodiscard]] FuzzReport fuzz(const PolicyUnderTest& subject, const FuzzOptions& options = {});

}  // namespace photonrail::testing
