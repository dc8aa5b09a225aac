// Which format a file is of, and what to do with one that is for something else.
#pragma once

#include "json/json_reader.hpp"

#include <string_view>

namespace photonrail::json {

/// Throws unless the key "schema" of a file has that value; of another format of photonrail's, the hint names what reads
/// it.
void require_schema(JsonReader& top, std::string_view wanted);

}  // namespace photonrail::json
