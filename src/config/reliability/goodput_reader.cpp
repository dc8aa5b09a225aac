// Scenarios with a "reliability" section, and files of faults.
#include "config/named_files.hpp"
#include "config/reliability_parts.hpp"
#include "config/scenario_parts.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "photonrail/simulate.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace photonrail::reliability {

namespace {

using config::Json;
using config::JsonReader;

constexpr std::size_t kMaxFaults = 10'000'000;

Json without_members(const Json& object, std::initializer_list<std::string_view> names) {
  Json result = Json::object();
  for (const auto& [key, value] : object.members()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) result.insert(key, value);
  }
  return result;
}

// A name, and how many seeds there are, change no history.
std::string hash_of(const Json& root, const std::filesystem::path& directory) {
  Json relevant = without_members(root, {"name", "why"});
  if (Json* section = relevant.find("reliability"); section != nullptr && section->is_object()) {
    *section = without_members(*section, {"seeds", "first_seed"});
  }
  return config::scenario_hash(relevant, directory);
}

std::optional<TrainingSpec> training_of(const Json& root, const std::filesystem::path& directory) {
  if (json::find_at(root, "/workload/training") == nullptr) return std::nullopt;
  JsonReader top(root);
  const auto placed = top.optional("placement");
  JsonReader workload = top.child("workload");
  return config::read_training_spec(workload.child("training"), directory,
                                    placed ? config::read_placement(*placed) : config::Placement{});
}

GoodputScenario read_json(const Json& root, const std::filesystem::path& directory, const Registries& known) {
  JsonReader top(root);
  json::require_schema(top, "photonrail.scenario/1");
  GoodputScenario scenario;
  if (const auto v = top.optional("name")) scenario.name = v->string();
  if (const auto v = top.optional("why")) scenario.why = v->string();
  JsonReader section = top.child("reliability", "what fails and how it is recovered");
  scenario.hash = hash_of(root, directory);
  const Json rest = without_members(root, {"name", "why", "reliability"});
  scenario.step_hash = config::scenario_hash(rest, directory);
  std::optional<Duration> step;
  for (const char* key : {"cluster", "placement", "controller", "executor", "collectives", "workload", "stragglers", "cost", "run", "jobs"}) {
    static_cast<void>(top.optional(key));  // read below, or of no use to a job whose step is given
  }
  top.finish();
  if (section.has("step_s") || section.has("step_ms")) {
    scenario.spec = config::read_reliability(section, {directory, std::nullopt, 0}, step);
    scenario.step = step.value();
    return scenario;
  }
  scenario.job = config::read_scenario_json(rest, directory, known);
  if (!scenario.job->jobs.empty()) section.fail("is of one job", "remove all jobs but one");
  scenario.training = training_of(root, directory);
  scenario.spec = config::read_reliability(section, {directory, scenario.job->cluster, scenario.job->graph.ranks()}, step);
  return scenario;
}

double csv_number(const std::string& file, std::size_t line, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw ConfigError(file, "line " + std::to_string(line) + ": \"" + text + "\" is no number");
  return value;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<TraceFault> from_csv(const std::string& text, const std::string& file) {
  std::vector<TraceFault> faults;
  std::vector<std::string> head;
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::vector<std::string> cells = split(text.substr(at, end - at));
    at = end + 1;
    ++line_number;
    if (head.empty()) {
      head = cells;
      continue;
    }
    if (cells.size() == 1 && cells[0].empty()) continue;
    const auto cell = [&](const char* name) -> const std::string* {
      const auto found = std::find(head.begin(), head.end(), name);
      const auto index = static_cast<std::size_t>(found - head.begin());
      return index < cells.size() ? &cells[index] : nullptr;
    };
    const auto need = [&](const char* name) {
      const std::string* text_of = cell(name);
      if (text_of == nullptr) throw ConfigError(file, "line " + std::to_string(line_number) + " has no " + name, "columns server, start_day, end_day, class");
      return csv_number(file, line_number, *text_of);
    };
    TraceFault fault;
    fault.start_d = need("start_day");
    fault.end_d = need("end_day");
    const double server = need("server");
    if (!(server >= 0.0 && server < 1e6)) throw ConfigError(file, "line " + std::to_string(line_number) + ": the server must be from 0 to 999,999");
    fault.server = static_cast<std::uint32_t>(server);
    if (const std::string* cause = cell("class")) fault.cause = *cause;
    faults.push_back(std::move(fault));
    if (faults.size() > kMaxFaults) throw ConfigError(file, "has more than 10,000,000 faults");
  }
  return faults;
}

std::vector<TraceFault> from_json(const Json& root) {
  std::vector<TraceFault> faults;
  for (JsonReader entry : JsonReader(root).elements()) {
    TraceFault fault;
    fault.start_d = entry.child("start_day").number(0.0, 1e6);
    fault.end_d = entry.child("end_day").number(0.0, 1e6);
    fault.server = entry.child("server").count(0, 999'999);
    if (const auto v = entry.optional("class")) fault.cause = v->string();
    entry.finish();
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace

std::vector<TraceFault> read_faults(const std::filesystem::path& file) {
  const std::string text = config::read_file(file);
  std::vector<TraceFault> faults;
  if (file.extension() == ".json") {
    try {
      faults = from_json(config::parse_json(text, file.string()));
    } catch (const ConfigError& e) {
      throw e.where().starts_with('/') ? e.inside(file.string()) : e;
    }
  } else {
    faults = from_csv(text, file.string());
  }
  std::stable_sort(faults.begin(), faults.end(), [](const TraceFault& a, const TraceFault& b) { return a.start_d < b.start_d; });
  return faults;
}

GoodputScenario parse_goodput(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                              std::span<const Override> overrides, const Registries& known) {
  Json root = config::parse_json(json, file);
  try {
    config::apply_overrides(root, overrides);
    return read_json(root, directory, known);
  } catch (const ConfigError& e) {
    throw e.inside(file);
  }
}

GoodputScenario read_goodput(const std::filesystem::path& file, std::span<const Override> overrides, const Registries& known) {
  return parse_goodput(json::file_text(file), file.parent_path(), file.string(), overrides, known);
}

}  // namespace photonrail::reliability
