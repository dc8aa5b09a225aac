#include "formats/kineto/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace photonrail::formats::kineto {

namespace {

constexpr double kMaxMicroseconds = 4e15;
constexpr std::string_view kSeparators = "[], \t";

}  // namespace

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> to_nanoseconds(std::string_view microseconds) {
  const double rough = std::strtod(std::string(microseconds).c_str(), nullptr);
  if (!(std::abs(rough) <= kMaxMicroseconds)) return std::nullopt;
  if (microseconds.find_first_of("eE") != std::string_view::npos) return std::llround(rough * 1e3);
  const bool negative = microseconds.starts_with('-');
  if (negative) microseconds.remove_prefix(1);
  const auto point = std::min(microseconds.find('.'), microseconds.size());
  const auto before = whole(microseconds.substr(0, point));
  if (!before) return std::nullopt;
  std::string digits(microseconds.substr(std::min(point + 1, microseconds.size())).substr(0, 3));
  digits.resize(3, '0');
  const auto after = whole(digits);
  if (!after) return std::nullopt;
  const auto value = static_cast<std::int64_t>(*before * 1000 + *after);
  return negative ? -value : value;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = list.find_first_not_of(kSeparators, at)) != std::string_view::npos;) {
    const auto end = std::min(list.find_first_of(kSeparators, at), list.size());
    if (list.substr(at, end - at) != "...") words.emplace_back(list.substr(at, end - at));
    at = end;
  }
  return words;
}

bool differ(std::string_view list) {
  const auto words = words_of(list);
  return std::adjacent_find(words.begin(), words.end(), std::not_equal_to<>()) != words.end();
}

}  // namespace photonrail::formats::kineto
