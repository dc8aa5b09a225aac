#include "progress.hpp"

#include <cmath>
#include <cstdio>
#include <iostream>

namespace photonrail::command {

namespace {

constexpr std::uint64_t kCells = 24;
constexpr auto kBetweenDrawings = std::chrono::milliseconds(200);
constexpr double kLongestGuess = 1e6;  // seconds; more is no information

std::string per_second(double rate) {
  char text[48];
  std::snprintf(text, sizeof text, rate < 1e6 ? "%.1f k tasks/s" : "%.1f M tasks/s",
                rate < 1e6 ? rate * 1e-3 : rate * 1e-6);
  return text;
}

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t of, std::chrono::duration<double> elapsed) {
  const double share = of == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(of);
  const auto cells = static_cast<std::size_t>(share * static_cast<double>(kCells));
  std::string text = "[" + std::string(cells, '#') + std::string(kCells - cells, '.') + "] ";
  text +=
      std::to_string(static_cast<int>(share * 100.0)) + " %  " + per_second(static_cast<double>(done) / elapsed.count());
  const double left = elapsed.count() * (1.0 / share - 1.0);
  if (left < kLongestGuess) text += "  " + std::to_string(std::llround(left)) + " s left";
  return text;
}

ProgressLine::ProgressLine(bool shown) : shown_(shown) {}

ProgressLine::~ProgressLine() {
  if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
}

void ProgressLine::progress(std::uint64_t done, std::uint64_t of, Time) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetweenDrawings;
  drawn_ = true;
  std::cerr << "\r\x1b[K" << progress_text(done, of, now - started_) << std::flush;
}

}  // namespace photonrail::command
