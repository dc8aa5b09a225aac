#include "report/study_results.hpp"

#include "json/file_text.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::report {

namespace {

using json::Json;
namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxPictureBytes = 3'000'000;  // of all pictures in a page

/// A row of the table of points.
class PointRow {
 public:
  PointRow(Table& table, const std::string& name) : table_(table), row_(table.rows++) {
    table_.column("name", "info").set(row_, name);
  }

  void parameter(const std::string& name, const Json& value) {
    if (value.is_number()) return table_.column(name, "parameter").set(row_, value.number());
    table_.column(name, "parameter").set(row_, value.is_string() ? value.string() : value.canonical());
  }
  /// Nothing where `value` is no number.
  void metric(const std::string& name, const Json* value) {
    if (value != nullptr && value->is_number()) table_.column(name, "metric").set(row_, value->number());
  }
  void metric(const std::string& name, double value) { table_.column(name, "metric").set(row_, value); }

 private:
  Table& table_;
  std::size_t row_;
};

double number_at(const Json& node, const char* key) {
  const Json* const value = node.find(key);
  return value != nullptr && value->is_number() ? value->number() : 0.0;
}

std::string text_at(const Json& node, const char* key) {
  const Json* const value = node.find(key);
  return value != nullptr && value->is_string() ? value->string() : std::string();
}

const Json::Array& list_at(const Json& node, const char* key) {
  static const Json::Array kEmpty;
  const Json* const list = node.find(key);
  return list != nullptr && list->is_array() ? list->elements() : kEmpty;
}

// The mean of an estimate, and its bounds.
void add_estimate(const std::string& name, const Json* estimate, PointRow& row) {
  if (estimate == nullptr || !estimate->is_object()) return;
  row.metric("goodput." + name + "share", estimate->find("mean"));
  row.metric("goodput." + name + "low_share", estimate->find("low"));
  row.metric("goodput." + name + "high_share", estimate->find("high"));
}

void add_goodput_row(const Json& scenario, PageTables& tables) {
  PointRow row(tables.points, text_at(scenario, "name"));
  bool named = false;
  if (const Json* const parameters = scenario.find("parameters"); parameters != nullptr && parameters->is_object()) {
    for (const auto& [pointer, value] : parameters->members()) {
      const auto parsed = value.is_string() ? json::parse_if_json(value.string()) : std::nullopt;
      row.parameter(pointer.substr(pointer.rfind('/') + 1), parsed ? *parsed : value);
      named = true;
    }
  }
  if (!named) row.parameter("scenario", Json(text_at(scenario, "name")));
  add_estimate("", scenario.find("goodput"), row);
  add_estimate("ettr_", scenario.find("ettr"), row);
  if (const Json* const shares = scenario.find("shares"); shares != nullptr && shares->is_object()) {
    for (const auto& [use, estimate] : shares->members()) {
      if (use != "productive") row.metric("goodput." + use + "_share", estimate.find("mean"));
    }
  }
  for (const char* key : {"step_s", "checkpoint_interval_s", "checkpoint_stall_s", "wall_d", "job_gpus", "all_gpus",
                          "steps_per_day", "worth_gpus", "swaps", "drops"}) {
    row.metric(std::string("goodput.") + key, scenario.find(key));
  }
  for (const char* key : {"failures", "interruptions", "mttf_h"}) {
    if (const Json* const estimate = scenario.find(key)) row.metric(std::string("goodput.") + key, estimate->find("mean"));
  }
}

// Adds a stream with a queue: its numbers are shares and seconds.
void add_queue(const Json& stream, PageTables& tables) {
  const std::string policy = text_at(stream, "policy");
  const std::string order = text_at(stream, "order");
  PointRow row(tables.points, policy + ", " + order);
  row.parameter("policy", Json(policy));
  row.parameter("order", Json(order));
  for (const auto& [name, key] :
       std::vector<std::pair<const char*, const char*>>{{"utilisation", "utilisation"},
                                                        {"goodput_share", "goodput"},
                                                        {"mean_waiting_s", "mean_waiting_s"},
                                                        {"mean_completion_s", "mean_completion_s"},
                                                        {"median_completion_s", "median_completion_s"},
                                                        {"all_jobs_s", "makespan_s"},
                                                        {"blocked_for_resource_s", "blocked_for_resource_s"},
                                                        {"blocked_for_shape_s", "blocked_for_shape_s"},
                                                        {"stranded_share", "stranded"},
                                                        {"bandwidth_share", "mean_share"},
                                                        {"blast_radius", "blast_radius"}}) {
    row.metric(name, stream.find(key));
  }
}

// Adds a stream without a queue: what was refused, by shape.
void add_refusals(const Json& stream, PageTables& tables) {
  for (const Json& refusal : list_at(stream, "refusals")) {
    PointRow row(tables.points, text_at(stream, "policy") + ", " + text_at(refusal, "shape"));
    row.parameter("policy", Json(text_at(stream, "policy")));
    row.parameter("shape", Json(text_at(refusal, "shape")));
    const double asked = std::max(1.0, number_at(refusal, "asked"));
    const double resource = number_at(refusal, "refused_for_resource") / asked;
    const double shape = number_at(refusal, "refused_for_shape") / asked;
    row.metric("refused_share", resource + shape);
    row.metric("refused_for_resource_share", resource);
    row.metric("refused_for_shape_share", shape);
    row.metric("stranded_share", stream.find("stranded"));
  }
}

void add_availability(const Json& entry, PageTables& tables) {
  for (const auto& [wiring, key] : {std::pair{"with switches", "with_switches"}, std::pair{"fixed", "fixed"}}) {
    PointRow row(tables.points, wiring);
    row.parameter("wiring", Json(wiring));
    row.parameter("host_availability", Json(number_at(entry, "host_availability")));
    row.parameter("slice_cubes", Json(number_at(entry, "slice_cubes")));
    row.metric("goodput_share", entry.find(key));
    row.metric("fits_share", entry.find("fits"));
  }
}

void add_circuits(const Json& entry, PageTables& tables) {
  for (const auto& [plan, key] :
       {std::pair{"best", "cost_s"}, std::pair{"fixed ring", "fixed_ring_s"}, std::pair{"every step", "every_step_s"}}) {
    PointRow row(tables.points, text_at(entry, "collective") + ", " + plan);
    row.parameter("collective", Json(text_at(entry, "collective")));
    row.parameter("circuits", Json(plan));
    row.metric("makespan_s", entry.find(key));
  }
}

// What a policy answers to one request, in words.
void add_decision(const Json& entry, PageTables& tables) {
  const Json* const answer = entry.find("answer");
  const bool placed = answer != nullptr && text_at(*answer, "decision") == "admit";
  std::string words = placed ? "placed" : "refused";
  if (placed) {
    std::string shape;
    for (const Json& side : list_at(*answer, "shape")) shape += (shape.empty() ? "" : "x") + side.canonical();
    if (!shape.empty()) words += " as " + shape;
  } else if (answer != nullptr && answer->contains("reason")) {
    words += " for " + text_at(*answer, "reason");
  }
  PointRow row(tables.points, text_at(entry, "id"));
  row.parameter("policy", Json(text_at(entry, "policy")));
  row.parameter("decision", Json(words));
  if (const std::string difference = text_at(entry, "difference"); !difference.empty())
    row.parameter("not as expected", Json(difference));
}

// The first kind of question that the study asks; the table has one.
void add_allocation(const Json& root, PageTables& tables) {
  for (const Json& stream : list_at(root, "streams")) {
    if (stream.contains("order"))
      add_queue(stream, tables);
    else
      add_refusals(stream, tables);
  }
  std::vector<std::string> left;
  const auto unless_full = [&](const char* part, auto add) {
    if (list_at(root, part).empty()) return;
    if (tables.points.rows > 0) return left.push_back(part);
    for (const Json& entry : list_at(root, part)) add(entry, tables);
  };
  unless_full("decisions", add_decision);
  unless_full("availability", add_availability);
  unless_full("waste", [](const Json& entry, PageTables& into) {
    PointRow row(into.points, text_at(entry, "domain"));
    row.parameter("domain", Json(text_at(entry, "domain")));
    row.parameter("group", Json(number_at(entry, "group")));
    row.metric("wasted_share", entry.find("wasted"));
  });
  unless_full("circuits", add_circuits);
  for (const std::string& part : left) tables.notes.push_back("result.json also has " + part);
}

// SVG files of the folder whose names begin so.
void add_pictures(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& known,
                  PageTables& tables) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".svg") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::uintmax_t bytes = 0;
  std::vector<std::string> left;
  for (const fs::path& file : files) {
    const std::string stem = file.stem().string();
    const auto kind = std::find_if(known.begin(), known.end(), [&](const auto& k) { return stem.starts_with(k.first); });
    if (kind == known.end()) continue;
    bytes += fs::file_size(file);
    if (bytes > kMaxPictureBytes) {
      left.push_back(file.filename().string());
      continue;
    }
    tables.details.push_back({{"kind", "picture"},
                              {"id", stem},
                              {"name", kind->second + stem.substr(kind->first.size())},
                              {"svg", json::file_text(file)}});
  }
  std::string names;
  for (const std::string& name : left) names += (names.empty() ? "" : ", ") + name;
  if (!left.empty()) tables.notes.push_back("too large for this page, and beside it: " + names);
}

Json parsed(const fs::path& file) { return json::parse_json(json::file_text(file), file.string()); }

}  // namespace

bool read_study_result(const fs::path& folder, PageTables& tables) {
  if (fs::exists(folder / "goodput.json")) {
    const Json root = parsed(folder / "goodput.json");
    for (const Json& scenario : list_at(root, "scenarios")) add_goodput_row(scenario, tables);
    add_pictures(folder, {{"week", "The first week of the first seed"}}, tables);
    return tables.points.rows > 0;
  }
  if (!fs::exists(folder / "result.json")) return false;
  const Json root = parsed(folder / "result.json");
  if (text_at(root, "schema") != "photonrail.allocation_result/1") return false;
  tables.title = text_at(root, "name");
  add_allocation(root, tables);
  add_pictures(folder, {{"map-", "The pod over time: "}}, tables);
  return true;
}

}  // namespace photonrail::report
