// Whole files into memory, unpacked on the way when they are gzip.
#pragma once

#include "json/file_text.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace photonrail::formats {

/// A packed file of a few bytes can claim to be huge: more than this is refused.
using json::kMaxFileBytes;

/// gzip has a magic number and no required suffix.
[[nodiscard]] bool is_gzip(std::string_view data);

/// The content of all gzip members one after another. Throws ConfigError("byte N", ...) when the data is damaged, ends too
/// early, is followed by something else, or unpacks to more than `most` bytes.
[[nodiscard]] std::string gunzip(std::string_view data, std::size_t most = kMaxFileBytes);

/// The content of `file`, unpacked when it is gzip. Throws ConfigError that begins with the file.
[[nodiscard]] std::string read_file(const std::filesystem::path& file);

}  // namespace photonrail::formats
