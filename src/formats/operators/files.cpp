#include "formats/operators/files.hpp"

#include "formats/input_file.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <system_error>

namespace photonrail::formats::operators {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDevice = "/device";

// Returns "h100" of "h100/device".
std::string gpu_of(std::string_view name) { return std::string(name.substr(0, name.find('/'))); }

std::optional<fs::path> file_in(const fs::path& folder, const std::string& name) {
  if (folder.empty()) return std::nullopt;
  for (const char* ending : {".csv", ".csv.gz"}) {
    fs::path file = folder / (name + ending);
    if (std::error_code error; fs::exists(file, error)) return file;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TableText> find_table(const std::string& name, const fs::path& folder) {
  if (const auto file = file_in(folder, name)) return TableText{read_file(*file), file->string(), false};
  const auto tables = embedded_tables();
  const auto at = std::find_if(tables.begin(), tables.end(), [&](const EmbeddedTable& t) { return t.name == name; });
  if (at == tables.end()) return std::nullopt;
  const std::string_view data = at->data();
  return TableText{is_gzip(data) ? gunzip(data) : std::string(data), "built in: " + name, true};
}

std::vector<std::string> gpus_with_tables(const fs::path& folder) {
  std::vector<std::string> gpus;
  for (const EmbeddedTable& table : embedded_tables()) {
    if (table.name.ends_with(kDevice)) gpus.push_back(gpu_of(table.name));
  }
  if (!folder.empty()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string gpu = entry.path().filename().string();
      if (file_in(folder, gpu + std::string(kDevice))) gpus.push_back(gpu);
    }
    if (error) throw ConfigError(folder.string(), "this folder of tables cannot be read: " + error.message());
  }
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  return gpus;
}

std::optional<Csv> read_table(const std::string& gpu, Kind kind, OperatorPrecision precision, const fs::path& folder) {
  const std::string file = std::string(to_string(kind)) + "_" + std::string(photonrail::to_string(precision));
  const auto found = find_table(gpu + "/" + file, folder);
  if (!found) return std::nullopt;
  Csv csv = parse_table(found->text, found->file);
  if (found->built_in) return csv;
  check_grid(csv, found->file);
  if (csv.header.gpu != gpu || csv.kind != kind || csv.header.precision != photonrail::to_string(precision)) {
    throw ConfigError(
        found->file,
        "the file says that it has " + csv.header.kind + " of " + csv.header.gpu + " in " + csv.header.precision,
        "its name says " + file + " of " + gpu);
  }
  return csv;
}

}  // namespace photonrail::formats::operators
