// Which points run now, and for how long: for the line of progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace photonrail::sweep {

/// Is told by all threads of a sweep.
class RunningPoints {
 public:
  void begin(std::uint32_t point) {
    const std::lock_guard lock(mutex_);
    since_[point] = Clock::now();
  }
  void end(std::uint32_t point) {
    const std::lock_guard lock(mutex_);
    since_.erase(point);
  }
  /// The point that has run longest, and its seconds: at least one. Nothing where that was told less than a second ago.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, double>> longest() {
    const auto now = Clock::now();
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || since_.empty() || now < next_) return std::nullopt;
    auto first = since_.begin();
    for (auto one = since_.begin(); one != since_.end(); ++one) {
      if (one->second < first->second) first = one;
    }
    if (now - first->second < kBetween) return std::nullopt;
    next_ = now + kBetween;
    return std::pair(first->first, std::chrono::duration<double>(now - first->second).count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kBetween{1};

  std::mutex mutex_;
  std::map<std::uint32_t, Clock::time_point> since_;
  Clock::time_point next_ = Clock::now() + kBetween;
};

}  // namespace photonrail::sweep
