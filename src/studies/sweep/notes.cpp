#include "studies/sweep/notes.hpp"
#include "json/in_file.hpp"

#include "config/json_reader.hpp"
#include "core/counted.hpp"
#include "core/printed.hpp"
#include "formats/input_file.hpp"
#include "json/text.hpp"
#include "photonrail/core/work.hpp"
#include "photonrail/study/sweep.hpp"
#include "report/replace_file.hpp"
#include "report/run_json.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <tuple>

namespace photonrail::sweep {

namespace {

constexpr const char* kNotesFile = "notes.json";
constexpr std::size_t kMaxTimed = 200'000;  // points that are compared with each other
constexpr std::size_t kMaxNamed = 4;        // values that a sentence names
constexpr std::string_view kAnswers[] = {"goodput.", "serving.", "rl."};
constexpr double kLong = 10.0;  // seconds, from which the time of a sweep is worth a note

struct Meaning {
  std::string_view id;
  std::string_view key;
  std::string_view text;  ///< '%': the note's number as a percentage
};
constexpr Meaning kMeanings[] = {
    {"one-tier", "/cluster/rail/oversubscription",
     "one switch holds all ports of a rail, so that oversubscription and the latency of a second tier have no effect"},
    {"uplinks", "/cluster/rail/oversubscription",
     "the busiest uplinks are busy % of the time, so that oversubscription costs little"},
    {"idle-gpus", "/cluster/servers", "% of the GPUs are idle; cost and power are of the whole cluster"},
    {"no-rail-traffic", "/cluster/rail", "no byte crosses a rail: NICs, rails and the controller have no effect"},
    {"never-switches", "/cluster/rail/reconfiguration_ms", "the rails set their circuits once and never switch"},
    {"hidden-switching", "/cluster/rail/reconfiguration_ms",
     "all reconfigurations are hidden behind other work, and a shorter delay saves nothing"},
    {"refit-provisioned", "/controller",
     "\"provisioned\" has no effect on refits, whose circuits are lit, or which follow other work at once"},
    {"opened-circuits", "/workload/serving/transfer/open", "\"at_prefill\" opens no circuit, as no controller provisions"},
    {"uplink-routing", "/cluster/rail/uplinks",
     "single uplinks are busier than their mean, or their keys have no effect (--point of one of them says which)"},
    {"first-step", "/run/iterations", "the first step takes longer than later ones, as it lights its circuits"},
    {"binds", "/run/critical_path", "one part makes % of the critical path"},
    {"forecast", "--point-limit", "the run was expected to take ten seconds or more"},
    {"unused-sm-share", "/executor/sm_share", "a share of the multiprocessors is for traffic that the job does not have"},
    {"unused-accuracy", "/network/accuracy", "no crowd of flows is large enough for the accuracy to have an effect"},
    {"nothing-drawn", "/run/spread_seeds", "nothing is drawn at random, so there is no spread"}};

const Meaning* meaning_of(std::string_view id) {
  const auto* const at =
      std::find_if(std::begin(kMeanings), std::end(kMeanings), [&](const Meaning& m) { return m.id == id; });
  return at == std::end(kMeanings) ? nullptr : at;
}

std::string per_cent_range(double least, double most) {
  const auto one = [](double share) {
    return share < 0.1 ? 100.0 * share : static_cast<double>(static_cast<int>(100.0 * share + 0.5));
  };
  if (one(least) == one(most)) return core::printed("%.2g %%", one(most));
  return core::printed("%.2g to %.2g %%", one(least), one(most));
}

std::string last_key(std::string_view pointer) { return std::string(pointer.substr(pointer.rfind('/') + 1)); }

std::string value_text(const Json& value) { return value.is_string() ? value.string() : value.canonical(); }

// Where a value has a comma or a word that lists have, all are in quotation marks.
std::string enumerated(const std::vector<std::string>& values) {
  const bool quoted = std::any_of(values.begin(), values.end(), [](const std::string& value) {
    return value.find(',') != std::string::npos || value.find(" and ") != std::string::npos;
  });
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + (quoted ? '"' + values[i] + '"' : values[i]);
  return text;
}

}  // namespace

void SweepNotes::add(const Record& record) {
  ++points_;
  seconds_ += record.provenance.wall_s;
  if (record.provenance.wall_s > longest_s_) {
    longest_s_ = record.provenance.wall_s;
    longest_ = "point " + std::to_string(record.point) + " (" + record.name + ")";
  }
  Timed point;
  bool timed = false;
  for (const auto& [name, value] : record.metrics) {
    if (name.starts_with(kNoteMetric)) {
      const std::string id = name.substr(std::string_view(kNoteMetric).size());
      const auto [at, fresh] = kinds_.try_emplace(id, Kind{0, record.name, value, value});
      ++at->second.points;
      at->second.least = std::min(at->second.least, value);
      at->second.most = std::max(at->second.most, value);
      point.notes.push_back(id);
    } else if (name == "steady_iteration_s") {
      point.step_s = value;
    } else if (name == "makespan_s") {
      point.makespan_s = value;
      timed = true;
    } else if (name == "per_rank_mean_s.reconfiguration_wait") {
      point.waits = value > 0.0;
    } else if (name == "reconfigurations.count") {
      point.switches = value > 0.0;
    } else if (std::any_of(std::begin(kAnswers), std::end(kAnswers), [&](auto of) { return name.starts_with(of); })) {
      point.answers.push_back(value);
    }
  }
  if (!timed || timed_.size() >= kMaxTimed) return;
  point.values.resize(codes_.size());
  for (const auto& [name, value] : record.parameters) {
    const auto at = std::find(manifest_.parameters.begin(), manifest_.parameters.end(), name);
    if (at == manifest_.parameters.end()) continue;
    const auto p = static_cast<std::size_t>(at - manifest_.parameters.begin());
    const auto next = static_cast<std::uint32_t>(codes_[p].size() + 1);
    point.values[p] = codes_[p].try_emplace(value_text(value), next).first->second;
  }
  timed_.push_back(std::move(point));
}

Note SweepNotes::note_of(const std::string& id, const Kind& kind) const {
  const Meaning* const meaning = meaning_of(id);
  std::string text(meaning == nullptr ? "note " + id : std::string(meaning->text));
  if (const std::size_t at = text.find('%'); at != std::string::npos)
    text.replace(at, 1, per_cent_range(kind.least, kind.most));
  const std::string all = "all " + core::counted(points_, "point");
  const std::string some =
      std::to_string(kind.points) + " of " + core::counted(points_, "point") + " (the first: " + kind.first + ")";
  return {id, meaning == nullptr ? "" : std::string(meaning->key),
          "At " + (kind.points == points_ ? all : some) + " " + text + ".", static_cast<double>(kind.points)};
}

void SweepNotes::add_time(std::vector<Note>& notes) const {
  if (seconds_ < kLong) return;
  std::string text = core::counted(points_, "point") + " took " + rough_time(seconds_) +
                     (points_ > 1 ? " one after another, the longest " + rough_time(longest_s_) + ": " : ": ") + longest_ +
                     ".";
  if (manifest_.points > points_) {
    const std::uint64_t missing = manifest_.points - points_;
    text += " " + core::counted(missing, "point") + (missing == 1 ? " is" : " are") + " missing: at most about " +
            rough_time(seconds_ / static_cast<double>(points_) * static_cast<double>(missing)) +
            " more, as the longest begin.";
  }
  notes.push_back(
      {"time", "--point-limit", text + " --dry-run forecasts the time of each, --point-limit ends longer ones.", seconds_});
}

// Why values of a parameter take the same time: a note about this setting that the points of all values have, but of the
// one with which the setting is not made; or their waits.
std::string SweepNotes::reason(std::size_t parameter, const std::vector<std::uint32_t>& values) const {
  const auto count = [&](std::uint32_t value, const auto& holds) {
    return std::count_if(timed_.begin(), timed_.end(),
                         [&](const Timed& point) { return point.values[parameter] == value && holds(point); });
  };
  const auto any = [](const Timed&) { return true; };
  for (const Meaning& meaning : kMeanings) {
    if (last_key(meaning.key) != manifest_.parameters[parameter] || meaning.text.find('%') != std::string_view::npos)
      continue;
    const auto has = [&](const Timed& point) {
      return std::find(point.notes.begin(), point.notes.end(), meaning.id) != point.notes.end();
    };
    const auto noted = std::count_if(values.begin(), values.end(),
                                     [&](std::uint32_t value) { return count(value, has) == count(value, any); });
    if (noted + 1 >= static_cast<std::ptrdiff_t>(values.size())) return std::string(meaning.text);
  }
  const auto switches = [](const Timed& point) { return point.switches; };
  const auto waits = [](const Timed& point) { return point.waits; };
  const bool hidden = std::any_of(values.begin(), values.end(), [&](std::uint32_t v) { return count(v, switches) > 0; }) &&
                      std::all_of(values.begin(), values.end(), [&](std::uint32_t v) { return count(v, waits) == 0; });
  return hidden ? "no rank waits for a circuit there" : "what ends the run is the same";
}

void SweepNotes::add_coincidences(std::size_t parameter, std::vector<Note>& notes) const {
  using Times = std::vector<std::tuple<std::vector<std::uint32_t>, double, double, std::vector<double>>>;
  std::map<std::uint32_t, Times> times;  // by value: the other values, and what the point took
  for (const Timed& point : timed_) {
    std::vector<std::uint32_t> others = point.values;
    others[parameter] = 0;
    times[point.values[parameter]].emplace_back(std::move(others), point.step_s, point.makespan_s, point.answers);
  }
  std::map<Times, std::vector<std::uint32_t>> alike;
  for (auto& [value, of_value] : times) {
    if (value == 0) continue;
    std::sort(of_value.begin(), of_value.end());
    alike[of_value].push_back(value);
  }
  const std::string& name = manifest_.parameters[parameter];
  for (const auto& [of_value, values] : alike) {
    if (values.size() < 2) continue;
    std::vector<std::string> texts;
    for (const std::uint32_t value : values) {
      texts.push_back(std::find_if(codes_[parameter].begin(), codes_[parameter].end(), [value](const auto& code) {
                        return code.second == value;
                      })->first);
    }
    const bool all = values.size() == codes_[parameter].size() && times.count(0) == 0;
    std::string what = values.size() <= kMaxNamed ? enumerated(texts)
                                                  : std::to_string(values.size()) + " of its values, from " +
                                                        texts.front() + " to " + texts.back() + ",";
    const std::string where = of_value.size() > 1 ? " at all " + std::to_string(of_value.size()) + " points of each" : "";
    const auto key = std::find_if(manifest_.varied.begin(), manifest_.varied.end(),
                                  [&](const std::string& pointer) { return last_key(pointer) == name; });
    notes.push_back({"coincide", key == manifest_.varied.end() ? "" : *key,
                     "\"" + name + "\"" + (all ? " has no effect on time: " : ": ") + what + " take the same time" + where +
                         ", as " + reason(parameter, values) + ".",
                     static_cast<double>(values.size())});
  }
}

std::vector<Note> SweepNotes::all() const {
  std::vector<Note> notes;
  for (const auto& [id, kind] : kinds_) notes.push_back(note_of(id, kind));
  add_time(notes);
  for (std::size_t p = 0; p < codes_.size() && timed_.size() < kMaxTimed; ++p) add_coincidences(p, notes);
  return notes;
}

void write_notes(const std::filesystem::path& directory, const std::vector<Note>& notes) {
  report::replace_file(directory / kNotesFile,
                       [&](std::ostream& out) { out << report::notes_json(notes).dump(1) << '\n'; });
}

}  // namespace photonrail::sweep

namespace photonrail {

std::vector<Note> sweep_notes(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / sweep::kNotesFile;
  std::vector<Note> notes;
  std::error_code ignored;
  if (!exists(file, ignored)) return notes;
  json::in_file(formats::read_file(file), file.string(), [&](const json::Json& root) {
    for (json::JsonReader note : json::JsonReader(root).elements()) {
      notes.push_back({note.child("id").string(), note.child("key").string(), note.child("text").string(),
                       note.child("value").number(0.0, 1e300)});
      note.finish();
    }
  });
  return notes;
}

}  // namespace photonrail
