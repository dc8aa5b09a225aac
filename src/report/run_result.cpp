// A result.json as a row of the table of points.
#include "photonrail/error.hpp"
#include "report/page_sources.hpp"

#include <fstream>

namespace photonrail::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "photonrail.result/1";

Json read_result(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  Json result = Json::parse(in, nullptr, false);
  if (!result.is_object() || result.value("schema", Json()) != kSchema) {
    throw ConfigError(file.string(), std::string("is no ") + kSchema, "it must be what `photonrail run --out` wrote");
  }
  return result;
}

// Every number that is in no array, by its path with dots, as in the database of a sweep.
void add_metrics(const Json& node, const std::string& path, std::size_t row, Table& table) {
  for (const auto& [key, value] : node.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (value.is_object()) add_metrics(value, name, row, table);
    if (value.is_number() && name != "seed") table.column(name, "metric").set(row, value.get<double>());
  }
}

void add_windows(const Json& result, std::size_t row, Table& table) {
  const auto add = [&](const std::string& change, double length, std::size_t count) {
    table.column("row", "info").set(table.rows, static_cast<double>(row));
    table.column("change", "info").set(table.rows, change);
    table.column("length_s", "info").set(table.rows, length);
    table.column("count", "info").set(table.rows, static_cast<double>(count));
    ++table.rows;
  };
  for (const auto& [change, lengths] : result.at("windows_s").items()) {
    for (std::size_t i = 0, next = 0; i < lengths.size(); i = next) {
      for (next = i; next < lengths.size() && lengths[next] == lengths[i];) ++next;
      add(change, lengths[i].get<double>(), next - i);
    }
  }
}

}  // namespace

std::string read_run_result(const std::filesystem::path& file, PageTables& tables) {
  const Json result = read_result(file);
  try {
    std::string name = result.at("name");
    if (!tables.runs.insert(name).second) name += " (" + file.parent_path().filename().string() + ")";
    const std::size_t row = tables.points.rows++;
    tables.points.column("name", "info").set(row, name);
    tables.points.column("scenario", "parameter").set(row, name);
    tables.points.column("seed", "replicate").set(row, result.at("seed").get<double>());
    add_metrics(result, "", row, tables.points);
    add_windows(result, row, tables.windows);
    for (const Json& warning : result.at("warnings")) tables.notes.push_back(name + ": " + warning.get<std::string>());
    return name;
  } catch (const Json::exception& error) {
    throw ConfigError(file.string(), error.what(), "it must be what `photonrail run --out` wrote");
  }
}

}  // namespace photonrail::report
