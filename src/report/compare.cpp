// Results and the tables of sweeps, value by value.
#include "report/compare.hpp"
#include "core/number_in.hpp"

#include "core/counted.hpp"
#include "core/csv.hpp"
#include "json/file_text.hpp"
#include "json/json.hpp"
#include "json/seal.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "report/difference_list.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace photonrail::report {

namespace {

namespace fs = std::filesystem;
using json::Json;
using report::DifferenceList;

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Of the machine: they may differ between two runs of the same.
constexpr std::array<std::string_view, 4> kOfTheMachine{"engine/wall_s", "engine/peak_rss_mb", "wall_s", "peak_rss_mb"};
// Keys of results and columns of tables that describe the run and how it was simulated. Their differences are not judged.
constexpr std::array<std::string_view, 15> kNotJudged{
    "name",    "photonrail_version", "seed",      "warnings",   "notes",  "choices", "folding", "engine", "version", "host",
    "started", "scenario_hash",      "simulated", "infeasible", "network"};

// `key`: of a result, or a column, "engine.events", whose first part is the key that it is of.
bool is_judged(std::string_view key) { return !among(kNotJudged, key.substr(0, key.find('.'))); }

std::string compared_text(const Json& value) { return value.is_string() ? value.string() : value.dump(); }

class Walk {
 public:
  Walk(DifferenceList& into, std::string prefix) : into_(into), prefix_(std::move(prefix)) {}

  void result(const Json& a, const Json& b) {
    each_key(a, b, [&](const std::string& key, const Json* in_a, const Json* in_b) {
      judged_ = is_judged(key);
      either(key, in_a, in_b);
    });
  }

 private:
  template <class Do>
  static void each_key(const Json& a, const Json& b, Do&& todo) {
    for (const auto& [key, value] : a.members()) todo(key, &value, b.find(key));
    for (const auto& [key, value] : b.members()) {
      if (!a.contains(key)) todo(key, nullptr, &value);
    }
  }

  void either(const std::string& place, const Json* a, const Json* b) {
    if (among(kOfTheMachine, place)) return;
    const bool judged = judged_;
    if (place == "jobs/*/simulated" || place == "jobs/*/name") judged_ = false;
    compare(place, a, b);
    judged_ = judged;
  }

  void compare(const std::string& place, const Json* a, const Json* b) {
    if (a != nullptr && b != nullptr) return both(place, *a, *b);
    const std::string there = a != nullptr ? brief(*a) : brief(*b);
    into_.texts(prefix_ + place, a != nullptr ? there : "absent", b != nullptr ? there : "absent", judged_);
  }

  void both(const std::string& place, const Json& a, const Json& b) {
    if (a.is_object() && b.is_object()) {
      each_key(a, b,
               [&](const std::string& key, const Json* in_a, const Json* in_b) { either(place + "/" + key, in_a, in_b); });
    } else if (a.is_array() && b.is_array()) {
      if (a.size() != b.size()) {
        into_.numbers(prefix_ + place + " (how many)", static_cast<double>(a.size()), static_cast<double>(b.size()),
                      judged_);
      }
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) both(place + "/*", a.elements()[i], b.elements()[i]);
    } else if (a.is_number() && b.is_number()) {
      into_.numbers(prefix_ + place, a.number(), b.number(), judged_);
    } else {
      into_.texts(prefix_ + place, brief(a), brief(b), judged_);
    }
  }

  static std::string brief(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return core::counted(value.size(), "value");
    return compared_text(value);
  }

  DifferenceList& into_;
  std::string prefix_;
  bool judged_ = true;
};

// "0-7,12" as ranks, each with the row; what is no such text is left out.
void add_ranks(std::string_view text, const Json& row, std::map<std::uint32_t, const Json*>& rows) {
  constexpr std::uint32_t kMaxRanks = 1U << 24;
  for (const char *at = text.data(), *const end = at + text.size(); at < end; ++at) {
    std::uint32_t first = 0;
    auto [next, problem] = std::from_chars(at, end, first);
    std::uint32_t last = first;
    if (problem == std::errc{} && next < end && *next == '-') {
      const auto behind = std::from_chars(next + 1, end, last);
      problem = behind.ec;
      next = behind.ptr;
    }
    if (problem != std::errc{} || last >= kMaxRanks) return;
    for (std::uint32_t rank = first; rank <= last; ++rank) rows[rank] = &row;
    at = next;
  }
}

// A row for each rank in place of one for ranks with the same times: two runs may have other classes.
Json with_ranks(const Json& result) {
  const Json* const classes = result.find("rank_classes");
  if (classes == nullptr || !classes->is_array()) return result;
  std::map<std::uint32_t, const Json*> rows;
  for (const Json& row : classes->elements()) {
    const Json* const ranks = row.is_object() ? row.find("ranks") : nullptr;
    if (ranks != nullptr && ranks->is_string()) add_ranks(ranks->string(), row, rows);
  }
  Json expanded;
  for (const auto& [key, value] : result.members()) {
    if (key != "rank_classes") expanded[key] = value;
  }
  Json& list = expanded["ranks"] = Json::array();
  for (const auto& [rank, row] : rows) {
    Json& times = list.push_back(Json::object());
    for (const auto& [key, value] : row->members()) {
      if (key != "ranks" && key != "count") times[key] = value;
    }
  }
  return expanded;
}

Json parse_result(std::string_view text, std::string_view file) {
  const Json result = json::parse_json(json::without_seal(std::string(text), std::string(file)), file);
  const Json* const schema = result.find("schema");
  if (schema == nullptr || *schema != "photonrail.result/1")
    throw ConfigError(std::string(file), "is not photonrail.result/1", "a result.json of photonrail run --out");
  return with_ranks(result);
}

void compare_cells(const std::string& place, const std::string& a, const std::string& b, bool judged,
                   DifferenceList& into) {
  const auto x = core::number_in<double>(a);
  const auto y = core::number_in<double>(b);
  if (x && y) return into.numbers(place, *x, *y, judged);
  into.texts(place, a.empty() ? "absent" : a, b.empty() ? "absent" : b, judged);
}

void compare_tables(std::string_view a, std::string_view b, const std::string& prefix, DifferenceList& into) {
  const auto rows_a = core::parse_csv(a);
  const auto rows_b = core::parse_csv(b);
  static const std::vector<std::string> kNone;
  const auto& head_a = rows_a.empty() ? kNone : rows_a.front();
  const auto& head_b = rows_b.empty() ? kNone : rows_b.front();
  into.numbers(prefix + "lines", static_cast<double>(rows_a.size()), static_cast<double>(rows_b.size()), true);
  for (const std::string& column : head_b) {
    const bool known = std::find(head_a.begin(), head_a.end(), column) != head_a.end();
    if (!known) into.texts(prefix + column, "absent", "a column", is_judged(column));
  }
  for (std::size_t c = 0; c < head_a.size(); ++c) {
    const std::string& column = head_a[c];
    if (among(kOfTheMachine, column)) continue;
    const auto other = static_cast<std::size_t>(std::find(head_b.begin(), head_b.end(), column) - head_b.begin());
    if (other == head_b.size()) {
      into.texts(prefix + column, "a column", "absent", is_judged(column));
      continue;
    }
    for (std::size_t r = 1; r < std::min(rows_a.size(), rows_b.size()); ++r) {
      const auto cell = [](const std::vector<std::string>& row, std::size_t at) {
        return at < row.size() ? row[at] : std::string();
      };
      compare_cells(prefix + column, cell(rows_a[r], c), cell(rows_b[r], other), is_judged(column), into);
    }
  }
}

void compare_files(const fs::path& a, const fs::path& b, const std::string& prefix, DifferenceList& into) {
  const std::string text_a = json::file_text(a);
  const std::string text_b = json::file_text(b);
  const bool table = a.extension() == ".csv";
  if (table != (b.extension() == ".csv")) throw ConfigError(b.string(), "is not of the kind of " + a.string());
  if (table) return compare_tables(text_a, text_b, prefix, into);
  Walk(into, prefix).result(parse_result(text_a, a.string()), parse_result(text_b, b.string()));
}

std::set<fs::path> results_below(const fs::path& folder) {
  std::set<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path name = entry.path().filename();
    if (name == "result.json" || name == "results.csv") found.insert(entry.path().lexically_relative(folder));
  }
  if (found.empty())
    throw ConfigError(folder.string(), "has no result.json and no results.csv", "a folder of photonrail run --out");
  return found;
}

void compare_folders(const fs::path& a, const fs::path& b, DifferenceList& into) {
  const std::set<fs::path> in_a = results_below(a);
  const std::set<fs::path> in_b = results_below(b);
  for (const fs::path& file : in_a) {
    const std::string name = file.generic_string();
    if (!in_b.contains(file)) {
      into.texts(name, "a file", "absent", true);
    } else {
      compare_files(a / file, b / file, in_a.size() > 1 ? name + ": " : "", into);
    }
  }
  for (const fs::path& file : in_b) {
    if (!in_a.contains(file)) into.texts(file.generic_string(), "absent", "a file", true);
  }
}

}  // namespace

Comparison compare_results(std::string_view a, std::string_view b, std::string_view file_a, std::string_view file_b) {
  DifferenceList list;
  Walk(list, "").result(parse_result(a, file_a), parse_result(b, file_b));
  return list.take();
}

Comparison compare_paths(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  const bool folder = fs::is_directory(a, ignored);
  if (folder != fs::is_directory(b, ignored)) {
    throw ConfigError(folder ? b.string() : a.string(), "is not a folder, but the other path is",
                      "two files or two folders");
  }
  DifferenceList list;
  if (folder) {
    try {
      compare_folders(a, b, list);
    } catch (const fs::filesystem_error& error) {
      throw ConfigError(error.path1().string(), "cannot be read: " + error.code().message());
    }
  } else {
    compare_files(a, b, "", list);
  }
  return list.take();
}

}  // namespace photonrail::report
