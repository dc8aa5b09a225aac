// JSON Schema (2020-12) of a format, made from the tables of its fields.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"

#include <string>

namespace photonrail::fields {

/// The schema of a file with that shape. `known`: for words that depend on the caller's registries.
[[nodiscard]] json::Json schema(const Shape& file, const std::string& title, const Registries& known);

/// "duration, in milliseconds" and the like: what the end of a key says of the unit of its value; "" where it says nothing.
[[nodiscard]] std::string_view unit_of_key(std::string_view key);

}  // namespace photonrail::fields
