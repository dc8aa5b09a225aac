#include "formats/kineto/numbers.hpp"

#include "core/number_in.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace photonrail::formats::kineto {

namespace {

constexpr double kMaxMicroseconds = 4e15;
constexpr double kMaxExact = 9007199254740992.0;  // 2^53
constexpr std::string_view kSeparators = "[], \t";

// The digits of a number from the first that is not 0, and how many of them stand before the point.
struct Decimal {
  std::string digits;
  std::int64_t point = 0;
};

std::optional<Decimal> decimal_of(std::string_view text) {
  const std::size_t power = std::min(text.find_first_of("eE"), text.size());
  std::int64_t exponent = 0;
  if (power < text.size()) {
    std::string_view behind = text.substr(power + 1);
    if (behind.starts_with('+')) behind.remove_prefix(1);
    const auto [end, problem] = std::from_chars(behind.data(), behind.data() + behind.size(), exponent);
    if (problem != std::errc{} || end != behind.data() + behind.size() || std::abs(exponent) > 1'000'000)
      return std::nullopt;
  }
  Decimal decimal;
  bool has_point = false;
  for (const char c : text.substr(0, power)) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    if (!decimal.digits.empty() || c != '0') {
      decimal.digits += c;
      if (!has_point) ++decimal.point;
    } else if (has_point) {
      --decimal.point;
    }
  }
  decimal.point += exponent;
  return power == 0 ? std::nullopt : std::optional(std::move(decimal));
}

}  // namespace

std::optional<std::uint64_t> whole(std::string_view text) {
  if (const auto value = core::number_in<std::uint64_t>(text)) return value;
  const auto real = core::number_in<double>(text);  // "7.0", "1e3": tools that keep all numbers as floating point write so
  if (!real || !(*real >= 0.0 && *real <= kMaxExact) || *real != std::floor(*real)) return std::nullopt;
  return static_cast<std::uint64_t>(*real);
}

std::optional<std::int64_t> to_nanoseconds(std::string_view microseconds) {
  const double rough = std::strtod(std::string(microseconds).c_str(), nullptr);
  if (!(std::abs(rough) <= kMaxMicroseconds)) return std::nullopt;
  const bool negative = microseconds.starts_with('-');
  if (negative) microseconds.remove_prefix(1);
  const auto decimal = decimal_of(microseconds);
  if (!decimal) return std::nullopt;
  const std::int64_t point = decimal->point + 3;  // of the nanoseconds
  if (decimal->digits.empty() || point < 0) return 0;
  std::string digits = decimal->digits;
  digits.resize(std::max(digits.size(), static_cast<std::size_t>(point) + 1), '0');
  const auto at = static_cast<std::size_t>(point);
  const std::uint64_t before = at == 0 ? 0 : whole(std::string_view(digits).substr(0, at)).value_or(0);
  const auto value = static_cast<std::int64_t>(before + (digits[at] >= '5' ? 1 : 0));
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
