// A small job on a small cluster, as a value that can be drawn, made simpler and printed.
#pragma once

#include "photonrail/random.hpp"
#include "photonrail/scenario.hpp"

#include <cstdint>
#include <string>
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

/// Whether the case is one that a policy can be held to: it has a call, each has two members or more, in their order and of
/// the cluster, and no round of a call wants more circuits of a GPU than it has ports.
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

}  // namespace photonrail::testing
