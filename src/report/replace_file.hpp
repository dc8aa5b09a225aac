// A file that is the old one or complete, never half of it.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace photonrail::report {

/// Gives `write` a stream and puts what it wrote in the place of `file`. A device or pipe is written directly.
/// Throws ConfigError; `file` is then untouched.
void replace_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);

}  // namespace photonrail::report
