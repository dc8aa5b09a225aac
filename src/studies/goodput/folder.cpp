#include "studies/goodput/folder.hpp"

#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

namespace photonrail::goodput {

namespace {

using json::Json;
using json::JsonReader;

}  // namespace

std::string history_line(const RecordedHistory& recorded) {
  const History& history = recorded.history;
  Json line = Json::object();
  line.insert("seed", history.seed);
  line.insert("wall_ps", history.wall.digits());
  for (std::size_t u = 0; u < kTimeUses; ++u) {
    line.insert(std::string(name(static_cast<TimeUse>(u))) + "_ps", history.books.of[u].digits());
  }
  line.insert("steps", history.steps);
  line.insert("failures", history.failures);
  line.insert("interruptions", history.interruptions);
  line.insert("swaps", history.swaps);
  line.insert("drops", history.drops);
  Json sources = Json::array();
  for (const SourceTally& s : history.sources) {
    sources.push_back(Json{{"failures", s.failures}, {"on_job", s.on_job}, {"cost_ps", s.cost.digits()}});
  }
  line.insert("sources", std::move(sources));
  line.insert("hash", history.hash);
  Json& configurations = line["configurations"] = Json::object();
  for (const auto& [text, step] : recorded.configurations)
    configurations[text] = step ? Json(step->count()) : Json(nullptr);
  return line.dump();
}

std::optional<RecordedHistory> history_of_line(const std::string& line) {
  const auto parsed = json::parse_if_json(line);
  if (!parsed) return std::nullopt;
  try {
    JsonReader at(*parsed);
    const auto natural = [](const JsonReader& value) {
      return value.json().is_natural() ? value.json().natural() : throw ConfigError("", "no count");
    };
    RecordedHistory recorded;
    History& history = recorded.history;
    history.seed = natural(at.child("seed"));
    history.wall = LongTime::parse(at.child("wall_ps").string());
    for (std::size_t u = 0; u < kTimeUses; ++u) {
      const std::string key = std::string(name(static_cast<TimeUse>(u))) + "_ps";
      history.books.of[u] = LongTime::parse(at.child(key).string());
    }
    history.steps = static_cast<std::int64_t>(natural(at.child("steps")));
    history.failures = natural(at.child("failures"));
    history.interruptions = natural(at.child("interruptions"));
    history.swaps = natural(at.child("swaps"));
    history.drops = natural(at.child("drops"));
    for (JsonReader s : at.child("sources").elements()) {
      history.sources.push_back(
          {natural(s.child("failures")), natural(s.child("on_job")), LongTime::parse(s.child("cost_ps").string())});
    }
    history.hash = natural(at.child("hash"));
    if (const auto configurations = at.optional("configurations")) {
      for (const auto& [text, step] : configurations->members()) {
        std::optional<Duration>& known = recorded.configurations[text];
        if (!step.json().is_null()) known = Duration{static_cast<std::int64_t>(natural(step))};
      }
    }
    at.finish();
    return recorded;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace photonrail::goodput
