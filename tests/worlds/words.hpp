// The words of a file: its keys, and the strings that keys choose from. What tests cover is counted in words, and in pairs
// of words that stand together.
#pragma once

#include "worlds/world.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::worlds {

using Words = std::set<std::string>;

/// "/cluster/rail/kind" and "/cluster/rail/kind=optical": pointers without the numbers of elements, whose durations end in
/// "_time" in place of a unit; a key that is data is "{}".
[[nodiscard]] Words words_of(const Json& file);

/// The words that each job of a scenario stands with: its own, as those of a scenario with one job, and those of the
/// cluster and the run.
[[nodiscard]] std::vector<Words> words_by_job(const Json& scenario);

/// The word of the key at the end of a path of keys, from the top of the file.
[[nodiscard]] std::string word_at(const std::vector<std::string>& path);

/// Whether each of several jobs may have this section of the file as its own.
[[nodiscard]] bool is_of_jobs(std::string_view section);

/// "reconfiguration_us" and "reconfiguration_ms" are one key: "reconfiguration_time".
[[nodiscard]] std::string without_unit(const std::string& key);

/// The words that files may have, of a JSON Schema as `photonrail schema` prints it.
[[nodiscard]] Words words_of_schema(const Json& schema);

}  // namespace photonrail::worlds
