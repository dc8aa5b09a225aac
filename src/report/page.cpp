// Puts a page together: the document that it carries, and the bundled page around it.
#include "report/page.hpp"
#include "core/counted.hpp"
#include "json/file_text.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/version.hpp"
#include "report/page_files.hpp"
#include "report/page_sources.hpp"
#include "report/study_results.hpp"
#include "report/text.hpp"

#include <algorithm>

namespace photonrail::report {

namespace {

using json::Json;
namespace fs = std::filesystem;

constexpr std::size_t kMaxTraces = 16;

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The folder itself, those in it and those in them, where there is a result.json.
std::vector<fs::path> run_folders(const fs::path& folder, int depth = 2) {
  std::vector<fs::path> found;
  if (fs::exists(folder / "result.json")) found.push_back(folder);
  if (depth == 0) return found;
  for (const fs::path& inner : folders_in(folder)) {
    const auto more = run_folders(inner, depth - 1);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

std::string name_of(const fs::path& folder) {
  const auto absolute = fs::absolute(folder).lexically_normal();
  return (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
}

// What is said of one run alone needs no name before it.
void drop_name(const std::string& name, report::PageTables& tables) {
  const auto drop = [&](std::string& text) {
    if (text.starts_with(name + ": ")) text.erase(0, name.size() + 2);
  };
  for (Json& fact : tables.about.elements()) {
    std::string topic = fact.find("topic")->string();
    drop(topic);
    fact["topic"] = topic;
  }
  for (report::Told& told : tables.explanations) told.by.clear();
  std::for_each(tables.notes.begin(), tables.notes.end(), drop);
}

// The results of the runs as rows of `tables`, and their traces.
Json read_runs(const std::vector<fs::path>& folders, report::PageTables& tables) {
  Json traces = Json::array();
  std::size_t more = 0;
  for (const fs::path& folder : folders) {
    const std::string name = report::read_run_result(folder / "result.json", tables);
    if (folders.size() == 1) drop_name(name, tables);
    if (!fs::exists(folder / "trace.json")) continue;
    if (traces.size() < kMaxTraces)
      traces.push_back(report::read_trace(folder / "trace.json", name));
    else
      ++more;
  }
  if (more > 0)
    tables.notes.push_back("timelines of the first " + std::to_string(kMaxTraces) + " runs only; " + std::to_string(more) +
                           " more have a trace");
  return traces;
}

// Throws when no column of this role has the name.
const report::Column& chosen(const report::Table& points, const char* option, const std::string& role,
                             const std::string& name) {
  std::vector<std::string> known;
  for (const report::Column* column : points.columns()) {
    if (column->role() != role) continue;
    if (column->name() == name) return *column;
    known.push_back(column->name());
  }
  throw ConfigError(option, "there is no " + role + " \"" + name + "\"", suggest(name, known));
}

void add_sizes(const PageChoices& choices, Json& json) {
  if (!choices.log.empty()) {
    if (choices.log != "x" && choices.log != "y" && choices.log != "xy" && choices.log != "none")
      throw ConfigError("--log", "\"" + choices.log + "\" is no choice of axes", "x, y, xy or none");
    json["log"] = choices.log == "none" ? "" : choices.log;
  }
  if (!choices.title.empty()) json["title"] = choices.title;
  if (!choices.figure.empty()) json["figure"] = choices.figure;
  if (choices.width > 0) json["width"] = choices.width;
  if (choices.height > 0) json["height"] = choices.height;
  if (choices.font > 0) json["font"] = choices.font;
}

// A condition that points must fulfil, with its value as the column has it.
void add_condition(const report::Table& points, const std::string& name, const std::string& value, Json& json) {
  const report::Column& column = chosen(points, "--where", "parameter", name);
  const auto found = column.value(value);
  if (!found) throw ConfigError("--where", "\"" + name + "\" has no value \"" + value + "\"", column.some_values());
  Json& where = json["where"];
  if (where.is_null()) where = Json::object();
  if (where.contains(name)) throw ConfigError("--where", "names \"" + name + "\" twice", "one value of each parameter");
  where[name] = *found;
}

// The values of a parameter that `text` lists with commas, of which values may have some themselves; nothing where it is no
// such list.
std::optional<Json> listed_values(const report::Column& column, const std::string& text) {
  for (std::size_t end = text.find(','); !text.empty(); end = text.find(',', end + 1)) {
    const auto first = column.value(text.substr(0, end));
    if (end == std::string::npos) return first ? std::optional(Json(std::vector<Json>{*first})) : std::nullopt;
    if (!first) continue;
    const std::size_t next = text.find_first_not_of(' ', end + 1);
    if (next == std::string::npos) return std::nullopt;
    if (auto rest = listed_values(column, text.substr(next))) {
      Json all = Json::array();
      all.push_back(*first);
      for (const Json& one : rest->elements()) all.push_back(one);
      return all;
    }
  }
  return std::nullopt;
}

// A parameter by its name, or by the values of it that are to be shown.
void add_series(const std::string& series, const report::Table& points, Json& json) {
  for (const report::Column* column : points.columns()) {
    if (column->role() != "parameter") continue;
    if (column->name() == series) {
      json["series"] = series;
      return;
    }
    if (auto values = listed_values(*column, series)) {
      json["series"] = column->name();
      json["lines"] = std::move(*values);
      return;
    }
  }
  static_cast<void>(chosen(points, "--series", "parameter", series));  // throws
}

Json checked(const PageChoices& choices, const report::Table& points) {
  Json json = Json::object();
  if (!choices.metric.empty()) json["metric"] = chosen(points, "--metric", "metric", choices.metric).name();
  if (!choices.against.empty()) json["x"] = chosen(points, "--against", "parameter", choices.against).name();
  if (!choices.series.empty()) add_series(choices.series, points, json);
  add_sizes(choices, json);
  for (const auto& [name, value] : choices.where) add_condition(points, name, value, json);
  if (choices.baseline.empty()) return json;
  if (choices.baseline == "none" || choices.baseline == "fastest") {
    json["baseline"] = choices.baseline;
    return json;
  }
  const std::string of = choices.series.empty() ? choices.against : json.find("series")->string();
  const auto has = [&](const report::Column* column) {
    return column->role() == "parameter" && (of.empty() || column->name() == of) && column->has(choices.baseline);
  };
  if (std::none_of(points.columns().begin(), points.columns().end(), has)) {
    throw ConfigError(
        "--baseline",
        (of.empty() ? "no parameter has the" : "\"" + of + "\" has no") + " value \"" + choices.baseline + "\"",
        "it must be a value of --series, or of --against without it");
  }
  json["baseline"] = choices.baseline;
  return json;
}

std::string subtitle_of(const report::PageTables& tables, const char* row, std::size_t traces) {
  std::string text = (tables.why.empty() ? "" : tables.why + " · ") + core::counted(tables.points.rows, row);
  if (traces > 0) text += ", " + core::counted(traces, "timeline");
  return text + " · photonrail " + std::string(version());
}

// The template with each of its marks replaced; the texts themselves are not searched for marks.
std::string filled(std::string_view page, const std::vector<std::pair<std::string_view, std::string_view>>& texts) {
  std::string html;
  while (!page.empty()) {
    const std::size_t mark = page.find("<!--");
    html += page.substr(0, mark);
    if (mark == std::string_view::npos) break;
    const std::size_t end = page.find("-->", mark) + 3;
    const std::string_view name = page.substr(mark + 4, end - mark - 7);
    const auto text = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t.first == name; });
    PHOTONRAIL_CHECK(text != texts.end());
    html += text->second;
    page.remove_prefix(end);
  }
  return html;
}

report::PageFiles files() {
  if (const std::string why = why_no_page(); !why.empty()) throw ConfigError("photonrail report", why);
  return report::page_files();
}

}  // namespace

namespace {

// Sweeps of earlier versions have none.
void read_notes_of_sweep(const fs::path& file, report::PageTables& tables) {
  if (!fs::exists(file)) return;
  if (const auto notes = json::parse_if_json(json::file_text(file))) report::add_explanations(*notes, "", tables);
}

PageData page_data_of(const fs::path& folder, const PageChoices& choices) {
  if (!fs::is_directory(folder))
    throw ConfigError(folder.string(), "is not a folder", "name what --out of run or sweep wrote");
  report::PageTables tables;
  tables.include_infeasible = choices.include_infeasible;
  const bool sweep = fs::exists(folder / "results.db");
  const bool study = !sweep && read_study_result(folder, tables);
  const auto runs = study ? std::vector<fs::path>{} : run_folders(folder);
  if (sweep) report::read_results_database(folder / "results.db", tables);
  if (sweep) read_notes_of_sweep(folder / "notes.json", tables);
  if (!sweep && !study && runs.empty()) {
    const bool has_shards = fs::is_directory(folder / "shards");
    throw ConfigError(folder.string(), "has no results.db and no result.json, nor have the folders in it",
                      has_shards ? "photonrail sweep merge " + folder.string() + " makes the table of its shards"
                                 : std::string("name what --out of run or sweep wrote"));
  }
  report::PageTables beside;  // a sweep has its points in its database
  Json traces = read_runs(runs, sweep ? beside : tables);
  PageData data;
  data.title = !choices.title.empty() ? choices.title : tables.title.empty() ? name_of(folder) : tables.title;
  data.subtitle = subtitle_of(tables, sweep ? "point" : study ? "row" : "run", traces.size());
  data.points = tables.points.rows;
  data.failed = tables.failed;
  data.notes = tables.notes;
  Json document = {{"notes", tables.notes},           {"explanations", report::told_once(tables.explanations, runs.size())},
                   {"about", tables.about},           {"choices", checked(choices, tables.points)},
                   {"table", tables.points.packed()}, {"windows", tables.windows.packed()},
                   {"traces", std::move(traces)},     {"details", sweep ? beside.details : tables.details}};
  if (fs::exists(folder / "plan.json"))
    document["plan"] = json::parse_json(json::file_text(folder / "plan.json"), (folder / "plan.json").string());
  data.document = document.canonical();
  return data;
}

}  // namespace

PageData read_page_data(const std::filesystem::path& folder, const PageChoices& choices) {
  try {
    return page_data_of(folder, choices);
  } catch (const fs::filesystem_error& error) {
    throw ConfigError(error.path1().string(), "cannot be read: " + error.code().message(), "check the permissions");
  }
}

std::string why_no_page() { return std::string(report::page_files().missing); }

std::string to_html(const PageData& data) {
  const auto [page, script, missing] = files();
  // Markup could end the script that carries the document; in JSON a "<" is in a string, where it can be written otherwise.
  std::string document;
  document.reserve(data.document.size());
  for (const char c : data.document) c == '<' ? document += "\\u003c" : document += c;
  const std::string title = escaped(data.title);
  const std::string subtitle = escaped(data.subtitle);
  return filled(page, {{"title", title}, {"subtitle", subtitle}, {"document", document}, {"script", script}});
}

std::filesystem::path write_page(const std::filesystem::path& folder, const std::string& name, const PageChoices& choices) {
  if (!why_no_page().empty()) return {};
  write_file(folder / name, to_html(read_page_data(folder, choices)));
  return folder / name;
}

std::string to_figures_program(const PageData& data, const std::string& format) {
  if (format != "svg" && format != "csv") throw ConfigError("format", "\"" + format + "\" is none", "svg or csv");
  return std::string(files().script) + "\nphotonrail.files(" + data.document + ", '" + format + "').then((files) => {\n" +
         "  const { writeFileSync } = require('node:fs');\n  const { join } = require('node:path');\n" +
         "  for (const { name, text } of files) writeFileSync(join(process.argv[2], name), text);\n" +
         "}).catch((error) => {\n  require('node:fs').writeFileSync(require('node:path').join(process.argv[2], 'error'), "
         "error.message);\n});\n";
}

}  // namespace photonrail::report
