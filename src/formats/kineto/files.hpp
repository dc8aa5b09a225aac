// The files of a Kineto trace: one for each rank.
#pragma once

#include <filesystem>
#include <vector>

namespace photonrail::formats::kineto {

/// The files in order of rank, from 0 without a gap. `files`: a pattern whose last part has one '*', the rank, or a folder,
/// in which it is rank*_trace.json or rank*_trace.json.gz. Throws ConfigError: none, a rank is missing or there twice.
[[nodiscard]] std::vector<std::filesystem::path> find_files(const std::filesystem::path& files);

/// The files of a folder under the names that torch.profiler gives them, HOST_PROCESS.TIME.pt.trace.json or .json.gz, in
/// the order of their names, which do not say the rank. Empty: `files` is no folder, or one with rank*_trace.json, or has
/// none.
[[nodiscard]] std::vector<std::filesystem::path> find_unnumbered(const std::filesystem::path& files);

}  // namespace photonrail::formats::kineto
