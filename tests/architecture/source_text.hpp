// Reads the project's own C++ text: files, include lines, and how long functions are. A heuristic, not a parser: it knows
// comments, literals, preprocessor lines, templates and braces, which is what this code base is written in.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::test {

struct SourceFile {
  std::string path;  ///< from the root of the project, with '/'
  std::string text;
};

inline SourceFile read_source(const std::filesystem::path& root, const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {file.lexically_relative(root).generic_string(), std::string(std::istreambuf_iterator<char>(in), {})};
}

/// Every .hpp and .cpp below `root`/`folder`, in order of path.
inline std::vector<SourceFile> sources_below(const std::filesystem::path& root, std::string_view folder) {
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".hpp" || extension == ".cpp")) {
      files.push_back(read_source(root, entry.path()));
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

inline std::size_t line_count(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

struct Include {
  std::string name;
  bool quoted = false;
};

inline std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
    if (!line.starts_with("#include") || line.size() < 10) continue;
    const auto end = line.find_first_of("\">", 9);
    if (end != std::string::npos) found.push_back({line.substr(9, end - 9), line[8] == '"'});
  }
  return found;
}

/// Where the literal or comment that begins at `i` ends; `i` itself when none does.
inline std::size_t skip_literal(std::string_view text, std::size_t i) {
  const auto past = [&](std::string_view end, std::size_t from) {
    const auto at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  if (text.substr(i, 2) == "//") return std::min(text.find('\n', i), text.size());
  if (text.substr(i, 2) == "/*") return past("*/", i + 2);
  if (text.substr(i, 2) == "R\"") {
    const auto open = text.find('(', i);
    if (open == std::string_view::npos) return text.size();
    return past(")" + std::string(text.substr(i + 2, open - i - 2)) + "\"", open);
  }
  const bool separator = text[i] == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
  if ((text[i] != '"' && text[i] != '\'') || separator) return i;
  std::size_t end = i + 1;
  while (end < text.size() && text[end] != text[i]) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// The text with comments, literals and preprocessor lines blanked out; line ends stay.
inline std::string code_only(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    std::replace_if(
        code.begin() + static_cast<std::ptrdiff_t>(from), code.begin() + static_cast<std::ptrdiff_t>(to),
        [](char c) { return c != '\n'; }, ' ');
  };
  bool line_start = true;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = skip_literal(text, i);
    if (end == i && text[i] == '#' && line_start) {
      do end = std::min(text.find('\n', end + 1), text.size());
      while (end < text.size() && text[end - 1] == '\\');
    }
    if (end > i) {
      blank(i, end);
      i = end;
      continue;
    }
    line_start = text[i] == '\n' || (line_start && text[i] == ' ');
    ++i;
  }
  return code;
}

/// The text of all comments, without the code between them.
inline std::string comments_of(std::string_view text) {
  std::string comments;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::max(skip_literal(text, i), i + 1);
    const auto piece = text.substr(i, end - i);
    if (piece.starts_with("//") || piece.starts_with("/*")) comments += piece;
    if (piece == "\n") comments += '\n';
    i = end;
  }
  return comments;
}

/// The string literals of the code with their quotes, in order; not those of include lines and comments.
inline std::vector<std::string> literals_of(std::string_view text) {
  std::vector<std::string> literals;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::max(skip_literal(text, i), i + 1);
    const auto piece = text.substr(i, end - i);
    const auto line = text.substr(0, i).rfind('\n') + 1;  // npos + 1 is 0
    const bool is_string = piece.size() > 1 && (piece.front() == '"' || piece.starts_with("R\""));
    if (is_string && !text.substr(line).starts_with('#')) literals.emplace_back(piece);
    i = end;
  }
  return literals;
}

/// What stands before a brace, without the `template <...>` in front of it.
inline std::string_view without_template(std::string_view head) {
  for (;;) {
    const auto start = head.find_first_not_of(" \n");
    if (start == std::string_view::npos) return {};
    head.remove_prefix(start);
    if (!head.starts_with("template")) return head;
    int depth = 0;
    std::size_t i = 8;
    for (; i < head.size(); ++i) {
      if (head[i] == '<') ++depth;
      if (head[i] == '>' && --depth == 0) break;
    }
    head.remove_prefix(std::min(i + 1, head.size()));
  }
}

enum class Brace { kScope, kFunction, kValue };

/// What a brace outside every function opens, told by the text between it and the last `;`, `{` or `}`.
inline Brace brace_after(std::string_view head) {
  head = without_template(head);
  const auto parameters = head.find('(');
  const auto before = head.substr(0, parameters);
  for (const auto word : {"namespace", "class", "struct", "union", "enum", "extern"}) {
    const auto at = before.find(word);
    if (at == std::string_view::npos) continue;
    if (at == 0 || before[at - 1] == ' ' || before[at - 1] == '\n') return Brace::kScope;
  }
  const bool assigns = before.find('=') != std::string_view::npos && before.find("operator") == std::string_view::npos;
  return parameters == std::string_view::npos || assigns ? Brace::kValue : Brace::kFunction;
}

struct FunctionSpan {
  std::string head;  ///< what stands before the brace
  std::size_t first_line = 0;
  std::size_t lines = 0;
};

/// The functions of a file, with nested lambdas and local classes counted as part of them.
inline std::vector<FunctionSpan> functions_of(std::string_view text) {
  const std::string code = code_only(text);
  std::vector<FunctionSpan> found;
  std::size_t head = 0;   // where the text before the next brace begins
  std::size_t depth = 0;  // of braces inside a function or a value; 0 outside
  FunctionSpan open;
  bool is_function = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '{') {
      const auto kind = depth > 0 ? Brace::kValue : brace_after(std::string_view(code).substr(head, i - head));
      if (depth == 0 && kind == Brace::kFunction) {
        head = std::min(code.find_first_not_of(" \n", head), i);
        open = {code.substr(head, i - head), line_count(std::string_view(code).substr(0, head)) + 1, 0};
      }
      if (depth == 0) is_function = kind == Brace::kFunction;
      if (depth > 0 || kind != Brace::kScope) ++depth;
    } else if (code[i] == '}' && depth > 0 && --depth == 0 && is_function) {
      open.lines = line_count(std::string_view(code).substr(0, i)) + 2 - open.first_line;
      found.push_back(open);
    }
    if (depth == 0 && (code[i] == ';' || code[i] == '{' || code[i] == '}')) head = i + 1;
  }
  return found;
}

}  // namespace photonrail::test
