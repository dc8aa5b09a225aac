// The language of comments and pages: parts of a program are named. And private types stay out of the public namespace.
#include "architecture/class_text.hpp"
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::test {
namespace {

constexpr double kMaxPersonsPerThousandWords = 0.5;

struct Language {
  std::size_t words = 0;
  std::vector<std::string> persons;  ///< each occurrence, with its line

  [[nodiscard]] double per_thousand() const {
    return words == 0 ? 0.0 : 1000.0 * static_cast<double>(persons.size()) / static_cast<double>(words);
  }
};

/// Indefinite persons. "who" and "whose" are missing because they may refer to a part that the sentence names.
bool is_indefinite_person(std::string_view before, std::string_view word) {
  static const std::set<std::string, std::less<>> persons{"nobody",  "somebody", "anybody",  "everybody",
                                                          "someone", "anyone",   "everyone", "whoever",
                                                          "whom",    "whomever", "whosoever"};
  return persons.contains(word) || (before == "no" && word == "one");
}

/// Adds the words of a prose text at `where` to what was read before.
void read_prose(const std::string& where, std::string_view text, Language& language) {
  std::size_t line = 1;
  std::string before;
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>('\n');
    if (std::isalpha(c) != 0) {
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    if (!word.empty()) {
      ++language.words;
      if (is_indefinite_person(before, word)) language.persons.push_back(where + ":" + std::to_string(line) + ": " + word);
      before = c == ' ' || c == '-' ? word : "";  // "no one" is one person only with nothing else between
      word.clear();
    }
    if (c == '\n') ++line;
  }
}

Language comments_below(std::string_view folder) {
  Language language;
  for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
    read_prose(file.path, comments_of(file.text), language);
  }
  return language;
}

Language pages() {
  Language language;
  const std::filesystem::path root = PHOTONRAIL_SOURCE_DIR;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() != ".md") continue;
    const SourceFile page = read_source(root, entry.path());
    read_prose(page.path, page.text, language);
  }
  return language;
}

void expect_plain(const std::string& what, const Language& language) {
  std::string all;
  for (const auto& person : language.persons) all += "\n" + person;
  EXPECT_LE(language.per_thousand(), kMaxPersonsPerThousandWords)
      << what << " name too few parts of the program in " << language.words << " words:" << all;
}

constexpr double kMaxFragments = 0.05;

struct Openings {
  std::size_t blocks = 0;
  std::vector<std::string> fragments;  ///< blocks that begin with a fragment, each with its line
};

/// Adds the comment blocks of a C++ text: lines one after another that have a comment and nothing else.
void read_openings(const std::string& where, const std::string& text, Openings& openings) {
  static const std::set<std::string, std::less<>> kFragments{"What", "Of", "Whether", "How", "By"};
  std::istringstream lines(text);
  bool was_comment = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(' ');
    const bool is_comment = begin != std::string::npos && line.compare(begin, 2, "//") == 0;
    if (is_comment && !was_comment) {
      ++openings.blocks;
      const std::size_t first = line.find_first_not_of("/!< ", begin);
      const std::size_t end = std::min(line.find_first_of(" ,.;:", first), line.size());
      const std::string word = first == std::string::npos ? "" : line.substr(first, end - first);
      if (kFragments.contains(word)) openings.fragments.push_back(where + ":" + std::to_string(number) + ": " + word);
    }
    was_comment = is_comment;
  }
}

TEST(Language, CommentsBeginWithASentence) {
  Openings openings;
  for (const auto* folder : {"include", "src", "tools"}) {
    for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) read_openings(file.path, file.text, openings);
  }
  EXPECT_GT(openings.blocks, 2'000u) << "the counter reads hardly any comment";
  std::string all;
  for (const auto& fragment : openings.fragments) all += "\n" + fragment;
  EXPECT_LE(static_cast<double>(openings.fragments.size()), kMaxFragments * static_cast<double>(openings.blocks))
      << "of " << openings.blocks << " comments these begin with a fragment, not with a subject or a verb:" << all;
}

/// The share of lines with a comment among those that are not blank.
double share_of_comments(const std::string& text) {
  std::size_t lines = 0;
  std::size_t comments = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    ++lines;
    if (line.find("//") != std::string::npos) ++comments;
  }
  return lines == 0 ? 0.0 : static_cast<double>(comments) / static_cast<double>(lines);
}

// The state machines of these rooms are hard to read without the reasons. A file of checks of values is not.
TEST(Language, HardFilesSayWhy) {
  constexpr std::size_t kHardLines = 150;
  constexpr double kLeast = 0.08;
  constexpr double kMostInMean = 0.15;
  std::size_t files = 0;
  double sum = 0.0;
  for (const auto* folder : {"src/execution", "src/fabric", "src/network", "src/control_plane"}) {
    for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
      const auto lines = static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n'));
      if (!file.path.ends_with(".cpp") || lines < kHardLines || file.path.ends_with("fabric/cluster.cpp")) continue;
      const double share = share_of_comments(file.text);
      EXPECT_GE(share, kLeast) << file.path;
      sum += share;
      ++files;
    }
  }
  ASSERT_GT(files, 20u);
  EXPECT_LE(sum / static_cast<double>(files), kMostInMean);
  EXPECT_DOUBLE_EQ(share_of_comments("a;  // why\n\n// Reason.\nb;\nc;\n"), 0.5);
}

/// Phrases that a field engineer had to read twice. A measure has a name: "Number of ranks", not "So many ranks".
TEST(Language, CommentsHaveNoRiddles) {
  const std::vector<std::string> riddles{"So many ",         "So much ",     "So often ",
                                         "So long ",         "what as many", "solved from nothing",
                                         "Nothing need not", "often longer"};
  for (const auto* folder : {"include", "src", "tools"}) {
    for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
      const std::string comments = comments_of(file.text);
      for (const auto& riddle : riddles) EXPECT_EQ(comments.find(riddle), std::string::npos) << file.path << ": " << riddle;
    }
  }
}

TEST(Language, AFragmentAtTheBeginOfACommentIsCaught) {
  Openings openings;
  read_openings("a.hpp", "// What it is.\n// How it works.\nint a;  // Of no block\n  /// Whether: so\n/// Ofter\n//\n",
                openings);
  EXPECT_EQ(openings.blocks, 2u);
  EXPECT_EQ(openings.fragments, (std::vector<std::string>{"a.hpp:1: What", "a.hpp:4: Whether"}));
}

TEST(Language, CommentsNameThePartsOfTheProgram) {
  for (const auto* folder : {"include", "src", "tools", "tests"}) {
    const Language language = comments_below(folder);
    EXPECT_GT(language.words, 500u) << folder << ": the checker reads hardly any comment";
    expect_plain(std::string("comments of ") + folder, language);
  }
}

TEST(Language, PagesNameThePartsOfTheProgram) {
  const Language language = pages();
  EXPECT_GT(language.words, 10'000u) << "the checker reads hardly any page";
  expect_plain("pages of docs", language);
}

TEST(Language, AnIndefinitePersonIsCaughtInCommentsAlone) {
  const std::string text = R"code(// It claims that nobody waits without need.
const char* kText = "whoever // somebody";  // Whoever asks, no one
/* Everyone-else, a no-one;
   but one of no interest, no: one. */ int whom = 0;
)code";
  Language language;
  read_prose("a.hpp", comments_of(text), language);
  const std::vector<std::string> expected{"a.hpp:1: nobody", "a.hpp:2: whoever", "a.hpp:2: one", "a.hpp:3: everyone",
                                          "a.hpp:3: one"};
  EXPECT_EQ(language.persons, expected);
  EXPECT_EQ(language.words, 7u + 4u + 5u + 7u);
}

TEST(Language, TheLimitIsPerThousandWords) {
  std::string text = "somebody";
  for (int word = 0; word < 1'999; ++word) text += " circuit";
  Language language;
  read_prose("a.md", text, language);
  EXPECT_EQ(language.words, 2'000u);
  EXPECT_EQ(language.per_thousand(), kMaxPersonsPerThousandWords);
  read_prose("b.md", "nobody", language);
  EXPECT_GT(language.per_thousand(), kMaxPersonsPerThousandWords);
}

TEST(Namespaces, PrivateTypesStayOutOfThePublicOne) {
  std::vector<std::string> found;
  for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, "src")) {
    if (!file.path.ends_with(".hpp")) continue;
    for (const auto& name : types_in_namespace(file.text, "photonrail")) found.push_back(file.path + ": " + name);
  }
  std::string all;
  for (const auto& line : found) all += "\n" + line;
  EXPECT_TRUE(found.empty()) << "types of private headers belong to the namespace of their room:" << all;
}

TEST(Namespaces, ATypeInThePublicNamespaceIsCaught) {
  const std::string text = R"code(
namespace photonrail {
class Declared;
class Network : public Base { class Inner {}; };
struct Path final { int x{}; };
enum class Kind : std::uint8_t { kA };
using Index = std::uint32_t;
using execution::OpId;
template <class T> struct Pair { T first; };
inline int f() { struct Local {}; return 0; }
namespace detail { class Hidden {}; }
namespace { class Anonymous {}; }
}  // namespace photonrail
namespace photonrail::fabric { class Rail {}; }
)code";
  EXPECT_EQ(types_in_namespace(text, "photonrail"), (std::vector<std::string>{"Network", "Path", "Kind", "Index", "Pair"}));
  EXPECT_EQ(types_in_namespace(text, "photonrail::detail"), std::vector<std::string>{"Hidden"});
  EXPECT_EQ(types_in_namespace(text, "photonrail::fabric"), std::vector<std::string>{"Rail"});
}

}  // namespace
}  // namespace photonrail::test
