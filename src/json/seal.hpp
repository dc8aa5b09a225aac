// A seal is a checksum that a stored JSON object carries as its last key, so that a bit that flips on a disk is noticed
// when the object is read back. It also has a number that counts the objects of a file, so that a lost line is noticed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace photonrail::json {

/// The text of an object, on one line or as Json::dump(2) and a line break give it, with the seal as its last key.
/// `key` goes into the checksum: a seal is whole only for a reader that has the same. REQUIRES: the object is not empty.
[[nodiscard]] std::string with_seal(std::string_view object, std::uint32_t number = 0, std::string_view key = {});

struct SealCheck {
  enum class State : std::uint8_t {
    kUnsealed,  ///< there is none: an earlier version wrote it, or another program
    kWhole,     ///< the text is as it was written
    kAltered,
  };
  State state = State::kUnsealed;
  std::uint32_t number = 0;  ///< of kWhole
  std::string object{};      ///< of kWhole: the text without the seal; else the text
};
[[nodiscard]] SealCheck check_seal(std::string_view text, std::string_view key = {});

/// The text of `file` without its seal. Throws ConfigError where the seal does not fit; a text without one passes.
[[nodiscard]] std::string without_seal(std::string text, const std::filesystem::path& file);

}  // namespace photonrail::json
