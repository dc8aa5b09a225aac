// Parts of the reader of `photonrail.allocation/1`.
#pragma once

#include "config/json_reader.hpp"
#include "photonrail/allocation/study.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::config {

inline constexpr std::string_view kAllocationSchema = "photonrail.allocation/1";

/// A study that is JSON already, whose relative paths are relative to `directory`.
[[nodiscard]] allocation::AllocationStudy read_study_json(const Json& root, const std::filesystem::path& directory,
                                                          const allocation::AllocatorRegistry& known);

[[nodiscard]] allocation::Shape read_shape(const JsonReader& value);
/// "pod": the torus and what is in it.
[[nodiscard]] allocation::PodSpec read_pod(JsonReader section);
/// A length of time under `stem` + "_s", "_h" or "_days"; `otherwise` when there is none. Two are an error.
[[nodiscard]] allocation::Span read_span(JsonReader& section, std::string_view stem, allocation::Span otherwise);

[[nodiscard]] std::vector<allocation::DecisionCase> read_decisions(const JsonReader& value,
                                                                   const std::filesystem::path& directory,
                                                                   const allocation::AllocatorRegistry& known);
/// "jobs": a list, a file of them, or a distribution. `seed`: of the distribution.
[[nodiscard]] std::vector<allocation::SliceJob> read_stream(JsonReader section, const std::filesystem::path& directory,
                                                            std::uint64_t seed);
[[nodiscard]] allocation::WasteStudy read_waste(JsonReader section, const std::filesystem::path& directory);

}  // namespace photonrail::config
