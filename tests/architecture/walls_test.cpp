// What a part must not know: JSON pointers outside the rooms that read JSON, policies by name outside their own files; and
// parts of the kernel that no test builds alone.
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

bool below_any(const std::string& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) { return path.starts_with(folder); });
}

/// A literal that begins with a JSON pointer (/proc is of Linux), or names a section of a scenario file in a text.
bool has_pointer(const std::string& literal) {
  static const std::regex begins(R"(^"/(?!proc/)[a-z_]+["/])");
  static const std::regex inside(
      R"([ (]/(cluster|workload|placement|controller|executor|collectives|stragglers|jobs|cost|run)[/ ")_.,])");
  return std::regex_search(literal, begins) || std::regex_search(literal, inside);
}

TEST(Walls, ChecksOutsideTheReadersOfFilesNameNoJsonPointer) {
  // Rooms that read JSON. report reads results and traces back.
  const std::vector<std::string> readers{"src/json/", "src/formats/", "src/config/", "src/report/", "src/sweep/"};
  std::vector<std::string> found;
  for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, "src")) {
    if (below_any(file.path, readers)) continue;
    for (const std::string& literal : literals_of(file.text)) {
      if (has_pointer(literal)) found.push_back(file.path + ": " + literal);
    }
  }
  for (const std::string& line : found) ADD_FAILURE() << line << " should be a field: core::field()";
}

TEST(Walls, APointerIsCaught) {
  EXPECT_TRUE(has_pointer(R"("/cluster/nic/ports")"));
  EXPECT_TRUE(has_pointer(R"("/order")"));
  EXPECT_TRUE(has_pointer(R"("raise /cluster/servers, or use fewer ranks")"));
  EXPECT_FALSE(has_pointer(R"("/proc/self/status")"));
  EXPECT_FALSE(has_pointer(R"("raise {cluster.servers}")"));
  EXPECT_FALSE(has_pointer(R"(" / ")"));
  EXPECT_FALSE(has_pointer(R"("bytes/s")"));
  EXPECT_EQ(literals_of("#include \"a/b.hpp\"\n// \"c\"\nf(\"d\", R\"(e)\");"),
            (std::vector<std::string>{"\"d\"", "R\"(e)\""}));
}

/// The names of the table, as the files of the policies give them.
std::set<std::string> policies() {
  static const std::regex name(R"rx(\bname = "([a-z_0-9]+)")rx");
  std::set<std::string> names;
  for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, "src/control")) {
    for (std::sregex_iterator at(file.text.begin(), file.text.end(), name), end; at != end; ++at) names.insert((*at)[1]);
  }
  return names;
}

TEST(Walls, NoPolicyIsKnownByNameOutsideItsFile) {
  // The same word for another thing, and the one place that names the absence of a policy.
  const std::set<std::pair<std::string, std::string>> other_meanings{
      {"include/photonrail/controller.hpp", "electrical"},   // kNoPolicy
      {"src/config/scenario_rail.cpp", "electrical"},        // a kind of rail
      {"src/formats/card/reader.cpp", "electrical"},         // a kind of rail
      {"src/formats/astra/scenario.cpp", "electrical"},      // a kind of rail
      {"src/formats/infragraph/reader.cpp", "electrical"},   // a kind of rail
      {"src/report/run_json.cpp", "electrical"},             // a kind of rail
      {"tools/photonrail/init.cpp", "electrical"},           // a kind of rail
      {"tools/photonrail/help_commands.cpp", "electrical"},  // a kind of rail
      {"src/device/presets.cpp", "rotor"},                   // a switch
      {"src/cost/network_shape.cpp", "opus_artifact"},       // a cost rule
      {"src/config/catalogue_reader.cpp", "opus_artifact"},  // a cost rule
      {"include/photonrail/testing/tiny_job.hpp", "opus"},   // what small jobs run under when a test names none
  };
  const std::set<std::string> names = policies();
  ASSERT_GE(names.size(), 10u) << "the checker finds hardly any policy";
  for (const char* folder : {"include", "src", "tools"}) {
    for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
      if (file.path.starts_with("src/control/")) continue;
      for (const std::string& literal : literals_of(file.text)) {
        const std::string word = literal.substr(1, literal.size() - 2);
        if (!names.contains(word) || other_meanings.contains({file.path, word})) continue;
        ADD_FAILURE() << file.path << " knows the policy " << literal;
      }
    }
  }
}

TEST(Walls, ATestNamesEveryPrivateHeaderOfTheKernel) {
  std::set<std::string> named;
  for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, "tests")) {
    for (const Include& include : includes_of(file.text)) named.insert(include.name);
  }
  for (const char* room : {"network", "execution", "control_plane", "folding", "fabric"}) {
    for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, std::string("src/") + room)) {
      if (!file.path.ends_with(".hpp")) continue;
      EXPECT_TRUE(named.contains(file.path.substr(4))) << "no test names " << file.path;
    }
  }
}

TEST(Walls, DecisionsHaveNumbersOfTheirOwn) {
  std::set<std::string> numbers;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "docs/decisions")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".md" && std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
      EXPECT_TRUE(numbers.insert(name.substr(0, 4)).second) << name;
    }
  }
  EXPECT_GE(numbers.size(), 20u);
}

}  // namespace
}  // namespace photonrail::test
