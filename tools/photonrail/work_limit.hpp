// Work is known before it begins: it is announced where it takes long, and refused beyond a limit.
#pragma once

#include "photonrail/core/work.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace photonrail::command {

/// `--work-limit`, of all verbs: into each of these, seconds.
void add_work_limit(CLI::App& app, const std::vector<double*>& limits);

/// An option that takes a time: 90s, 30min, 24h, 7d.
void add_time(CLI::App& app, const char* name, double& seconds, const std::string& help);

/// Work that is expected to take longer is announced, seconds.
inline constexpr double kWorthTelling = 10.0;

/// Where announcements go: nowhere, or to standard error.
enum class Announce : std::uint8_t { kQuiet, kAloud };

/// Announces work that takes more than some ten seconds, and throws ConfigError at `what` (a file) where it takes longer
/// than the limit. It is shared by so many threads, of those that the machine has.
void admit(const WorkEstimate& work, const std::string& what, double limit_s, Announce announce = Announce::kAloud,
           std::uint32_t threads = 1);

/// Throws ConfigError at `what` where the work needs more memory than the machine has, unless the limit is "none".
void admit_memory(const WorkEstimate& work, const std::string& what, double limit_s);

/// The threads that share work: `jobs`, or as many as cores; no more than those.
[[nodiscard]] std::uint32_t working_threads(std::uint32_t jobs);

}  // namespace photonrail::command
