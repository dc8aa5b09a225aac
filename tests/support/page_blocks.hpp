// The blocks of a Markdown page that show code, with the line that each begins at.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace photonrail::test {

struct PageBlock {
  std::size_t line = 0;  ///< of its first line, from 1
  std::string language;  ///< of a fence; empty where there is none, and of indented blocks
  std::string before;    ///< the last line above it that is not empty
  std::string text;      ///< without indentation
};

/// Fenced blocks, and indented ones that follow an empty line and are not in a list.
inline std::vector<PageBlock> blocks_of(const std::string& page) {
  std::vector<PageBlock> blocks;
  std::istringstream lines(page);
  std::string before;
  bool fenced = false, indented = false, empty = true;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      fenced = !fenced;
      if (fenced) blocks.push_back({number + 1, line.substr(3), before, ""});
    } else if (fenced) {
      blocks.back().text += line + "\n";
    } else if (line.starts_with("    ") && (empty || indented)) {
      if (!indented) blocks.push_back({number, "", before, ""});
      indented = true;
      blocks.back().text += line.substr(4) + "\n";
    } else {
      indented = indented && line.empty();
      if (!line.empty()) before = line;
    }
    empty = line.empty();
  }
  return blocks;
}

}  // namespace photonrail::test
