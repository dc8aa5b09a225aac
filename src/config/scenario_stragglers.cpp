// The "stragglers" section: ranks that are late or slow.
#include "config/scenario_parts.hpp"

#include <limits>

namespace photonrail::config {

namespace {

void read_whom(const JsonReader& value, StragglerSpec& spec) {
  using enum StragglerSpec::Whom;
  if (value.is_string()) {
    spec.whom = value.choice<StragglerSpec::Whom>({{"all", kAll}, {"random", kOneAtRandom}});
    return;
  }
  spec.whom = kListed;
  for (const JsonReader& rank : value.elements()) {
    spec.ranks.push_back(RankId{rank.count(0, std::numeric_limits<std::uint32_t>::max() - 1)});
  }
  if (spec.ranks.empty()) value.fail("names no rank", "list rank numbers, or write \"all\" or \"random\"");
}

StragglerSpec read_straggler(JsonReader section, const std::filesystem::path& directory) {
  StragglerSpec spec;
  read_whom(section.child("ranks", "a list of rank numbers, \"all\" or \"random\""), spec);
  const auto slowdown = section.optional("slowdown");
  if (slowdown) spec.slowdown = slowdown->number(1.0, 1e6);
  const auto delay = section.timed("delay", "us");
  if (delay && delay->first.is_array()) {
    for (const JsonReader& step : delay->first.elements()) spec.trace.push_back(step.in_picoseconds(delay->second));
    if (spec.trace.empty()) delay->first.fail("has no entry", "give one delay for each step; they repeat");
  } else if (delay) {
    spec.delay = read_delay(delay->first, delay->second, directory);
  }
  if (const auto at = section.duration("at", "ms")) spec.at = Time{*at};
  spec.lasts = section.duration("lasts", "ms");
  if (const auto v = section.optional("stops")) spec.stops = v->boolean();
  if (!slowdown && !delay && !spec.stops) {
    section.fail("is neither late nor slow",
                 "give it a \"delay_us\" or a \"slowdown\", or an \"at_ms\" from which it \"stops\"");
  }
  section.finish();
  return spec;
}

}  // namespace

std::vector<StragglerSpec> read_stragglers(const JsonReader& section, const std::filesystem::path& directory) {
  std::vector<StragglerSpec> stragglers;
  for (const JsonReader& straggler : section.elements()) stragglers.push_back(read_straggler(straggler, directory));
  return stragglers;
}

}  // namespace photonrail::config
