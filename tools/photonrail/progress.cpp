#include "progress.hpp"

#include "console.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/workload/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

namespace photonrail::command {

namespace {

constexpr std::uint64_t kCells = 24;
constexpr auto kBetweenDrawings = std::chrono::milliseconds(200);
constexpr std::chrono::seconds kBeforeTerminal{2};
constexpr std::chrono::seconds kBetweenLines{10};
constexpr double kLongestGuess = 1e6;  // seconds; more is no information

std::string per_second(double rate, std::string_view unit) {
  const auto [scale, prefix] = rate < 1e3 ? std::pair(1.0, "") : rate < 1e6 ? std::pair(1e-3, "k ") : std::pair(1e-6, "M ");
  return fmt::format("{:.1f} {}{}/s", rate * scale, prefix, unit);
}

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t of, std::chrono::duration<double> elapsed,
                          std::string_view unit, std::optional<double> of_work) {
  const double share = of_work ? *of_work : of == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(of);
  const auto cells = static_cast<std::size_t>(share * static_cast<double>(kCells));
  std::string text = "[" + std::string(cells, '#') + std::string(kCells - cells, '.') + "] ";
  text += std::to_string(static_cast<int>(share * 100.0)) + " %  " +
          per_second(static_cast<double>(done) / elapsed.count(), unit);
  const double left = elapsed.count() * (1.0 / share - 1.0);
  if (left < kLongestGuess) text += "  " + std::to_string(std::llround(left)) + " s left";
  return text;
}

TerminalLine::TerminalLine(bool shown)
    : shown_(shown), terminal_(error_is_terminal()), next_(started_ + (terminal_ ? kBeforeTerminal : kBetweenLines)) {}

void TerminalLine::erase() {
  if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

void TerminalLine::draw(std::uint64_t done, std::uint64_t of, std::string_view unit, std::string_view more,
                        std::optional<double> share) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  if (!terminal_) {
    next_ = now + kBetweenLines;
    std::cerr << progress_text(done, of, now - started_, unit, share) << more << std::endl;
    return;
  }
  next_ = now + kBetweenDrawings;
  drawn_ = true;
  std::cerr << "\r\x1b[K" << progress_text(done, of, now - started_, unit, share) << more << std::flush;
}

void ProgressLine::begin(const Scenario& scenario) {
  if (scenario.workload != nullptr && scenario.workload->name() == "serving") unit_ = "requests";
}

// A search takes some ten runs: two or three to find rates on both sides, and one for each halving down to 2 %.
void ProgressLine::tried(std::size_t runs, const ServingResult::RateTrial& last) {
  constexpr std::size_t kUsualRuns = 10;
  line_.draw(runs, std::max(runs + 1, kUsualRuns), "runs",
             fmt::format("  {:.4g} requests/s: {:.1f} % keep the limits", last.per_s, 100.0 * last.share));
}

}  // namespace photonrail::command
