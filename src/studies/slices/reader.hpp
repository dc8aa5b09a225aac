// Parts of the reader of `photonrail.allocation/1`.
#pragma once

#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "fields/files.hpp"
#include "studies/slices/study.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace photonrail::slices {

using fields::context_of;
using fields::FileContext;
using fields::into;
using fields::kPathShape;
using fields::Section;
using json::Json;
using json::JsonReader;

inline constexpr std::string_view kAllocationSchema = "photonrail.allocation/1";

/// A study that is JSON already, whose relative paths are relative to `directory`.
[[nodiscard]] AllocationStudy read_study_json(const Json& root, const std::filesystem::path& directory,
                                              const AllocatorRegistry& known);

/// The allocators that a study may name, and where its paths begin.
struct StudyContext : FileContext {
  StudyContext(const std::filesystem::path& folder, const AllocatorRegistry& allocators)
      : FileContext(folder), known(allocators) {}
  const AllocatorRegistry& known;
};
[[nodiscard]] inline const StudyContext& study_context(const fields::Reading& at) { return context_of<StudyContext>(at); }

[[nodiscard]] std::vector<std::string> allocator_words(const Registries& known);

/// The sides of a box of accelerators.
inline constexpr fields::Shape kSide = fields::whole_shape(1, kMaxAccelerators);
inline constexpr fields::Shape kBoxShape = fields::list_shape(kSide);
[[nodiscard]] Shape read_shape(const JsonReader& value);
/// A shape that a job may ask of `torus`: it has no more dimensions.
[[nodiscard]] Shape read_shape(const JsonReader& value, const Shape& torus);
/// What is wrong with the shape for jobs on the torus, or "".
[[nodiscard]] std::string too_many_dimensions(const Shape& shape, const Shape& torus);
/// The name of a policy that can serve the pod.
[[nodiscard]] std::string read_policy(const JsonReader& value, const AllocatorRegistry& known, const PodSpec& pod);

extern const Section kPodSection;  ///< the keys of a pod beside its torus
extern const Section kDecisionSection;
extern const fields::Shape kDecisionFile;
[[nodiscard]] std::vector<DecisionCase> read_decisions(const JsonReader& value, const StudyContext& context);

extern const Section kJobsSection;
/// "jobs": a list, a file of them, or a distribution, for the torus and the seed of `schedule`.
[[nodiscard]] std::vector<SliceJob> read_stream(const JsonReader& section, const StudyContext& context,
                                                const ScheduleSpec& schedule);
extern const Section kWasteSection;
[[nodiscard]] WasteStudy read_waste(const JsonReader& section, const StudyContext& context);

/// The whole file.
extern const Section kAllocationSection;

/// Units of times of a stream.
inline constexpr fields::Unit kSpanUnits[] = {{"s", 1e12}, {"h", 3.6e15}, {"days", 8.64e16}};

/// A length of time of a stream, under `stem` and a unit.
template <auto... Path>
constexpr fields::Field span(std::string_view stem, std::string_view unit, std::string_view doc) {
  constexpr double kMaxSeconds = 1e10;
  return fields::own_time(
      stem, unit, kSpanUnits, fields::time_shape(kMaxSeconds * 1e12),
      [](const fields::Reading& at) {
        const double seconds = at.picoseconds / 1e12;
        fields::member_at<Path...>(at.into) =
            Span{std::llround(at.value.number(0.0, kMaxSeconds / seconds) * seconds * 1e6)};
      },
      doc);
}

}  // namespace photonrail::slices
