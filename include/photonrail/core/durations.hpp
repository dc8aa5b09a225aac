// Long times and many together: exact sums of months and of many GPUs, and quantiles in little memory.
#pragma once

#include "photonrail/units.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace photonrail {

/// Picoseconds in 128 bits: a length, a sum of many, or an instant as the length since the start of a history. A Duration
/// ends at 106 days, which months of a job pass, and the sum over the ports of a large rail.
class LongTime {
 public:
  constexpr LongTime() = default;
  template <class Rep, class Period>
  constexpr LongTime(std::chrono::duration<Rep, Period> time)  // NOLINT(google-explicit-constructor): a sum of one
      : ps_(static_cast<Count>(Duration(time).count())) {}
  /// The nearest picosecond. REQUIRES: finite, below 1e18 in magnitude.
  [[nodiscard]] static LongTime from_seconds(double seconds);
  [[nodiscard]] static LongTime from_days(double days) { return from_seconds(days * 86400.0); }
  /// The text of digits(); throws ConfigError for any other.
  [[nodiscard]] static LongTime parse(const std::string& text);

  [[nodiscard]] constexpr double seconds() const { return picoseconds() / 1e12; }
  [[nodiscard]] constexpr double days() const { return seconds() / 86400.0; }
  [[nodiscard]] constexpr double picoseconds() const { return static_cast<double>(ps_); }
  [[nodiscard]] std::string digits() const;  ///< of the picoseconds, all of them

  [[nodiscard]] constexpr LongTime times(std::int64_t n) const { return LongTime(ps_ * n); }
  /// This / n, rounded towards 0. REQUIRES: n is not 0; the quotient fits a Duration.
  [[nodiscard]] constexpr Duration over(std::int64_t n) const { return Duration{static_cast<std::int64_t>(ps_ / n)}; }
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

[[nodiscard]] constexpr double to_seconds(const LongTime& time) { return time.seconds(); }

/// Lengths of time, counted in buckets of 1/64 of their length at most: quantiles are up to 1.6 % too long, the least and
/// the greatest exact (the idea of DDSketch, Masson et al., VLDB 2019, with integers only).
class DurationHistogram {
 public:
  /// REQUIRES: not negative.
  void add(Duration length, std::uint64_t copies = 1);
  void merge(const DurationHistogram& other);
  /// Adds what was added since it was `before`, so many times.
  void add_growth(const DurationHistogram& before, std::uint64_t times);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The length that the share `p` of all lengths, from 0 to 1, does not exceed. REQUIRES: count() > 0.
  [[nodiscard]] Duration quantile(double p) const;

  friend bool operator==(const DurationHistogram&, const DurationHistogram&) = default;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  Duration least_{};
  Duration greatest_{};
};

}  // namespace photonrail
