// What readers of files use of the room json, by its names in this room.
#pragma once

#include "json/json_reader.hpp"
#include "json/text.hpp"

namespace photonrail::config {

using json::describe;
using json::join_pointer;
using json::Json;
using json::JsonReader;
using json::parse_json;

}  // namespace photonrail::config
