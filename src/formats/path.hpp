// Paths that a file names.
#pragma once

#include "formats/input_file.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"

#include <filesystem>

namespace photonrail::formats {

/// A path with ${NAME} and ${NAME:-default} from the environment; relative to `directory`.
[[nodiscard]] std::filesystem::path read_path(const json::JsonReader& value, const std::filesystem::path& directory);

/// read(value), or read(the JSON file that it names).
template <class Read>
[[nodiscard]] auto inline_or_file(const json::JsonReader& value, const std::filesystem::path& directory, Read read) {
  if (!value.is_string()) return read(value);
  const std::filesystem::path file = read_path(value, directory);
  json::Json root;
  try {
    root = json::parse_json(read_file(file), file.string());
  } catch (const ConfigError& e) {
    throw e.inside(value.pointer());
  }
  try {
    return read(json::JsonReader(root));
  } catch (const ConfigError& e) {
    throw e.inside(file.string()).inside(value.pointer());
  }
}

}  // namespace photonrail::formats
