// The files of a trace: one for each rank.
#pragma once

#include "formats/chakra/trace.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace photonrail::formats::chakra {

/// <prefix>.<rank>.et
[[nodiscard]] std::filesystem::path trace_file(const std::filesystem::path& prefix, std::size_t rank);

/// The ranks of every trace in a folder, by the name before ".<rank>.et". Empty when it cannot be read.
[[nodiscard]] std::map<std::string, std::set<std::uint32_t>> traces_in(const std::filesystem::path& folder);

/// <prefix>.0.et and so on. Throws ConfigError with what would do when there is none, or when a rank is missing.
[[nodiscard]] std::vector<std::filesystem::path> find_traces(const std::filesystem::path& prefix);

/// Throws ConfigError that begins with the file.
[[nodiscard]] Trace read_trace(const std::filesystem::path& file);
/// The same, by a parser that has read other files of the trace.
[[nodiscard]] Trace read_trace(const std::filesystem::path& file, TraceParser& parser);

/// Reads all, a few at a time. The result and the error (that of the lowest rank) do not depend on the timing.
[[nodiscard]] std::vector<Trace> read_traces(const std::vector<std::filesystem::path>& files);

}  // namespace photonrail::formats::chakra
