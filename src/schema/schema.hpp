// JSON Schema of the formats, for editors and other programs: what the readers of this version accept.
#pragma once

#include "photonrail/simulate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// The formats that json_schema() describes: those that are read, and "result", which is written.
[[nodiscard]] const std::vector<std::string>& schema_formats();

/// JSON Schema (2020-12) of a format, as indented text. It is made from the tables of fields that the reader of the format
/// goes by, and has the controllers and collectives of `known` with their keys. It says which keys there are, which must be
/// there, their kinds, ranges, words and meaning; relations between values (ranks that fit the cluster) are the reader's
/// alone. That of a result is open: later versions may write more keys. Throws ConfigError: no such format.
[[nodiscard]] std::string json_schema(std::string_view format, const Registries& known = {});

/// The pointers that `--set` takes in any scenario: "/cluster/servers". Those of elements of lists are left out.
[[nodiscard]] std::vector<std::string> keys_of_scenario(const Registries& known = {});

/// Python source of a typed object for each section of a scenario: the module photonrail.types is made of it.
[[nodiscard]] std::string python_types(const Registries& known = {});

/// A page of reference with its tables of keys made anew: each stands between a line "<!-- keys FORMAT POINTER -->" and a
/// line "<!-- /keys -->"; keys that have a table of their own are in no other, nor those of "<!-- keys apart POINTER -->".
/// Throws ConfigError: there is no such format or place.
[[nodiscard]] std::string page_with_keys(std::string_view page, const Registries& known = {});

}  // namespace photonrail
