// Twins of a world: the same scenario with one thing changed, as a change of the file.
#pragma once

#include "photonrail/result.hpp"
#include "worlds/world.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::worlds {

/// Every duration twice as long and every rate half as high. Empty where the scenario leaves a time to the code that the
/// file cannot name.
[[nodiscard]] std::optional<Json> twice_as_slow(const Json& scenario);

/// Returns true when GPUs, links or switches have times and rates that the file does not say.
[[nodiscard]] bool names_presets(const Json& cluster);

/// Server s is called permutation[s]. Empty where servers are not alike: pods, leaves, several jobs.
[[nodiscard]] std::optional<Json> renamed(const Json& scenario, const std::vector<std::uint32_t>& permutation);

/// One more server that has no rank. Empty where servers are not alike.
[[nodiscard]] std::optional<Json> with_unused_server(const Json& scenario);

/// How many ranks the job of the scenario has. REQUIRES: no "jobs".
[[nodiscard]] std::uint32_t ranks_of(const Json& scenario);

/// Whether an agent decides the work of a job while it runs.
[[nodiscard]] bool is_decided(const Json& scenario);

/// Whether nothing of a run is drawn, lost or broken.
[[nodiscard]] bool is_steady(const Json& scenario);

/// Whether operations come one after another, so that making one of them faster cannot reorder others: one collective.
[[nodiscard]] bool is_serial(const Json& scenario);

/// Whether rings over several ports of a collective may share wires: the ports of GPUs that share a NIC, or uplinks. Then a
/// picosecond may move the end by percents (docs/models/network.md).
[[nodiscard]] bool rings_share_wires(const Json& scenario);
/// Whether messages may go over circuits of others: they share them, as rings share wires. REQUIRES: no "jobs".
[[nodiscard]] bool may_forward(const Json& scenario);

/// The latencies and gaps between messages that a run of one collective can pay one after another at the most, in
/// picoseconds.
[[nodiscard]] double latency_term_ps(const Json& scenario);

/// By how much the makespan of a run within an accuracy may differ from that of the exact run, in picoseconds: nothing but
/// roundings where no flows were taken together. docs/models/network.md ("Crowds within an accuracy") promises a bound for
/// no whole run; this is what 4,000 jobs with crowds kept (docs/validation.md). REQUIRES: no fault of one run stops the
/// other.
[[nodiscard]] double accuracy_slack_ps(const Json& scenario, const RunResult& within);

/// The sum of all times that a value names, in ps; of a distribution far in its tail.
[[nodiscard]] double all_times_ps(const Json& value);
/// Of ports and the scale-up fabric, with oversubscription: bytes in a picosecond.
[[nodiscard]] double least_rate(const Json& scenario);

/// The policy of the scenario; of several jobs "".
[[nodiscard]] std::string policy_of(const Json& scenario);

}  // namespace photonrail::worlds
