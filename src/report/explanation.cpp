#include "report/explanation.hpp"

#include "photonrail/report.hpp"
#include "report/rl_report.hpp"
#include "report/text.hpp"
#include "report/told_once.hpp"

#include <algorithm>
#include <string_view>

namespace photonrail::report {

namespace {

constexpr std::size_t kParts = 8;  // of a path that are shown one by one
constexpr std::size_t kPartColumns = 42;

std::string share_text(double share) { return number("%6.1f %%", 100.0 * share); }

std::string part_line(const std::string& label, Duration time, double whole) {
  return "  " + pad_right(fit(label, kPartColumns), kPartColumns) + pad_left(to_text(time), 12) +
         pad_left(share_text(whole > 0.0 ? to_seconds(time) / whole : 0.0), 11) + "\n";
}

std::string paragraph_of(const Note& note) { return printable(sentence_of(note.text, note.key)); }

// Breaks at blanks; lines but the first begin with two of them.
std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::string line;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string word(text.substr(0, blank));
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (!line.empty() && columns(line) + 1 + columns(word) > width) {
      out += line + "\n";
      line = "  " + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return out + line + "\n";
}

}  // namespace

// Longest first, without those of no time.
std::vector<std::pair<WaitCause, Duration>> waits_of(const CriticalPath& path) {
  std::vector<std::pair<WaitCause, Duration>> list;
  const PeerWaits means = path.mean_waits();
  for (std::size_t c = 0; c < means.size(); ++c) {
    if (means[c] > Duration{}) list.emplace_back(static_cast<WaitCause>(c), means[c]);
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

std::string path_text(const RunResult& result, int width) {
  if (!result.critical_path || result.critical_path->parts.empty()) return {};
  const CriticalPath& path = *result.critical_path;
  const double whole = to_seconds(result.makespan);
  std::string text = fit(result.name, 48) + ": the critical path, whole run\n";
  const std::size_t shown = path.parts.size() <= kParts ? path.parts.size() : kParts - 1;
  Duration rest{};
  for (std::size_t i = 0; i < path.parts.size(); ++i) {
    if (i < shown) {
      text += part_line(path.parts[i].label(), path.parts[i].time, whole);
    } else {
      rest += path.parts[i].time;
    }
  }
  if (shown < path.parts.size()) text += part_line(std::to_string(path.parts.size() - shown) + " others", rest, whole);
  if (path.busiest) {
    text += "  " + wrapped("busiest on it: " + path.busiest->name + ", " +
                               number("%.0f %% busy", 100.0 * path.busiest->utilisation) + " in its " +
                               to_text(path.busiest->time),
                           static_cast<std::size_t>(std::max(width, 60)));
  }
  const auto waits = waits_of(path);
  if (!waits.empty()) text += "\nwaiting for peers by cause, mean of ranks\n";
  for (const auto& [cause, time] : waits) text += part_line(std::string(name(cause)), time, whole);
  return text;
}

std::string parts_text(const RunResult& result) {
  std::string text;
  if (result.serving) {
    const ServingResult& serving = *result.serving;
    text += fit(result.name, 48) + ": the mean TTFT, part by part\n";
    for (int p = 0; p < kTtftPartCount; ++p) {
      const Duration mean = serving.parts[p].mean;
      if (mean > Duration{}) {
        std::string part(name(static_cast<TtftPart>(p)));
        std::replace(part.begin(), part.end(), '_', ' ');
        text += part_line(part, mean, to_seconds(serving.ttft.mean));
      }
    }
  } else if (result.rl) {
    text += fit(result.name, 36) + ": a step, mean of all but first and last\n";
    for (const auto& [what, value] : rl_lines(*result.rl)) {
      text += "  " + pad_right(fit(what, kPartColumns), kPartColumns) + pad_left(value, 12) + "\n";
    }
  }
  return text;
}

std::string_view key_of(run::Measure::Kind kind) {
  constexpr std::string_view kKeys[] = {"step_s", "ttft_s", "rate_per_s"};
  return kKeys[static_cast<std::size_t>(kind)];
}

std::string worth_text(std::span<const run::Worth> worth, const run::Measure& base) {
  constexpr const char* kHeads[][2] = {{"step", "shorter by"}, {"mean TTFT", "shorter by"}, {"greatest rate", "more by"}};
  const auto& heads = kHeads[static_cast<std::size_t>(base.kind)];
  const auto value = [](const run::Measure& of) {
    return of.kind == run::Measure::Kind::kRate ? number("%.4g/s", of.value) : to_text(from_seconds(of.value));
  };
  std::string text =
      pad_right("each changed alone, run again", 48) + pad_left(heads[0], 14) + pad_left(heads[1], 14) + "\n";
  text += pad_right("  as it is", 48) + pad_left(value(base), 14) + "\n";
  for (const run::Worth& of : worth) {
    const std::string what = "  " + std::string(of.resource->name) + ", " + std::string(of.resource->change);
    text += pad_right(fit(what, 47), 48);
    text += of.error.empty() ? pad_left(value(of.measure), 14) + pad_left(number("%.2f %%", 100.0 * of.gain), 14)
                             : "  cannot run: " + of.error;
    text += "\n";
  }
  return text;
}

std::string notes_text(std::span<const Note> notes, int width) {
  std::string text;
  for (const Note& note : notes) text += wrapped(paragraph_of(note), static_cast<std::size_t>(std::max(width, 60)));
  return text;
}

std::string notes_text(std::span<const RunResult> results, int width) {
  std::vector<Told> told;
  for (const RunResult& result : results) {
    for (const Note& note : result.notes) told.push_back({results.size() > 1 ? result.name : "", paragraph_of(note)});
  }
  std::string text;
  for (const std::string& line : told_once(told, results.size()))
    text += wrapped(line, static_cast<std::size_t>(std::max(width, 60)));
  return text;
}

std::vector<std::string> choices_told(std::span<const RunResult> results) {
  std::vector<Told> told;
  for (const RunResult& result : results) {
    for (const std::string& line : result.choices) told.push_back({result.name, line});
  }
  return told_once(told, results.size());
}

std::string error_text(std::string_view error) { return printable(error, "\n"); }

json::Json worth_json(std::span<const run::Worth> worth) {
  json::Json list = json::Json::array();
  for (const run::Worth& of : worth) {
    json::Json& entry = list.push_back(json::Json{{"resource", std::string(of.resource->name)},
                                                  {"key", std::string(of.resource->key)},
                                                  {"change", std::string(of.resource->change)}});
    if (of.error.empty()) {
      entry[std::string(key_of(of.measure.kind))] = of.measure.value;
      entry["gain"] = of.gain;
    } else {
      entry["error"] = of.error;
    }
  }
  return list;
}

}  // namespace photonrail::report
