// A result.json as a row of the table of points.
#include "json/file_text.hpp"
#include "json/in_file.hpp"
#include "json/json_reader.hpp"
#include "json/seal.hpp"
#include "json/text.hpp"
#include "report/facts.hpp"
#include "report/page_details.hpp"
#include "report/page_sources.hpp"
#include "report/result_json.hpp"
#include "report/text.hpp"

#include <limits>

namespace photonrail::report {

namespace {

using json::Json;
using json::JsonReader;

constexpr std::string_view kResultSchema = "photonrail.result/1";
constexpr double kAny = std::numeric_limits<double>::max();
constexpr std::size_t kMaxDetails = 16;
constexpr const char* kHint = "it must be what `photonrail run --out` wrote";

// Every number that is in no array, by its path with dots, as in the database of a sweep.
void add_metrics(const Json& node, const std::string& path, std::size_t row, Table& table) {
  for (const auto& [key, value] : node.members()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (value.is_object()) add_metrics(value, name, row, table);
    if (value.is_number() && name != "seed") table.column(name, "metric").set(row, value.number());
  }
}

void add_jobs(const Json& root, std::size_t row, Table& table) {
  const Json* const jobs = root.find("jobs");
  if (jobs == nullptr || !jobs->is_array()) return;
  for (const Json& job : jobs->elements()) {
    for (const auto& [name, value] : numbers_of_job(job)) table.column(name, "metric").set(row, value);
  }
}

// Adds the algorithms that "auto" took, in one text as in the table of a sweep.
void add_choices(const Json& root, std::size_t row, Table& table) {
  const Json* const choices = root.find("choices");
  if (choices == nullptr || !choices->is_array()) return;
  std::string text;
  for (const Json& line : choices->elements()) {
    if (line.is_string()) text += (text.empty() ? "" : "\n") + line.string();
  }
  if (!text.empty()) table.column("choices", "info").set(row, text);
}

void add_windows(const JsonReader& by_change, std::size_t row, Table& table) {
  const auto add = [&](const std::string& change, double length, std::size_t count) {
    table.column("row", "info").set(table.rows, static_cast<double>(row));
    table.column("change", "info").set(table.rows, change);
    table.column("length_s", "info").set(table.rows, length);
    table.column("count", "info").set(table.rows, static_cast<double>(count));
    ++table.rows;
  };
  static_cast<void>(by_change.members());  // an object, or an error
  for (const auto& [change, list] : by_change.json().members()) {
    const std::vector<JsonReader> lengths = JsonReader(list, json::join_pointer(by_change.pointer(), change)).elements();
    for (std::size_t i = 0, next = 0; i < lengths.size(); i = next) {
      const double length = lengths[i].number(-kAny, kAny);
      for (next = i + 1; next < lengths.size() && lengths[next].json() == lengths[i].json();) ++next;
      add(change, length, next - i);
    }
  }
}

// Returns a line on what blocking of a switch cost the run; empty without one that blocks.
std::string blocking_of(const Json& root) {
  const Json* const reconfigurations = root.find("reconfigurations");
  const Json* const blocking = reconfigurations == nullptr ? nullptr : reconfigurations->find("blocking");
  if (blocking == nullptr) return {};
  const JsonReader of(*blocking, "/reconfigurations/blocking");
  const auto text = [&](const char* key) { return number("%.4g", JsonReader(of).child(key, kHint).number(0.0, kAny)); };
  return text("waited") + " circuits waited for room, " + text("displaced") +
         " were displaced; the longest way of light passed " + text("cells") + " cells and lost " + text("loss_db") + " dB";
}

// The name of the run, and of its folder too where another run has the same.
std::string add_result(const Json& root, const std::filesystem::path& file, PageTables& tables) {
  JsonReader result(root);
  const JsonReader schema = result.child("schema", kHint);
  if (schema.string() != kResultSchema) schema.fail("is not " + std::string(kResultSchema), kHint);
  std::string name = result.child("name", kHint).string();
  const double seed = result.child("seed", kHint).number(0.0, kAny);
  const JsonReader windows = result.child("windows_s", kHint);
  const std::vector<JsonReader> warnings = result.child("warnings", kHint).elements();
  if (!tables.runs.insert(name).second) name += " (" + file.parent_path().filename().string() + ")";
  const std::size_t row = tables.points.rows++;
  tables.points.column("name", "info").set(row, name);
  tables.points.column("scenario", "parameter").set(row, name);
  tables.points.column("seed", "replicate").set(row, seed);
  add_metrics(root, "", row, tables.points);
  add_jobs(root, row, tables.points);
  if (const Json* const quantiles = root.find("quantiles_s")) {
    for (const auto& [path, value] : numbers_of_quantiles(*quantiles)) tables.points.column(path, "metric").set(row, value);
  }
  add_choices(root, row, tables.points);
  if (tables.details.size() < kMaxDetails) add_details(root, name, file.parent_path(), tables.details);
  add_windows(windows, row, tables.windows);
  if (const Json* const simulated = root.find("simulated")) {
    const Json facts = facts_of(*simulated, {});  // must outlive the loop
    for (const Json& fact : facts.elements()) {
      tables.about.push_back(
          {{"topic", name + ": " + fact.find("topic")->string()}, {"text", fact.find("text")->string()}});
    }
  }
  if (const std::string told = blocking_of(root); !told.empty())
    tables.about.push_back({{"topic", name + ": mesh"}, {"text", told}});
  if (const Json* const notes = root.find("notes")) add_explanations(*notes, name, tables);
  for (const JsonReader& warning : warnings) tables.notes.push_back(name + ": " + warning.string());
  return name;
}

}  // namespace

void add_explanations(const Json& notes, const std::string& about, PageTables& tables) {
  if (!notes.is_array()) return;
  for (const Json& note : notes.elements()) {
    const Json* const text = note.find("text");
    const Json* const key = note.find("key");
    if (text == nullptr || !text->is_string()) continue;
    const bool has_key = key != nullptr && key->is_string();
    tables.explanations.push_back({about, sentence_of(text->string(), has_key ? key->string() : std::string{})});
  }
}

std::string read_run_result(const std::filesystem::path& file, PageTables& tables) {
  return json::in_file(json::without_seal(json::file_text(file), file), file.string(),
                       [&](const Json& root) { return add_result(root, file, tables); });
}

}  // namespace photonrail::report
