// Every field that a check names has a place in a file; and errors of files name what the user wrote.
#include "config/sections.hpp"
#include "architecture/source_text.hpp"
#include "formats/synthesis/topology_and_sketch.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "studies/goodput/section/section.hpp"
#include "studies/slices/reader.hpp"
#include "support/errors.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

/// The fields that a file names: in field("..."), named_field("..."), and in braces in its texts.
std::set<std::string> fields_of(std::string text) {
  static const std::regex member(R"rx(check_member\((?:core::)?field\("[^"]*")rx");  // a part of the name of another field
  text = std::regex_replace(text, member, "check_member(");
  static const std::regex call(R"rx(\b(?:named_)?field\("([^"]*)")rx");
  static const std::regex braces(R"rx(\{([a-z_]+(?:\.[a-z_]+)+|[a-z]+_[a-z_]+)\})rx");
  std::set<std::string> fields;
  for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) fields.insert((*at)[1]);
  for (const std::string& literal : literals_of(text)) {
    for (std::sregex_iterator at(literal.begin(), literal.end(), braces), end; at != end; ++at) fields.insert((*at)[1]);
  }
  return fields;
}

/// The places of a Scenario, as a file of one job has them.
config::Places scenario_places() {
  config::Places places;
  places.add("", "", nullptr, config::kScenarioSection);
  formats::synthesis::add_places(places);
  places.add("", "", nullptr, slices::kAllocationSection);
  return places;
}

config::Places places_of(const config::Section& table) {
  config::Places places;
  places.add("", "", nullptr, table);
  return places;
}

/// Of the files whose checks are about a part of a scenario: the name of that part in the fields of the whole.
struct Checked {
  std::string member;
  config::Places places;
};

std::map<std::string, Checked> parts() {
  const config::Places whole = scenario_places();
  std::map<std::string, Checked> parts;
  parts["src/fabric/cluster.cpp"] = {"cluster", whole};
  parts["src/fabric/tier_checks.cpp"] = {"cluster", whole};
  parts["src/cost/network_shape.cpp"] = {"pricing", whole};
  parts["src/run/control_check.cpp"] = {"controller.control", whole};
  parts["src/workload/training/"] = {"", places_of(config::kTrainingSection)};
  parts["src/workload/pipeline/"] = {"pipeline", places_of(config::kTrainingSection)};
  parts["src/workload/checkpoint.cpp"] = {"", places_of(config::kWorkloadSection)};
  parts["src/workload/moe/moe.cpp"] = {"", places_of(config::kMoeSection)};
  parts["src/studies/goodput/process/"] = {"", places_of(goodput::kReliabilitySection)};
  for (const char* file : {"policies", "recovery", "server_pool"}) {
    parts["src/studies/goodput/process/" + std::string(file) + ".cpp"] = {"", whole};
  }
  parts["src/workload/moe/layer.cpp"] = {"", places_of(config::kMoeLayerSection)};
  parts["src/collective/refit/refit.cpp"] = {"", places_of(config::kRefitSection)};
  parts["src/collective/refit/weight_map.cpp"] = {"", places_of(config::kWeightLayoutSection)};
  parts["src/rl/"] = {"", places_of(config::kRlSection)};
  parts["src/rl/lengths.cpp"] = {"prompts.lengths", places_of(config::kRlSection)};
  parts["src/rl/schedule.cpp"] = {"mode", places_of(config::kRlSection)};
  parts["src/rl/tool_cache.cpp"] = {"tools", places_of(config::kRlSection)};
  return parts;
}

TEST(Sections, EveryFieldThatACheckNamesHasAPlaceInAFile) {
  // No file can get the order of ranks wrong: the reader of "placement" makes it.
  const std::set<std::string> of_values_only{"order"};
  const std::map<std::string, Checked> known = parts();
  const config::Places whole = scenario_places();
  std::size_t fields = 0;
  for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, "src")) {
    if (file.path.starts_with("src/core/") || file.path.starts_with("src/json/") || file.path.starts_with("src/fields/") ||
        file.path.starts_with("src/config/") || file.text.find("core/field.hpp") == std::string::npos)
      continue;
    Checked part{"", whole};
    for (const auto& [path, checked] : known) {
      if (file.path.starts_with(path)) part = checked;
    }
    for (const std::string& pattern : fields_of(file.text)) {
      ++fields;
      if (of_values_only.contains(pattern)) continue;
      const core::Field alone{pattern, {}};
      const core::Field of_whole = alone.in(core::field(part.member));
      EXPECT_TRUE(part.places.pointer(of_whole).has_value() || part.places.pointer(alone).has_value())
          << file.path << " names " << of_whole.pattern;
    }
  }
  EXPECT_GT(fields, 120u) << "the checker finds hardly any field";
}

TEST(Sections, TheMoeOfATrainingJobHasThePlacesOfItsTraffic) {
  const config::Places places = places_of(config::kTrainingSection);
  for (const char* pattern :
       {"experts", "top_k", "tokens", "router.weights", "router.weights[]", "router.exponent", "router.concentration",
        "router.layer_drift", "router.source_spread", "capacity_factor", "padded"}) {
    const core::Field field = core::Field{pattern, {}}.in(core::field("moe"));
    EXPECT_TRUE(places.pointer(field).has_value()) << field.pattern;
  }
}

constexpr const char* kOptical = R"({"schema": "photonrail.scenario/1",
  "cluster": {"servers": 4, "gpus_per_server": 2, "nic": {"ports": 2},
    "rail": {"kind": "optical", "switch": {"reconfiguration_us": 100, "ports": 64}, "planes": 1}},
  "controller": {"name": "opus"},
  "workload": {"collective": {"op": "all_reduce", "bytes": 1000}}})";

std::string problem_after(const std::vector<Override>& overrides) {
  return error_of([&] { static_cast<void>(parse_scenario(kOptical, {}, "s.json", overrides)); }).what();
}

TEST(Sections, AHintNamesTheKeyOfTheFile) {
  EXPECT_EQ(
      problem_after({{"/cluster/rail/planes", "3"}}),
      "s.json: /cluster/rail/planes: 2 NIC ports cannot spread evenly over 3 planes (every plane has the same ports of a "
      "NIC: planes that divide /cluster/nic/ports)");
}

TEST(Sections, ACheckOfAValueSpeaksOfItsField) {
  Scenario scenario = parse_scenario(kOptical, {});
  scenario.cluster.rail.optical.settle = Duration{-1};
  const ConfigError of_value = error_of([&] { scenario.validate(); });
  EXPECT_EQ(of_value.where(), "cluster.rail.optical.settle");
}

TEST(Sections, ARunThatFailsIsToldInTheWordsOfTheFile) {
  Scenario scenario = parse_scenario(kOptical, {});
  scenario.cluster.nic.per_port = Bandwidth::from_gb_per_s(0);
  try {
    static_cast<void>(simulate(scenario));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_TRUE(file_words(error).starts_with("/cluster/nic/port_gb_per_s: ")) << file_words(error);
  }
}

TEST(Sections, AJobIsToldTheSectionThatItShares) {
  const std::string jobs = R"({"schema": "photonrail.scenario/1",
    "cluster": {"servers": 4, "gpus_per_server": 2, "rail": {"kind": "optical", "switch": {"reconfiguration_us": 100}}},
    "controller": {"name": "opus", "restarts": [{"at_ms": 1, "down_ms": 1, "rail": 7}]},
    "jobs": [{"servers": [0, 1], "workload": {"collective": {"op": "all_reduce", "bytes": 1000}}}]})";
  const ConfigError error = error_of([&] { static_cast<void>(parse_scenario(jobs, {}, "s.json")); });
  EXPECT_EQ(error.where(), "s.json: /controller/restarts/0/rail");
}

}  // namespace
}  // namespace photonrail::test
