// The mean of many durations, exact and rounded down: their sum over a million ranks would not fit into 64 bits.
#pragma once

#include "photonrail/core/durations.hpp"

#include <cstddef>
#include <cstdint>

namespace photonrail::execution {

class Mean {
 public:
  /// `count` durations will be added; at least 1.
  explicit Mean(std::size_t count = 1) : count_(static_cast<std::int64_t>(count)) {}

  /// `times` durations of the same length.
  void add(Duration d, std::int64_t times = 1) { sum_ += LongTime(d).times(times); }
  [[nodiscard]] Duration value() const { return sum_.over(count_); }

  /// Adds what its sum has grown by since it was `before`, so many times. Returns false when it had not grown by the same
  /// since it was `first`.
  [[nodiscard]] bool add_growth(const Mean& first, const Mean& before, std::int64_t times) {
    const bool alike = before.sum_ - first.sum_ == sum_ - before.sum_;
    sum_ += (sum_ - before.sum_).times(times);
    return alike;
  }

 private:
  std::int64_t count_;
  LongTime sum_{};
};

}  // namespace photonrail::execution
