// One line that says how far it is.
#pragma once

#include "photonrail/observer.hpp"
#include "run/rate_search.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace photonrail::command {

/// "[#####.....] 50 %  12.3 k tasks/s  4 s left". `elapsed` is wall time; `unit`: of what is done. REQUIRES: done <= of.
/// `share` of the work, where that is known better than by what is done.
[[nodiscard]] std::string progress_text(std::uint64_t done, std::uint64_t of, std::chrono::duration<double> elapsed,
                                        std::string_view unit = "tasks", std::optional<double> share = {});

/// Draws on standard error: on a terminal from two seconds on, a few times a second, and the destructor erases the line; in
/// a pipe or a file a line of its own every ten seconds.
class TerminalLine {
 public:
  /// `shown` false: never draws.
  explicit TerminalLine(bool shown);
  ~TerminalLine() { erase(); }
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  /// `more` comes after the text.
  void draw(std::uint64_t done, std::uint64_t of, std::string_view unit, std::string_view more = {},
            std::optional<double> share = {});
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_;
};

/// The line of one run, or of those of a search.
class ProgressLine : public run::TrialObserver {
 public:
  explicit ProgressLine(bool shown) : line_(shown) {}
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void begin(const Scenario& scenario) override;
  void progress(std::uint64_t done, std::uint64_t of, Time) override { line_.draw(done, of, unit_); }
  void tried(std::size_t runs, const ServingResult::RateTrial& last) override;

 private:
  TerminalLine line_;
  std::string_view unit_ = "tasks";
};

}  // namespace photonrail::command
