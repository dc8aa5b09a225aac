#include "photonrail/core/durations.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail {

LongTime LongTime::from_seconds(double seconds) {
  PHOTONRAIL_CHECK(std::isfinite(seconds) && std::fabs(seconds) < 1e18);
  return LongTime(static_cast<Count>(std::nearbyint(seconds * 1e12)));
}

std::string LongTime::digits() const {
  const bool negative = ps_ < Count{0};
  Count left = negative ? Count{0} - ps_ : ps_;
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(left % 10));
    left /= 10;
  } while (left != Count{0});
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

LongTime LongTime::parse(const std::string& text) {
  constexpr std::size_t kMaxDigits = 37;  // less than 2^127
  const std::size_t begin = !text.empty() && text[0] == '-' ? 1 : 0;
  const bool digits = text.size() > begin && text.size() - begin <= kMaxDigits &&
                      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) throw ConfigError(text, "is no whole number of picoseconds");
  Count value = 0;
  for (std::size_t i = begin; i < text.size(); ++i) value = value * 10 + (text[i] - '0');
  return LongTime(begin == 1 ? Count{0} - value : value);
}

}  // namespace photonrail
