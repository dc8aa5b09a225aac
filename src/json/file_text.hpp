// Whole files into memory, within a limit, whatever kind of file it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace photonrail::json {

/// Bytes of a file that is read as a whole: positions in a trace are 32 bits.
inline constexpr std::uint64_t kMaxFileBytes = (std::uint64_t{1} << 32) - 1;

/// Bytes of a pipe or device that is read as a whole. It has no size that could be checked first, and some never end.
inline constexpr std::uint64_t kMaxPipeBytes = std::uint64_t{256} << 20;

/// How long a named pipe may be without a writer. Once there is one, the reader waits for what it writes.
inline constexpr std::chrono::milliseconds kMaxWaitForWriter{10'000};

/// The name of standard input where a command is told to read that: what is given at `file_text()` and in messages.
inline constexpr const char* kStandardInput = "<stdin>";

struct ReadLimits {
  std::uint64_t file = kMaxFileBytes;  ///< bytes of a regular file
  std::uint64_t pipe = kMaxPipeBytes;  ///< bytes of any other
  std::chrono::milliseconds writer = kMaxWaitForWriter;
};

/// The content of `file`; of standard input, to its end, where it is called kStandardInput. Throws ConfigError at its name:
/// it is a folder, is not there, cannot be read, or has more than `limits` allow; the size of a regular file is checked
/// before memory is taken.
[[nodiscard]] std::string file_text(const std::filesystem::path& file, const ReadLimits& limits = {});

/// Throws ConfigError at its name unless `file` is a regular one: for readers that go through it piece by piece, or twice.
void require_regular(const std::filesystem::path& file);

}  // namespace photonrail::json
