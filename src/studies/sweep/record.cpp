#include "studies/sweep/record.hpp"

#include "report/result_json.hpp"
#include "studies/sweep/notes.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace photonrail::sweep {

namespace {

constexpr std::size_t kMaxLengths = 256;  // of windows of one kind

// Neighbours become one, with the greatest length: the shares at the lengths that stay are exact.
std::vector<WindowCount> thinned(const std::vector<WindowCount>& all) {
  if (all.size() <= kMaxLengths) return all;
  std::vector<WindowCount> kept;
  for (std::size_t part = 0, at = 0; part < kMaxLengths; ++part) {
    WindowCount group{};
    for (const std::size_t end = (part + 1) * all.size() / kMaxLengths; at < end; ++at) {
      group = {all[at].length, group.count + all[at].count};
    }
    kept.push_back(group);
  }
  return kept;
}

std::vector<Phase> phases_of(const RunResult& result) {
  std::vector<Phase> phases;
  for (std::size_t d = 0; d < result.traffic.size(); ++d) {
    const DimensionTraffic& traffic = result.traffic[d];
    if (traffic.operations == 0) continue;
    phases.push_back({std::string(name(static_cast<Dimension>(d))), traffic.bytes.count, traffic.operations,
                      to_seconds(traffic.busy), to_seconds(traffic.exposed)});
  }
  std::sort(phases.begin(), phases.end(), [](const Phase& a, const Phase& b) { return a.name < b.name; });
  return phases;
}

std::vector<Window> windows_of(const RunResult& result) {
  std::map<std::pair<std::string, std::string>, const std::vector<WindowCount>*> by_name;
  for (const auto& [change, counts] : result.windows) {
    by_name[{std::string(name(change.first)), std::string(name(change.second))}] = &counts;
  }
  std::vector<Window> windows;
  for (const auto& [change, counts] : by_name) {
    const std::size_t first = windows.size();
    for (const WindowCount& w : thinned(*counts)) {
      const double length = to_seconds(w.length);  // which two lengths beyond 2.5 hours may share
      if (windows.size() > first && windows.back().length_s == length)
        windows.back().count += w.count;
      else
        windows.push_back({change.first, change.second, length, w.count});
    }
  }
  return windows;
}

std::string text_of(const Json& value) { return value.canonical(); }

// An object or array, written member by member: these lines are most of what there is to write.
class Line {
 public:
  explicit Line(char open) : text_(1, open) {}

  Line& add(std::string_view key, std::string_view value) {
    text_ += '"';
    text_ += key;  // of ours, or a metric's: nothing to escape
    text_ += "\":";
    return add(value);
  }
  Line& add(std::string_view value) {
    text_ += value;
    text_ += ',';
    return *this;
  }
  [[nodiscard]] std::string close(char end) {
    if (text_.size() > 1) text_.pop_back();
    return text_ + end;
  }

 private:
  std::string text_;
};

std::string list_of(const std::vector<std::string>& texts) {
  Line list('[');
  for (const std::string& text : texts) list.add(text_of(text));
  return list.close(']');
}

constexpr double kAnyNumber = std::numeric_limits<double>::max();
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::uint64_t>::max();

double any_number(const JsonReader& value) { return value.number(-kAnyNumber, kAnyNumber); }

Window read_window(const JsonReader& entry) {
  const std::vector<JsonReader> fields = entry.elements();
  if (fields.size() != 4) entry.fail("must have before, after, length and count");
  return {fields[0].string(), fields[1].string(), any_number(fields[2]), fields[3].integer(0, kMaxCount)};
}

Record read_record(JsonReader line) {
  Record record;
  record.point = line.child("point").count(0, std::numeric_limits<std::uint32_t>::max());
  record.name = line.child("name").string();
  record.seed = line.child("seed").integer(0, kMaxCount);
  record.repetition = line.child("repetition").count(0, std::numeric_limits<std::uint32_t>::max());
  record.exit_status = static_cast<int>(line.child("exit_status").count(0, 255));
  if (const auto error = line.optional("error")) record.error = error->string();
  record.scenario_hash = line.child("scenario_hash").string();
  if (const auto warnings = line.optional("warnings")) {
    for (const JsonReader& warning : warnings->elements()) record.remarks.warnings.push_back(warning.string());
  }
  if (const auto choices = line.optional("choices")) {
    for (const JsonReader& choice : choices->elements()) record.remarks.choices.push_back(choice.string());
  }
  if (const auto why = line.optional("infeasible")) record.remarks.infeasible = why->string();
  record.version = line.child("version").string();
  for (const auto& [key, value] : line.child("parameters").members()) record.parameters.emplace_back(key, value.json());
  for (const auto& [key, value] : line.child("metrics").members()) record.metrics.emplace_back(key, any_number(value));
  for (auto [key, phase] : line.child("phases").members()) {
    const auto bytes = static_cast<std::int64_t>(phase.child("bytes").integer(0, std::numeric_limits<std::int64_t>::max()));
    record.phases.push_back({key, bytes, phase.child("operations").integer(0, kMaxCount), any_number(phase.child("busy_s")),
                             any_number(phase.child("exposed_s"))});
  }
  for (const JsonReader& window : line.child("windows").elements()) record.windows.push_back(read_window(window));
  JsonReader made = line.child("provenance");
  record.provenance = {made.child("host").string(), made.child("started").string(), any_number(made.child("wall_s")),
                       any_number(made.child("peak_rss_mb"))};
  return record;
}

}  // namespace

bool Record::was_not_run() const {
  const auto is_time = [](const auto& metric) { return metric.first == "makespan_s"; };
  return !remarks.infeasible.empty() && std::none_of(metrics.begin(), metrics.end(), is_time);
}

std::string cell_of_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

void take_result(const RunResult& result, Record& record) {
  record.seed = result.seed;
  record.remarks.warnings = result.warnings;
  record.remarks.choices = result.choices;
  record.remarks.infeasible = result.infeasible;
  record.metrics = report::numbers_of(result);
  for (const Note& note : result.notes) {
    // What binds, and what the first step takes, are told by other columns.
    if (note.id != "binds" && note.id != "first-step") record.metrics.emplace_back(kNoteMetric + note.id, note.value);
  }
  std::sort(record.metrics.begin(), record.metrics.end());
  record.phases = phases_of(result);
  record.windows = windows_of(result);
  record.provenance.peak_rss_mb = result.engine.peak_rss_mb;
}

std::string to_line(const Record& record, std::string_view sweep_hash) {
  Line parameters('{');
  for (const auto& [name, value] : record.parameters) parameters.add(text_of(name) + ":" + text_of(value));
  Line metrics('{');
  for (const auto& [name, value] : record.metrics) metrics.add(name, number_text(value));
  Line phases('{');
  for (const Phase& p : record.phases) {
    Line phase('{');
    phase.add("bytes", std::to_string(p.bytes)).add("operations", std::to_string(p.operations));
    phase.add("busy_s", number_text(p.busy_s)).add("exposed_s", number_text(p.exposed_s));
    phases.add(p.name, phase.close('}'));
  }
  Line windows('[');
  for (const Window& w : record.windows) {
    windows.add("[\"" + w.before + "\",\"" + w.after + "\"," + number_text(w.length_s) + "," + std::to_string(w.count) +
                "]");
  }
  const Provenance& made = record.provenance;
  Line provenance('{');
  provenance.add("host", text_of(made.host)).add("started", text_of(made.started));
  provenance.add("wall_s", number_text(made.wall_s)).add("peak_rss_mb", number_text(made.peak_rss_mb));

  Line line('{');
  line.add("point", std::to_string(record.point)).add("sweep_hash", text_of(sweep_hash)).add("name", text_of(record.name));
  line.add("seed", std::to_string(record.seed)).add("repetition", std::to_string(record.repetition));
  line.add("status", text_of(record.status())).add("exit_status", std::to_string(record.exit_status));
  if (record.exit_status != 0) line.add("error", text_of(record.error));
  if (!record.remarks.warnings.empty()) line.add("warnings", list_of(record.remarks.warnings));
  if (!record.remarks.choices.empty()) line.add("choices", list_of(record.remarks.choices));
  if (!record.remarks.infeasible.empty()) line.add("infeasible", text_of(record.remarks.infeasible));
  line.add("scenario_hash", text_of(record.scenario_hash)).add("version", text_of(record.version));
  line.add("parameters", parameters.close('}')).add("metrics", metrics.close('}')).add("phases", phases.close('}'));
  line.add("windows", windows.close(']')).add("provenance", provenance.close('}'));
  return line.close('}');
}

std::optional<Record> from_line(std::string_view text, std::string_view sweep_hash) {
  const std::optional<Json> line = json::parse_if_json(text);
  const Json* const of = line ? line->find("sweep_hash") : nullptr;
  if (of == nullptr || *of != sweep_hash) return std::nullopt;
  try {
    return read_record(JsonReader(*line));
  } catch (const ConfigError&) {  // a key is missing or of another kind: not our line
    return std::nullopt;
  }
}

}  // namespace photonrail::sweep
