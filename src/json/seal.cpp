#include "json/seal.hpp"

#include "core/fnv1a.hpp"
#include "photonrail/error.hpp"

#include <charconv>
#include <cstdio>
#include <utility>

namespace photonrail::json {

namespace {

// The end of a sealed object; each '#' is a hexadecimal digit: 8 of the number, 16 of the checksum.
constexpr std::string_view kLineEnd = ",\"seal\":\"########-################\"}";
constexpr std::string_view kFileEnd = ",\n  \"seal\": \"########-################\"\n}\n";
constexpr std::size_t kNumberDigits = 8;
constexpr std::size_t kDigits = kNumberDigits + 1 + 16;  // with the hyphen between them

// A text without a seal differs from the end of a sealed one in most places, a damaged seal in few.
constexpr std::size_t kMaxDamagedPlaces = 3;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// How many characters at the end of `text` differ from `end`; digits that are none count as well.
std::size_t differences(std::string_view text, std::string_view end) {
  if (text.size() < end.size()) return end.size();
  text.remove_prefix(text.size() - end.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < end.size(); ++i) count += (end[i] == '#' ? is_hex(text[i]) : text[i] == end[i]) ? 0 : 1;
  return count;
}

std::string number_digits(std::uint32_t number) {
  char text[kNumberDigits + 1];
  std::snprintf(text, sizeof text, "%08x", number);
  return text;
}

std::string digits_of(std::string_view body, std::string_view number, std::string_view key) {
  const std::uint64_t hash = core::fnv1a(body, core::fnv1a(number, core::fnv1a(key)));
  return std::string(number) + "-" + core::hex(hash);
}

}  // namespace

std::string with_seal(std::string_view object, std::uint32_t number, std::string_view key) {
  const bool whole_file = object.ends_with("\n}\n");
  const std::string_view end = whole_file ? kFileEnd : kLineEnd;
  object.remove_suffix(whole_file ? 3 : 1);
  const std::size_t first = end.find('#');
  std::string text(object);
  text += end.substr(0, first);
  text += digits_of(object, number_digits(number), key);
  text += end.substr(first + kDigits);
  return text;
}

SealCheck check_seal(std::string_view text, std::string_view key) {
  for (const std::string_view end : {kLineEnd, kFileEnd}) {
    const std::size_t differs = differences(text, end);
    if (differs > kMaxDamagedPlaces) continue;
    const std::string_view body = text.substr(0, text.size() - end.size());
    const std::string_view digits = text.substr(body.size() + end.find('#'), kDigits);
    const std::string_view number = digits.substr(0, kNumberDigits);
    if (differs > 0 || digits != digits_of(body, number, key)) return {SealCheck::State::kAltered, 0, std::string(text)};
    SealCheck check{SealCheck::State::kWhole, 0, std::string(body) + (end == kFileEnd ? "\n}\n" : "}")};
    std::from_chars(number.data(), number.data() + number.size(), check.number, 16);
    return check;
  }
  return {SealCheck::State::kUnsealed, 0, std::string(text)};
}

std::string without_seal(std::string text, const std::filesystem::path& file) {
  SealCheck check = check_seal(text);
  if (check.state == SealCheck::State::kUnsealed) return text;
  if (check.state == SealCheck::State::kWhole) return std::move(check.object);
  throw ConfigError(file.string(), "was altered after it was written: its content does not fit its key \"seal\"",
                    "make it again; without the key it is read as it is");
}

}  // namespace photonrail::json
