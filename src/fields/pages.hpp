// Tables of keys for pages of reference, made from the tables of fields.
#pragma once

#include "fields/field.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::fields {

/// A Markdown table of the keys of what is at `pointer` of a file with that table ("/cluster/rail"; elements of lists are
/// "[]"), those of objects in it included. `apart`: pointers whose keys have a table of their own. Throws ConfigError: the
/// file has nothing with keys there.
[[nodiscard]] std::string table_of_keys(const Section& file, std::string_view pointer, std::span<const std::string> apart,
                                        const Registries& known);

/// What the key means, its values and its default, in sentences.
[[nodiscard]] std::string description_of(const Field& field, const Registries& known);

/// The pointers of keys that every file of the format may have, those of lists and of keys that are data left out.
[[nodiscard]] std::vector<std::string> pointers_of_keys(const Section& file, const Registries& known);

}  // namespace photonrail::fields
