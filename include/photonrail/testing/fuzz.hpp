// Searches small jobs for one in which a policy breaks a promise, and makes it as small as it gets.
//
//     const FuzzReport report = fuzz(my_factory, {.cases = 1000});
//     EXPECT_FALSE(report.found) << report.found->text();
//
// The same seed gives the same search, on every machine.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/testing/laws.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::testing {

/// One collective, or one send with its receive.
struct FuzzCall {
  CollectiveOp op = CollectiveOp::kSend;
  std::vector<std::uint32_t> members;  ///< ranks: ascending; of a send: sender, receiver
  std::int64_t bytes = 1'000'000;
  /// Computation before the call, by member, in microseconds; empty: none.
  std::vector<std::uint32_t> compute_us{};
  bool overlaps = false;  ///< its tasks wait for nothing that their ranks did before

  friend bool operator==(const FuzzCall&, const FuzzCall&) = default;
};

/// Rank r is on GPU r, and each GPU has a rank. Every rank issues its calls in the order of the list, so that no job can
/// deadlock but by its circuits.
struct FuzzCase {
  std::uint32_t servers = 2;
  std::uint32_t gpus_per_server = 1;
  std::uint32_t ports = 1;  ///< of a GPU, 50 GB/s each
  Duration switching{};
  Duration link_up{};
  Duration request{};  ///< also the controller's service, the command and its acknowledgement
  Duration latency{};
  std::uint32_t chunks = 1;
  std::uint32_t iterations = 1;
  Fidelity fidelity = Fidelity::kExact;
  CommLanes lanes = CommLanes::kPerCommunicator;
  bool forwarding = false;
  std::uint32_t setting = 0;  ///< which of the policy's, counted round
  std::vector<FuzzCall> calls;

  [[nodiscard]] std::uint32_t ranks() const { return servers * gpus_per_server; }
  friend bool operator==(const FuzzCase&, const FuzzCase&) = default;
};

/// A case that is valid(). Two to six servers, up to eight calls.
[[nodiscard]] FuzzCase draw_case(RandomStream& random);

/// Returns true when the case is one that a policy can be held to: it has a call, each has two members or more, in their
/// order and of the cluster, and no round of a call wants more circuits of a GPU than it has ports.
[[nodiscard]] bool valid(const FuzzCase& fuzz_case);

/// Cases that are simpler by one thing, the largest steps first. Not all of them are valid().
[[nodiscard]] std::vector<FuzzCase> simpler(const FuzzCase& fuzz_case);

/// Optical rails without a controller: under() gives it one.
[[nodiscard]] Scenario scenario_of(const FuzzCase& fuzz_case);

/// All calls one after another, each byte on a port of its own, no two at once; and one reconfiguration before each send on
/// the longest chain of each. No policy that always serves some operation when it can needs longer.
[[nodiscard]] Duration serial_time(const FuzzCase& fuzz_case);

/// Rounds of circuits of all calls, in all iterations: a policy need not change circuits more often on a rail.
[[nodiscard]] std::uint64_t rounds(const FuzzCase& fuzz_case);

/// The case as a scenario file (photonrail.scenario/1), whole: `photonrail run` repeats it. `scenario` is what it became
/// under the policy of `factory`: its rails and its controller.
[[nodiscard]] std::string to_json(const FuzzCase& fuzz_case, const Scenario& scenario, const ControllerFactory& factory);

/// The promises of every policy.
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
  double serial_times = 100;                       ///< of serial_time(), for one wait; for the job twice as many
  Duration least{std::chrono::milliseconds(200)};  ///< or so long, where that is longer
  std::uint64_t asked = 5000;                      ///< questions on all rails
};

/// The first promise that the policy breaks in the case, which must be valid(). Runs it twice.
[[nodiscard]] std::optional<Violation> check(const PolicyUnderTest& subject, const FuzzCase& fuzz_case,
                                             const Patience& patience = {});

/// Returns what of a result does not add up, or "".
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
