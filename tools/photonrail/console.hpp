// The two streams: what a terminal is asked, and warnings.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace photonrail::command {

[[nodiscard]] int output_width();         ///< columns of standard output; 80 when it is no terminal
[[nodiscard]] bool output_has_colours();  ///< a terminal, and neither NO_COLOR nor TERM=dumb
[[nodiscard]] bool output_is_terminal();
[[nodiscard]] bool error_is_terminal();

/// Warnings on standard error: the first ten, then how many more. `about` is the scenario or trace.
void warn(std::string_view about, std::span<const std::string> lines);

}  // namespace photonrail::command
