// Files and functions stay small enough to read in one go.
#include "architecture/class_text.hpp"
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

constexpr std::size_t kMaxFileLines = 500;
constexpr std::size_t kMaxFunctionLines = 60;
constexpr std::size_t kMaxMethods = 30;
constexpr std::size_t kMaxMembers = 15;

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

bool is_small(const ClassSize& size) { return size.methods <= kMaxMethods && size.members <= kMaxMembers; }

std::string described(const SourceFile& file, const ClassSize& size) {
  return file.path + ": " + size.name + " has " + std::to_string(size.methods) + " methods and " +
         std::to_string(size.members) + " data members";
}

std::vector<std::string> oversized_classes(const SourceFile& file) {
  std::vector<std::string> found;
  for (const auto& size : classes_of(file.text)) {
    if (!is_small(size)) found.push_back(described(file, size));
  }
  return found;
}

/// Values without behaviour: a field for each row of a section, a view or a result (docs/decisions/0031).
std::set<std::string> large_values() {
  return {"CircuitRequest", "FabricView",    "GoodputSummary", "ModelSpec",
          "RunResult",      "ServedRequest", "ServingResult",  "TrainingSpec"};
}

/// Classes that are larger, each for a reason.
std::set<std::string> large_classes() {
  std::set<std::string> names = large_values();
  names.insert("Json");  // one value type around the JSON library, so that no other file includes it: one call a kind
  return names;
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

TEST(Sizes, EveryClassIsSmall) {
  std::set<std::string> names;
  std::set<std::string> unused = large_classes();
  for (const auto* folder : {"include", "src", "tools"}) {
    for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
      for (const auto& size : classes_of(file.text)) {
        names.insert(size.name);
        if (is_small(size) || unused.erase(size.name) > 0) continue;
        ADD_FAILURE() << described(file, size);
      }
    }
  }
  for (const auto& name : unused) ADD_FAILURE() << name << " is small, or gone: the exception is not needed any more";
  for (const auto* name : {"Folding", "Executor", "ControlPlane", "Simulation", "Network", "LevelSolver"}) {
    EXPECT_TRUE(names.contains(name)) << "the checker does not find class " << name;
  }
}

TEST(Sizes, LargeValuesHaveHardlyAnyFunctionsAndNothingPrivate) {
  std::size_t found = 0;
  for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, "include")) {
    for (const auto& size : classes_of(file.text)) {
      if (!large_values().contains(size.name)) continue;
      ++found;
      EXPECT_LE(size.methods, 12u) << size.name;
      const std::size_t begin = file.text.find("struct " + size.name + " {");
      ASSERT_NE(begin, std::string::npos) << size.name << " is no structure";
      const std::string body = file.text.substr(begin, file.text.find("\n};", begin) - begin);
      EXPECT_EQ(body.find("private:"), std::string::npos) << size.name;
    }
  }
  EXPECT_EQ(found, large_values().size());
}

TEST(Sizes, ALargeClassIsCaught) {
  const auto text = [](std::size_t methods, std::size_t members) {
    std::string body;
    for (std::size_t i = 0; i < methods; ++i) body += "  void f" + std::to_string(i) + (i % 2 ? "() { g(); }\n" : "();\n");
    for (std::size_t i = 0; i < members; ++i) body += "  int m" + std::to_string(i) + "_ = 0;\n";
    return "namespace a {\nclass B {\n public:\n" + body + "};\n}\n";
  };
  EXPECT_TRUE(oversized_classes({"a.hpp", text(30, 15)}).empty());
  EXPECT_EQ(oversized_classes({"a.hpp", text(31, 15)}).size(), 1u);
  EXPECT_EQ(oversized_classes({"a.hpp", text(30, 16)}).size(), 1u);
}

TEST(Sizes, MethodsAndMembersAreToldFromOtherDeclarations) {
  const auto found = classes_of(R"code(
namespace photonrail {
class Declared;
template <class T>
class Big final : public Base<T> {
 public:
  using Key = std::pair<int, int>;
  explicit Big(int a) : a_{a}, b_(a), c_{1, 2} { run(); }  // void no();
  Big(const Big&) = delete;
  ~Big() override = default;
  [[nodiscard]] std::map<int, int> get(int x = 0, std::vector<int> y = {}) const { return f([] { return 1; }); }
  virtual void pure() = 0;
  bool operator==(const Big&) const { return true; }
  template <class F> void each(F&& f);
  struct Inner { int x{}; int y = 0, z = 0; void g(); };
  enum class Kind { kA, kB };
  friend class Other;
  static constexpr int kMax = 3;
 private:
  std::map<int, int> a_;
  std::function<void(int, int)> b_{};
  int c_ = f(1, 2), d_ = 0;
};
void Big::each() { int local = 0; }
}  // namespace photonrail
)code");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "Big::Inner");
  EXPECT_EQ(found[0].methods, 1u);
  EXPECT_EQ(found[0].members, 3u);
  EXPECT_EQ(found[1].name, "Big");
  EXPECT_EQ(found[1].methods, 5u);  // Big, get, pure, ==, each
  EXPECT_EQ(found[1].members, 4u);  // a_, b_, c_, d_
}

}  // namespace
}  // namespace photonrail::test
