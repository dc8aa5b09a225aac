// A model as Hugging Face's transformers keeps it: config.json.
#pragma once

#include "config/json_reader.hpp"
#include "photonrail/workload/model.hpp"

#include <filesystem>

namespace photonrail::config {

/// Whether a file that is no photonrail.model/1 looks like one of these.
[[nodiscard]] bool is_huggingface(const Json& root);
/// Throws ConfigError where the file cannot be read, or is no JSON.
[[nodiscard]] bool is_huggingface(const std::filesystem::path& file);

/// The dimensions that the file gives. Keys that say nothing about them are passed over: such a file has many. Throws
/// ConfigError: an architecture that is not known, by name, with those that are; a dimension that is missing or no number.
[[nodiscard]] ModelSpec read_huggingface(const JsonReader& top);

}  // namespace photonrail::config
