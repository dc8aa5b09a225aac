// Earlier states of a sweep: when its file was edited, points whose scenario is the same are taken over and not run again.
#pragma once

#include "studies/sweep/database.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::sweep {

/// Whether the folder holds the same file in another state.
[[nodiscard]] bool is_earlier_state(const Manifest& there, const Manifest& now);

/// Puts the points of an earlier state that came to their end into `earlier/HASH.jsonl` and removes its tables and its
/// manifest, so that the folder can be claimed. Does nothing where there is no earlier state. Waits, up to a minute, for
/// another process that does the same. Throws ConfigError.
void retire_earlier_state(const std::filesystem::path& directory, const Manifest& now);

/// A point that has no record yet.
struct MissingPoint {
  std::uint32_t point = 0;
  std::string scenario_hash;
};
/// Gives use() each record of an earlier state that a missing point may have, with that point's number. A point may come
/// twice. Records of another version of the library are left out.
void each_earlier_record(const std::filesystem::path& directory, const std::vector<MissingPoint>& missing,
                         const std::function<void(std::uint32_t point, const Record&)>& use);
/// Whether there is any earlier state.
[[nodiscard]] bool has_earlier_states(const std::filesystem::path& directory);

}  // namespace photonrail::sweep
