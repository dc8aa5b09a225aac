#include "help_format.hpp"

#include "columns.hpp"

#include <sstream>
#include <utility>

namespace photonrail::command {

namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kTexts = 30;  // the column where CLI11 puts descriptions
constexpr std::size_t kNames = 6;   // where a long list of a name's conditions goes on

// Where the lines that continue this one begin.
std::size_t hang_of(const std::string& line) {
  if (line.find_first_not_of(' ') >= kTexts) return kTexts;
  const std::size_t gap = line.find("  ", 2);
  if (gap != std::string::npos && gap < kTexts) return kTexts;
  return line.starts_with("  ") ? kNames : 2;
}

}  // namespace

std::string folded_help(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  std::string folded;
  for (std::string line; std::getline(lines, line);) folded += hung(line, hang_of(line), width) + "\n";
  return folded;
}

std::string FoldedHelp::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  return folded_help(CLI::Formatter::make_help(app, std::move(name), mode), kHelpWidth);
}

}  // namespace photonrail::command
