// Typed objects of Python for the sections of a file, made from the tables of its fields.
#pragma once

#include "fields/field.hpp"

#include <string>
#include <string_view>

namespace photonrail::fields {

/// Python source: a dataclass for each section, each with a member for each key, in the unit that hints name. `name` is the
/// class of the file itself; the others are named by their keys. A key that is a word of Python ends with an underscore.
[[nodiscard]] std::string python_classes(const Section& file, std::string_view name, const Registries& known);

}  // namespace photonrail::fields
