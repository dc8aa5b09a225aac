// This is what single runs show beside their row in the table: served requests, and steps of reinforcement learning.
#pragma once

#include "json/json.hpp"

#include <filesystem>
#include <string>

namespace photonrail::report {

/// Appends to `details`, a list, what the result `root` of the run `name` says of served requests ("kind": "serving") and
/// of reinforcement learning ("rl"), its own or of its jobs. The curves of served requests are those of requests.csv in
/// `folder`, where it is there. Throws ConfigError on a damaged requests.csv.
void add_details(const json::Json& root, const std::string& name, const std::filesystem::path& folder, json::Json& details);

}  // namespace photonrail::report
