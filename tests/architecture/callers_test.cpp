// Functions that only tests call belong to the tests: a reader of the library looks for what they are for in vain.
#include "architecture/class_text.hpp"
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace photonrail::test {
namespace {

/// The function that the line declares or begins to define: the word before its first bracket, behind a type; "" for other
/// lines. `whole`: the line is at the left edge of a .cpp, where nothing is called.
std::string_view declared_in(std::string_view line, bool whole) {
  const std::size_t open = line.find('(');
  if (open == std::string_view::npos) return {};
  std::size_t begin = open;
  while (begin > 0 && is_word(line[begin - 1])) --begin;
  const std::string_view name = line.substr(begin, open - begin);
  if (name.empty() || std::islower(static_cast<unsigned char>(name.front())) == 0 || name == "alignas") return {};
  const std::size_t start = std::min(line.find_first_not_of(' '), begin);
  const std::string_view before = line.substr(start, begin - start);
  if (before.find('=') != std::string_view::npos) return {};
  if (whole) return name;
  if (before.empty() || !(is_word(before.front()) || before.front() == '[')) return {};
  if (before.back() != ' ' && before.back() != '&' && before.back() != '*') return {};
  // A comma outside of the brackets of a type is between arguments.
  int angles = 0;
  for (const char c : before) {
    angles += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == ',' && angles == 0) return {};
  }
  static const std::set<std::string_view> kStatements{"return", "else", "throw", "new", "delete", "case", "if", "do"};
  return kStatements.contains(first_word(before)) ? std::string_view() : name;
}

/// Counts what functions a header declares, and the words of the code that are no declaration.
struct Names {
  std::map<std::string, std::string, std::less<>> declared{};  ///< by name, the header
  std::map<std::string, int, std::less<>> used{};

  void read(const SourceFile& file) {
    const bool header = file.path.ends_with(".hpp");
    std::istringstream lines(code_only(file.text));
    for (std::string line; std::getline(lines, line);) {
      const bool whole = !header && !line.empty() && line.front() != ' ';
      const std::string name(header || whole ? declared_in(line, whole) : std::string_view());
      if (header && !name.empty()) declared.emplace(name, file.path);
      bool is_declaration = !name.empty();
      for (std::size_t i = 0; i < line.size(); ++i) {
        if (!is_word(line[i])) continue;
        const std::string_view word = first_word(std::string_view(line).substr(i));
        i += word.size() - 1;
        if (is_declaration && word == name) {
          is_declaration = false;
          continue;
        }
        const auto at = used.find(word);
        if (at == used.end()) {
          used.emplace(word, 1);
        } else {
          ++at->second;
        }
      }
    }
  }
};

TEST(Callers, EveryFunctionHasOneOutsideTheTests) {
  // What programs of users call, and the command does another way; results as texts.
  const std::set<std::string, std::less<>> for_users{"check_sweep", "compare_results", "msccl_xml", "read_task_graph"};
  Names names;
  for (const char* folder : {"include", "src", "tools", "python"}) {
    for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) names.read(file);
  }
  EXPECT_GT(names.declared.size(), 1500u) << "the checker finds hardly any function";
  for (const auto& [name, header] : names.declared) {
    // The kit for tests of users' own parts.
    if (header.starts_with("include/photonrail/testing/")) continue;
    EXPECT_NE(names.used.contains(name), for_users.contains(name))
        << name << " (" << header << "): no code of the library calls it, or it does and the list says otherwise";
  }
}

TEST(Callers, ADeclarationIsNoCall) {
  Names names;
  names.read(
      {"src/a.hpp", "[[nodiscard]] int seen(int);\nvoid left(double x);\n  int inner() const { return seen(1); }\n"});
  names.read({"src/a.cpp", "int A::inner() {\n  return left(2);\n}\nvoid left(double x) {}\n"});
  EXPECT_EQ(names.declared.size(), 3u);
  EXPECT_TRUE(names.used.contains("seen"));
  EXPECT_TRUE(names.used.contains("left"));
  EXPECT_FALSE(names.used.contains("inner"));
}

}  // namespace
}  // namespace photonrail::test
