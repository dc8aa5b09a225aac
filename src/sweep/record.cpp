#include "sweep/record.hpp"

#include "report/result_json.hpp"

#include <algorithm>
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

std::string text_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

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

Record read_record(const Json& line) {
  Record record;
  record.point = line.at("point");
  record.name = line.at("name");
  record.seed = line.at("seed");
  record.repetition = line.at("repetition");
  record.exit_status = line.at("exit_status");
  record.error = line.value("error", "");
  record.scenario_hash = line.at("scenario_hash");
  record.version = line.at("version");
  for (const auto& entry : line.at("parameters").items()) record.parameters.emplace_back(entry.key(), entry.value());
  for (const auto& entry : line.at("metrics").items()) record.metrics.emplace_back(entry.key(), entry.value());
  for (const auto& entry : line.at("phases").items()) {
    const Json& p = entry.value();
    record.phases.push_back({entry.key(), p.at("bytes"), p.at("operations"), p.at("busy_s"), p.at("exposed_s")});
  }
  for (const Json& w : line.at("windows")) record.windows.push_back({w.at(0), w.at(1), w.at(2), w.at(3)});
  const Json& made = line.at("provenance");
  record.provenance = {made.at("host"), made.at("started"), made.at("wall_s"), made.at("peak_rss_mb")};
  return record;
}

}  // namespace

void take_result(const RunResult& result, Record& record) {
  record.seed = result.seed;
  record.metrics = report::numbers_of(result);
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
  line.add("scenario_hash", text_of(record.scenario_hash)).add("version", text_of(record.version));
  line.add("parameters", parameters.close('}')).add("metrics", metrics.close('}')).add("phases", phases.close('}'));
  line.add("windows", windows.close(']')).add("provenance", provenance.close('}'));
  return line.close('}');
}

std::optional<Record> from_line(std::string_view text, std::string_view sweep_hash) {
  const Json line = Json::parse(text, nullptr, false);
  if (!line.is_object() || line.value("sweep_hash", "") != sweep_hash) return std::nullopt;
  try {
    return read_record(line);
  } catch (const Json::exception&) {  // a key is missing or of another kind: not our line
    return std::nullopt;
  }
}

}  // namespace photonrail::sweep
