// Help texts for terminals of 80 columns.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace photonrail::command {

/// The help text with no line longer than `width`, where its words allow it: what follows a name goes on below where it
/// began.
[[nodiscard]] std::string folded_help(const std::string& text, std::size_t width);

/// CLI11's help, folded to 80 columns.
class FoldedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace photonrail::command
