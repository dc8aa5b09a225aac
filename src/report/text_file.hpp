// The text of a file that a run or a sweep wrote.
#pragma once

#include <filesystem>
#include <string>

namespace photonrail::report {

/// Throws ConfigError that names the file.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& file);

}  // namespace photonrail::report
