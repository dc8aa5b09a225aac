#include "studies/sweep/axis.hpp"
#include "core/counted.hpp"
#include "core/printed.hpp"
#include "studies/sweep/sweep_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>

namespace photonrail::sweep {

namespace {

constexpr double kMaxValues = 1e6;
constexpr double kExact = 9007199254740992.0;  // 2^53: whole numbers below it are what they seem

// Twelve digits: 25, where the powers of a ratio give 24.999999999999996.
double rounded(double x) { return std::strtod(core::printed("%.12g", x).c_str(), nullptr); }

std::vector<Json> as_list(const JsonReader& at, const std::vector<double>& numbers, bool whole) {
  std::vector<Json> list;
  for (const double x : numbers) {
    Json value = number_json(rounded(whole ? std::round(x) : x));
    if (!list.empty() && list.back() == value)
      at.fail(value.dump() + " comes twice", "fewer points, or numbers that lie further apart");
    list.push_back(std::move(value));
  }
  return list;
}

bool read_whole(JsonReader& section) {
  const auto whole = section.optional("whole");
  return whole && whole->boolean();
}

std::vector<Json> read_range(JsonReader section) {
  const double from = number_of(section.child("from"), kBoundShape);
  const JsonReader end = section.child("to");
  const double to = number_of(end, kBoundShape);
  const auto step = section.optional("step");
  const auto points = section.optional("points");
  const bool whole = read_whole(section);
  section.finish();
  if (step.has_value() == points.has_value()) section.fail("needs exactly one of \"step\", \"points\"");
  std::vector<double> numbers;
  if (points) {
    const auto n = whole_of(*points, kPointsShape);
    for (std::uint64_t i = 0; i < n; ++i) {
      numbers.push_back(i + 1 == n ? to : from + (to - from) * static_cast<double>(i) / static_cast<double>(n - 1));
    }
  } else {
    const double width = number_of(*step, kBoundShape);
    const double steps = (to - from) / width;
    if (!(steps >= 0.0)) step->fail("does not lead from " + Json(from).dump() + " to " + Json(to).dump());
    if (steps > kMaxValues) step->fail("makes more than a million values", "a longer step");
    const auto n = static_cast<std::uint32_t>(std::floor(steps + 1e-9));
    for (std::uint32_t i = 0; i <= n; ++i) numbers.push_back(from + width * i);
  }
  return as_list(section, numbers, whole);
}

std::vector<Json> read_log_range(JsonReader section) {
  const double from = number_of(section.child("from"), kLogBoundShape);
  const double to = number_of(section.child("to"), kLogBoundShape);
  const auto n = static_cast<std::uint32_t>(whole_of(section.child("points"), kPointsShape));
  const bool whole = read_whole(section);
  section.finish();
  std::vector<double> numbers;
  for (std::uint32_t i = 0; i < n; ++i) {
    numbers.push_back(i == 0 ? from : i + 1 == n ? to : from * std::pow(to / from, static_cast<double>(i) / (n - 1)));
  }
  return as_list(section, numbers, whole);
}

std::vector<Json> read_values(const JsonReader& section) {
  std::vector<Json> list;
  for (const JsonReader& value : section.elements()) list.push_back(value.json());
  if (list.empty()) section.fail("is empty", "at least one value");
  return list;
}

// Points that are alike would be run, counted and drawn twice.
std::vector<Json> read_distinct_values(const JsonReader& section) {
  std::vector<Json> list = read_values(section);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!seen.insert(list[i].canonical()).second)
      section.elements()[i].fail(list[i].canonical() + " comes twice", "\"seeds\" or \"repetitions\" run a point again");
  }
  return list;
}

// Of a zip: a list, or an object with a range.
std::vector<Json> read_column(JsonReader value) {
  if (value.is_array()) return read_values(value);
  const auto range = value.optional("range");
  const auto log_range = value.optional("log_range");
  value.finish();
  if (range.has_value() == log_range.has_value()) value.fail("must be an array, or have one of \"range\", \"log_range\"");
  return range ? read_range(*range) : read_log_range(*log_range);
}

// The members of an object in the order of the file, which is that of the columns and of the points.
std::vector<std::pair<std::string, JsonReader>> as_written(const JsonReader& section) {
  static_cast<void>(section.members());  // an object, or an error
  std::vector<std::pair<std::string, JsonReader>> list;
  for (const auto& [key, value] : section.json().members())
    list.emplace_back(key, JsonReader(value, config::join_pointer(section.pointer(), key)));
  return list;
}

// The key of an object that is a pointer.
std::string read_key(const std::string& key, const JsonReader& value) {
  const Json text = key;
  return read_pointer(JsonReader(text, value.pointer()));
}

void read_zip(const JsonReader& section, Axis& axis) {
  for (const auto& [key, value] : as_written(section)) {
    const std::string pointer = read_key(key, value);
    const std::vector<Json> column = read_column(value);
    if (axis.names.empty()) axis.choices.resize(column.size());
    if (column.size() != axis.choices.size()) {
      value.fail("has " + core::counted(column.size(), "value") + ", and the list before it " +
                     std::to_string(axis.choices.size()),
                 "zipped lists are equally long");
    }
    axis.names.push_back(parameter_name(pointer));
    for (std::size_t i = 0; i < column.size(); ++i) {
      axis.choices[i].parameters.emplace_back(axis.names.back(), column[i]);
      axis.choices[i].patch.push_back({pointer, column[i].canonical()});
    }
  }
  if (axis.names.empty()) section.fail("is empty", "at least one pointer");
}

void read_variants(const JsonReader& section, const std::string& name, Axis& axis) {
  axis.names = {name};
  for (const auto& [label, patch] : as_written(section)) {
    Choice choice{{{name, label}}, {}};
    for (const auto& [key, to] : as_written(patch)) {
      choice.patch.push_back({read_key(key, to), to.json().canonical()});
    }
    axis.choices.push_back(std::move(choice));
  }
  if (axis.choices.empty()) section.fail("is empty", "at least one variant");
}

void read_list(std::vector<Json> values, const std::string& pointer, const std::string& name, Axis& axis) {
  axis.names = {name};
  for (Json& value : values) {
    Override set{pointer, value.canonical()};
    axis.choices.push_back({{{name, std::move(value)}}, {std::move(set)}});
  }
}

}  // namespace

Json number_json(double x) {
  if (x == std::floor(x) && std::abs(x) < kExact) return static_cast<std::int64_t>(x);
  return x;
}

std::string number_text(double x) {
  std::array<char, 40> text{};
  char* const end = text.data() + text.size();
  const bool whole = x == std::floor(x) && std::abs(x) < kExact;
  const auto written =
      whole ? std::to_chars(text.data(), end, static_cast<std::int64_t>(x)) : std::to_chars(text.data(), end, x);
  return {text.data(), written.ptr};
}

bool is_column_of_tables(std::string_view name) {
  constexpr std::string_view kColumns[] = {"point",  "name",       "seed",          "repetition", "status", "exit_status",
                                           "error",  "warnings",   "scenario_hash", "version",    "host",   "started",
                                           "wall_s", "infeasible", "peak_rss_mb",   "choices"};
  return std::find(std::begin(kColumns), std::end(kColumns), name) != std::end(kColumns);
}

std::string parameter_name(const std::string& pointer) {
  const std::size_t last = pointer.rfind('/');
  std::string name = pointer.substr(last + 1);
  if (last == 0 || !is_column_of_tables(name)) return name;
  const std::size_t before = pointer.rfind('/', last - 1);
  return pointer.substr(before + 1, last - before - 1) + "_" + name;
}

std::string read_pointer(const JsonReader& value) {
  std::string pointer = value.string();
  if (!pointer.starts_with('/') || pointer.ends_with('/')) {
    value.fail("\"" + pointer + "\" is not a JSON pointer to a value", "for example /cluster/servers");
  }
  try {
    static_cast<void>(json::split_pointer(pointer));
  } catch (const ConfigError& error) {
    value.fail("\"" + error.where() + "\" " + error.problem(), error.hint());
  }
  if (pointer == "/run/seed" || pointer == "/run") value.fail("seeds are not an axis", "use \"seeds\" or \"repetitions\"");
  return pointer;
}

Axis read_axis(JsonReader section, const KnownParameters& above) {
  const auto pointer = section.optional("pointer");
  const auto name = section.optional("name");
  const auto values = section.optional("values");
  const auto range = section.optional("range");
  const auto log_range = section.optional("log_range");
  const auto zip = section.optional("zip");
  const auto variants = section.optional("variants");
  const auto when = section.optional("when");
  section.finish();
  if (values.has_value() + range.has_value() + log_range.has_value() + zip.has_value() + variants.has_value() != 1) {
    section.fail("needs exactly one of \"values\", \"range\", \"log_range\", \"zip\", \"variants\"");
  }
  Axis axis;
  if (when) axis.when = above.read(*when);
  if (zip || variants) section.refuse("pointer", "the keys of a zip and of variants are the pointers", "remove it");
  if (zip) {
    section.refuse("name", "the parameters of a zip are the last keys of its pointers", "remove it");
    read_zip(*zip, axis);
  } else if (variants) {
    if (!name) section.missing("name", "variants need one");
    read_variants(*variants, name->string(), axis);
  } else {
    if (!pointer) section.missing("pointer", "what the values set, for example /cluster/servers");
    const std::string to = read_pointer(*pointer);
    read_list(values  ? read_distinct_values(*values)
              : range ? read_range(*range)
                      : read_log_range(*log_range),
              to, name ? name->string() : parameter_name(to), axis);
  }
  return axis;
}

}  // namespace photonrail::sweep
