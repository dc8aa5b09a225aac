// The mean of many durations, exact and rounded down: their sum over a million ranks would not fit into 64 bits.
#pragma once

#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>

namespace photonrail::execution {

class Mean {
 public:
  /// `count` durations will be added; at least 1.
  explicit Mean(std::size_t count) : count_(static_cast<std::int64_t>(count)) {}

  /// `times` durations of the same length.
  void add(Duration d, std::int64_t times = 1) {
    whole_ += d / count_ * times;
    rest_ += d % count_ * times;
  }
  [[nodiscard]] Duration value() const { return whole_ + rest_ / count_; }

 private:
  std::int64_t count_;
  Duration whole_{};
  Duration rest_{};
};

}  // namespace photonrail::execution
