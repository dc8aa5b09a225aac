// The pages of docs/ quote example files; what they show is what is compiled and run.
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

const std::filesystem::path kDocs = std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "docs";

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Quote {
  std::string file;
  std::string code;
};

/// A fenced block of C++ that follows a line `<!-- examples/NAME.cpp -->`.
std::vector<Quote> quotes(const std::string& page) {
  constexpr std::string_view kMark = "<!-- examples/";
  constexpr std::string_view kFence = "```";
  std::vector<Quote> found;
  for (auto at = page.find(kMark); at != std::string::npos; at = page.find(kMark, at + 1)) {
    const auto name = at + kMark.size();
    const auto code = page.find('\n', page.find(kFence, name)) + 1;
    found.push_back({page.substr(name, page.find(' ', name) - name), page.substr(code, page.find(kFence, code) - code)});
  }
  return found;
}

TEST(Examples, EveryQuoteIsInItsFileAndEveryFileIsQuoted) {
  std::vector<Quote> found;
  std::string pages;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kDocs)) {
    if (entry.path().extension() != ".md") continue;
    pages += content(entry.path());
    for (Quote& quote : quotes(content(entry.path()))) {
      EXPECT_GT(quote.code.size(), 200u) << quote.file;
      EXPECT_NE(content(kDocs / "examples" / quote.file).find(quote.code), std::string::npos)
          << entry.path() << " shows something else than " << quote.file << ":\n"
          << quote.code;
      found.push_back(std::move(quote));
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(kDocs / "examples")) {
    const std::string name = entry.path().filename().string();
    const auto is_it = [&](const Quote& quote) { return quote.file == name; };
    const bool is_linked = pages.find("](../examples/" + name + ")") != std::string::npos;
    EXPECT_TRUE(is_linked || std::any_of(found.begin(), found.end(), is_it)) << name << " is quoted and linked nowhere";
  }
}

TEST(Examples, ABlockThatDiffersIsNoticed) {
  const auto found =
      quotes("text\n<!-- examples/a.cpp -->\n```cpp\nint a;\n```\n<!-- examples/b.cpp -->\n```cpp\nint b;\n```\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].file, "a.cpp");
  EXPECT_EQ(found[0].code, "int a;\n");
  EXPECT_EQ(found[1].code, "int b;\n");
}

}  // namespace
}  // namespace photonrail::test
