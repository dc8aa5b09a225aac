#include "console.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace photonrail::command {

namespace {

constexpr std::size_t kMaxWarnings = 10;

}  // namespace

int output_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::clamp<int>(size.ws_col, 60, 200);
}

bool output_has_colours() {
  const char* terminal = std::getenv("TERM");
  const char* refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  return output_is_terminal() && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool error_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

void warn(std::string_view about, std::span<const std::string> lines) {
  spdlog::logger logger("photonrail", std::make_shared<spdlog::sinks::stderr_color_sink_st>());
  logger.set_pattern("%n: %^%l%$: %v");
  // Not by a format, which would compile how numbers of every kind are written.
  const auto say = [&](const std::string& what) {
    logger.log(spdlog::level::warn, spdlog::string_view_t(std::string(about) + ": " + what));
  };
  std::ranges::for_each(lines.first(std::min(lines.size(), kMaxWarnings)), say);
  if (lines.size() > kMaxWarnings) say("and " + std::to_string(lines.size() - kMaxWarnings) + " more");
}

}  // namespace photonrail::command
