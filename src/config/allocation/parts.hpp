// Parts of the reader of `photonrail.allocation/1`.
#pragma once

#include "config/json_reader.hpp"
#include "fields/places.hpp"
#include "photonrail/allocation/study.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::config {

inline constexpr std::string_view kAllocationSchema = "photonrail.allocation/1";

/// A study that is JSON already, whose relative paths are relative to `directory`.
[[nodiscard]] allocation::AllocationStudy read_study_json(const Json& root, const std::filesystem::path& directory,
                                                          const allocation::AllocatorRegistry& known,
                                                          json::KeyObserver* observer = nullptr);

[[nodiscard]] allocation::Shape read_shape(const JsonReader& value);
/// A shape that a job may ask of `torus`: it has no more dimensions.
[[nodiscard]] allocation::Shape read_shape(const JsonReader& value, const allocation::Shape& torus);
/// What is wrong with the shape for jobs on the torus, or "".
[[nodiscard]] std::string too_many_dimensions(const allocation::Shape& shape, const allocation::Shape& torus);
/// "pod": the torus and what is in it.
[[nodiscard]] allocation::PodSpec read_pod(JsonReader section);
/// The keys of a pod beside its torus.
void read_pod_parts(JsonReader& section, allocation::PodSpec& pod);
/// The name of a policy that can serve the pod.
[[nodiscard]] std::string read_policy(const JsonReader& value, const allocation::AllocatorRegistry& known,
                                      const allocation::PodSpec& pod);
/// A length of time under `stem` + "_s", "_h" or "_days"; `otherwise` when there is none. Two are an error.
[[nodiscard]] allocation::Span read_span(JsonReader& section, std::string_view stem, allocation::Span otherwise);

[[nodiscard]] std::vector<allocation::DecisionCase> read_decisions(const JsonReader& value,
                                                                   const std::filesystem::path& directory,
                                                                   const allocation::AllocatorRegistry& known);
/// "jobs": a list, a file of them, or a distribution, for the torus and the seed of `schedule`.
[[nodiscard]] std::vector<allocation::SliceJob> read_stream(JsonReader section, const std::filesystem::path& directory,
                                                            const allocation::ScheduleSpec& schedule);
[[nodiscard]] allocation::WasteStudy read_waste(JsonReader section, const std::filesystem::path& directory);

/// The fields of a ScheduleSpec that its checks name, and their keys.
extern const fields::Section kAllocationSection;

}  // namespace photonrail::config
