// The result of a run of the command together with the plug-ins that it loaded.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace photonrail {
struct RunResult;
}

namespace photonrail::sweep {

/// The text of result.json, with its seal: to_json(result) with the key "plugins": the name and the hash of the content of
/// each library, so that another folder is no other result. Without plug-ins there is no such key. Throws ConfigError: a
/// library cannot be read.
[[nodiscard]] std::string result_with_plugins(const RunResult& result, std::span<const std::filesystem::path> plugins);

}  // namespace photonrail::sweep
