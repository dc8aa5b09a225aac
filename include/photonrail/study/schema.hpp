// JSON Schema of the formats, for editors and other programs: what the readers of this version accept.
#pragma once

#include "photonrail/simulate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// The formats that json_schema() describes: "scenario", "sweep", "graph", "model", "catalogue", and "result", which is
/// written.
[[nodiscard]] const std::vector<std::string>& schema_formats();

/// JSON Schema (2020-12) of a format, as indented text. It is made by asking the reader of the format what it looks up, so
/// that it has the controllers and collectives of `known` with their keys. It says which keys there are, which must be
/// there, their kinds, ranges and words; relations between values (ranks that fit the cluster) are the reader's alone. That
/// of a result is open: later versions may write more keys. Throws ConfigError: no such format.
[[nodiscard]] std::string json_schema(std::string_view format, const Registries& known = {});

}  // namespace photonrail
