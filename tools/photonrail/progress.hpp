// One line on a terminal that says how far a run is.
#pragma once

#include "photonrail/observer.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace photonrail::command {

/// "[#####.....] 50 %  12.3 k tasks/s  4 s left". `elapsed` is wall time. REQUIRES: done <= of.
[[nodiscard]] std::string progress_text(std::uint64_t done, std::uint64_t of, std::chrono::duration<double> elapsed);

/// Draws on standard error when it is a terminal, from two seconds on; the destructor erases the line.
class ProgressLine : public Observer {
 public:
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  /// `shown` false: never draws.
  explicit ProgressLine(bool shown);
  ~ProgressLine() override;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void progress(std::uint64_t done, std::uint64_t of, Time simulated) override;

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  bool drawn_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_ = started_ + std::chrono::seconds(2);
};

}  // namespace photonrail::command
