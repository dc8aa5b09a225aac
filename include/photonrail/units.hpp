// Quantities of the simulation. Units live in types; a bare number stays inside one formula.
#pragma once

#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>

namespace photonrail {

/// Simulated time in picoseconds: one byte at 400 Gb/s is 20 ps, and the range is 106 days.
using Duration = std::chrono::duration<std::int64_t, std::pico>;

/// An instant of simulated time. Time{} is the start of the run. Instants cannot be added, and become durations only by
/// since_start() or as the difference of two.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(Duration since_start) : since_start_(since_start) {}
  constexpr explicit Time(std::int64_t picoseconds) : since_start_(picoseconds) {}

  /// After every instant that a run reaches.
  [[nodiscard]] static constexpr Time never() { return Time{Duration::max()}; }

  [[nodiscard]] constexpr Duration since_start() const { return since_start_; }

  constexpr Time& operator+=(Duration d) {
    since_start_ += d;
    return *this;
  }
  constexpr Time& operator-=(Duration d) {
    since_start_ -= d;
    return *this;
  }
  friend constexpr Time operator+(Time t, Duration d) { return t += d; }
  friend constexpr Time operator-(Time t, Duration d) { return t -= d; }
  friend constexpr Duration operator-(Time a, Time b) { return a.since_start_ - b.since_start_; }
  friend constexpr auto operator<=>(const Time&, const Time&) = default;

 private:
  Duration since_start_{};
};

/// Seconds as a floating-point number, for reports only; of an instant since the start of the run.
[[nodiscard]] constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) / 1e12; }
[[nodiscard]] constexpr double to_seconds(Time t) { return to_seconds(t.since_start()); }

/// The nearest picosecond. REQUIRES: `seconds` is finite and |seconds| < 9.2e6.
[[nodiscard]] inline Duration from_seconds(double seconds) { return Duration{std::llround(seconds * 1e12)}; }

/// A number of bytes. Always bytes: never elements, never bits.
struct Bytes {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
};

/// Bytes per second. GB/s here is 1e9 bytes per second, never 2^30.
struct Bandwidth {
  double bytes_per_second = 0.0;

  friend constexpr auto operator<=>(const Bandwidth&, const Bandwidth&) = default;
  [[nodiscard]] static constexpr Bandwidth from_gb_per_s(double gb) { return {gb * 1e9}; }
};

/// Upper bound on any event time or duration (46 days). It is less than half the range of int64, so that the sum of two
/// times cannot overflow.
inline constexpr Duration kLongest{4'000'000'000'000'000'000};

/// Throws ConfigError: a time exceeds kLongest, which indicates a wrong rate or size in the scenario.
[[noreturn]] void fail_too_long(double picoseconds);

/// Rounds a real number of picoseconds up. A tolerance of 4 parts in 1e15 keeps an integer that a floating-point product
/// exceeds by its last bits.
[[nodiscard]] inline Duration round_up_picoseconds(double picoseconds) {
  if (!(picoseconds < static_cast<double>(kLongest.count()))) fail_too_long(picoseconds);
  return Duration{static_cast<std::int64_t>(std::ceil(picoseconds * (1.0 - 4e-15)))};
}

/// The time that `bytes` need at `rate`, rounded up to the next picosecond.
/// REQUIRES: `rate` > 0.
[[nodiscard]] inline Duration transfer_time(Bytes bytes, Bandwidth rate) {
  return round_up_picoseconds(static_cast<double>(bytes.count) * (1e12 / rate.bytes_per_second));
}

}  // namespace photonrail
