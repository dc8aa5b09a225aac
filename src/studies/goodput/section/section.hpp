// The parts of the "reliability" section, each read from its JSON.
#pragma once

#include "fields/files.hpp"
#include "json/json_reader.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/study/goodput/spec.hpp"
#include "studies/goodput/section/faults.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace photonrail::goodput {

using fields::Section;
using json::JsonReader;

/// What the section takes from the rest of the file, where that is there.
struct ReliabilityContext {
  const std::filesystem::path& directory;
  std::optional<ClusterSpec> cluster{};
  std::uint64_t ranks = 0;            ///< of the job; 0: not known
  bool simulated_checkpoint = false;  ///< the step simulator says what a checkpoint takes
};

/// The whole section. `step`: "step_s", where the section has it. Throws ConfigError; the spec is valid.
[[nodiscard]] GoodputSpec read_reliability(JsonReader section, const ReliabilityContext& context,
                                           std::optional<Duration>& step);

extern const Section kReliabilitySection;
extern const Section kLawSection;  ///< of a random time, in the unit of its key
extern const Section kFailureSection;

/// At most 1e15 s.
inline constexpr fields::Shape kRandomNumber = fields::time_shape(1e27);
/// The time under a key with a unit, a number or a distribution.
[[nodiscard]] RandomTime random_time_of(const fields::Reading& at);

template <auto... Path>
constexpr fields::Field random_time(std::string_view stem, std::string_view unit, std::string_view doc) {
  return fields::own_time(
      stem, unit, fields::kLongUnits, fields::either(fields::object_shape(kLawSection), kRandomNumber),
      [](const fields::Reading& at) { fields::member_at<Path...>(at.into) = random_time_of(at); }, doc);
}

[[nodiscard]] FailureSource read_failure(JsonReader section, const ReliabilityContext& context, const JobShape& job);

}  // namespace photonrail::goodput
