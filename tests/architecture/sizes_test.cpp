// Files and functions stay small enough to read in one go.
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace photonrail::test {
namespace {

constexpr std::size_t kMaxFileLines = 500;
constexpr std::size_t kMaxFunctionLines = 60;

std::vector<std::string> oversized(const SourceFile& file) {
  std::vector<std::string> found;
  if (line_count(file.text) > kMaxFileLines) {
    found.push_back(file.path + ": " + std::to_string(line_count(file.text)) + " lines");
  }
  for (const auto& function : functions_of(file.text)) {
    if (function.lines <= kMaxFunctionLines) continue;
    found.push_back(file.path + ":" + std::to_string(function.first_line) + ": a function of " +
                    std::to_string(function.lines) + " lines: " + function.head);
  }
  return found;
}

TEST(Sizes, EveryFileAndFunctionIsSmall) {
  std::size_t functions = 0;
  for (const auto* folder : {"include", "src", "tools", "tests"}) {
    for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
      functions += functions_of(file.text).size();
      for (const auto& line : oversized(file)) ADD_FAILURE() << line;
    }
  }
  EXPECT_GT(functions, 100u) << "the checker found hardly any function: it does not read what it should";
}

TEST(Sizes, ALongFileIsCaught) {
  EXPECT_TRUE(oversized({"src/core/a.cpp", std::string(500, '\n')}).empty());
  EXPECT_EQ(oversized({"src/core/a.cpp", std::string(501, '\n')}).size(), 1u);
}

TEST(Sizes, ALongFunctionIsCaught) {
  // Template line, head, `body` empty lines, closing brace: body + 3 lines.
  const auto text = [](std::size_t body) {
    return "namespace a {\nclass B {\n template <class T>\n void f(int x) {" + std::string(body + 1, '\n') + "}\n};\n}\n";
  };
  EXPECT_TRUE(oversized({"a.cpp", text(57)}).empty());
  EXPECT_EQ(oversized({"a.cpp", text(58)}).size(), 1u);
}

TEST(Sizes, FunctionsAreToldFromScopesTablesAndText) {
  const auto found = functions_of(R"code(
namespace photonrail {
#define A(x) { x
struct Point { int x{}; int y = 0; };
const std::vector<int> kTable{1, 2, f({3})};
constexpr int kOther[] = {1, 2};
enum class E { kA };
/* void not_one() { */ // nor() {
Point::Point(int a) : x{a}, y(1) { use("}{"); }
auto g(char c) -> int {
  const auto lambda = [&](int n) { return n == '{' ? 1'000 : 2; };
  if (c == '"') { return lambda(1); }
  return 0;
}
bool operator==(const Point& a, const Point& b) { return a.x == b.x; }
}  // namespace photonrail
)code");
  ASSERT_EQ(found.size(), 4u);  // the constructor's x{a} counts as its start, and its body again
  EXPECT_EQ(found[2].head, "auto g(char c) -> int ");
  EXPECT_EQ(found[2].first_line, 10u);
  EXPECT_EQ(found[2].lines, 5u);
  EXPECT_EQ(found[3].lines, 1u);
}

}  // namespace
}  // namespace photonrail::test
