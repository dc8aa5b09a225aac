// A sum of times over many ports or commands.
#pragma once

#include "photonrail/units.hpp"

#include <chrono>
#include <compare>
#include <cstdint>

namespace photonrail {

/// Exact to the picosecond. A Duration ends at 106 days, which the sum over the ports of a large rail passes; this ends far
/// beyond what 2^31 ports can sum up to in a run.
class TotalTime {
 public:
  constexpr TotalTime() = default;
  /// REQUIRES: `time` >= 0.
  template <class Rep, class Period>
  constexpr TotalTime(std::chrono::duration<Rep, Period> time) {  // NOLINT(google-explicit-constructor): a sum of one
    add(time, 1);
  }

  /// `times` times of the same length. REQUIRES: neither is negative.
  constexpr void add(Duration time, std::int64_t times) {
    picoseconds_ += static_cast<Count>(time.count()) * static_cast<Count>(times);
  }
  /// Adds what it has grown by since it was `before`, so many times. REQUIRES: it has not shrunk.
  constexpr void add_growth(const TotalTime& before, std::uint64_t times) {
    picoseconds_ += (picoseconds_ - before.picoseconds_) * times;
  }
  constexpr TotalTime& operator+=(const TotalTime& other) {
    picoseconds_ += other.picoseconds_;
    return *this;
  }
  friend constexpr TotalTime operator+(TotalTime a, const TotalTime& b) { return a += b; }
  friend constexpr bool operator==(const TotalTime& a, const TotalTime& b) { return a.picoseconds_ == b.picoseconds_; }
  friend constexpr std::strong_ordering operator<=>(const TotalTime& a, const TotalTime& b) {
    if (a.picoseconds_ == b.picoseconds_) return std::strong_ordering::equal;
    return a.picoseconds_ < b.picoseconds_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }

  /// As a floating-point number, for reports only.
  [[nodiscard]] constexpr double picoseconds() const { return static_cast<double>(picoseconds_); }

 private:
  __extension__ typedef unsigned __int128 Count;

  Count picoseconds_ = 0;
};

/// For reports only.
[[nodiscard]] constexpr double to_seconds(const TotalTime& time) { return time.picoseconds() / 1e12; }

}  // namespace photonrail
