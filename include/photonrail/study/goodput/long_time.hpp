// Times of months and their sums over many GPUs, exact to the picosecond.
#pragma once

#include "photonrail/units.hpp"

#include <compare>
#include <cstdint>
#include <string>

namespace photonrail::goodput {

/// Picoseconds in 128 bits: a length, or an instant as the length since the start of a history. A Duration ends at 106
/// days.
class LongTime {
 public:
  constexpr LongTime() = default;
  [[nodiscard]] static constexpr LongTime of(Duration d) { return LongTime(static_cast<Count>(d.count())); }
  /// The nearest picosecond. REQUIRES: finite, below 1e18 in magnitude.
  [[nodiscard]] static LongTime from_seconds(double seconds);
  [[nodiscard]] static LongTime from_days(double days) { return from_seconds(days * 86400.0); }
  /// The text of picoseconds(); throws ConfigError for any other.
  [[nodiscard]] static LongTime parse(const std::string& text);

  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps_) / 1e12; }
  [[nodiscard]] constexpr double days() const { return seconds() / 86400.0; }
  [[nodiscard]] std::string picoseconds() const;  ///< all digits

  [[nodiscard]] constexpr LongTime times(std::int64_t n) const { return LongTime(ps_ * n); }
  /// Returns how often `part` fits. REQUIRES: neither is negative, `part` is not 0; the quotient fits 63 bits.
  [[nodiscard]] constexpr std::int64_t whole(LongTime part) const { return static_cast<std::int64_t>(ps_ / part.ps_); }
  /// This x numerator / denominator, rounded down, or up. REQUIRES: none is negative; the product fits 127 bits.
  [[nodiscard]] constexpr LongTime scaled(LongTime numerator, LongTime denominator) const {
    return LongTime(ps_ * numerator.ps_ / denominator.ps_);
  }
  [[nodiscard]] constexpr LongTime scaled_up(LongTime numerator, LongTime denominator) const {
    return LongTime((ps_ * numerator.ps_ + denominator.ps_ - Count{1}) / denominator.ps_);
  }

  constexpr LongTime& operator+=(LongTime other) {
    ps_ += other.ps_;
    return *this;
  }
  constexpr LongTime& operator-=(LongTime other) {
    ps_ -= other.ps_;
    return *this;
  }
  friend constexpr LongTime operator+(LongTime a, LongTime b) { return a += b; }
  friend constexpr LongTime operator-(LongTime a, LongTime b) { return a -= b; }
  friend constexpr bool operator==(LongTime a, LongTime b) { return a.ps_ == b.ps_; }
  friend constexpr std::strong_ordering operator<=>(LongTime a, LongTime b) {
    if (a.ps_ == b.ps_) return std::strong_ordering::equal;
    return a.ps_ < b.ps_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }

 private:
  __extension__ typedef __int128 Count;
  constexpr explicit LongTime(Count ps) : ps_(ps) {}

  Count ps_ = 0;
};

}  // namespace photonrail::goodput
