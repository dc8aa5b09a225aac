// What a part must not know: JSON pointers outside the rooms that read JSON, policies by name outside their own files; and
// parts of the kernel that no test builds alone.
#include "architecture/class_text.hpp"
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
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
  // Rooms that read JSON. report reads results and traces back. A note, and what more of a resource gives, name the key
  // that the user would change.
  const std::vector<std::string> readers{"src/json/",   "src/formats/",      "src/config/",
                                         "src/astra/",  "src/report/",       "src/studies/",
                                         "src/schema/", "src/run/notes.cpp", "src/run/worth.cpp"};
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
      {"src/astra/files/scenario.cpp", "electrical"},        // a kind of rail
      {"src/formats/infragraph/reader.cpp", "electrical"},   // a kind of rail
      {"src/report/run_json.cpp", "electrical"},             // a kind of rail
      {"src/studies/plan/command.cpp", "electrical"},        // a kind of rail
      {"tools/photonrail/init.cpp", "electrical"},           // a kind of rail
      {"tools/photonrail/import_trace.cpp", "electrical"},   // a kind of rail
      {"tools/photonrail/help_commands.cpp", "electrical"},  // a kind of rail
      {"src/device/presets.cpp", "rotor"},                   // a switch
      {"src/studies/sweep/database.cpp", "phases"},          // of a run, in tables
      {"src/studies/sweep/record.cpp", "phases"},            // of a run, in tables
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

/// A class that a private header defines; a value (struct) comes with the class that makes it.
struct HeaderClass {
  std::string name;
  std::string bases;  ///< as written, with their access
  std::string path;
};

std::vector<HeaderClass> classes_of_headers(const std::string& room) {
  static const std::regex head(R"rx((?:^|\n)class (\w+)(?: final)?\s*(?::([^;{]*))?\{)rx");
  std::vector<HeaderClass> found;
  for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, "src/" + room)) {
    if (!file.path.ends_with(".hpp")) continue;
    const std::string code = code_only(file.text);
    for (std::sregex_iterator at(code.begin(), code.end(), head), end; at != end; ++at) {
      found.push_back({(*at)[1], (*at)[2], file.path});
    }
  }
  return found;
}

/// The position of the first character at or after `at` that is none of `skipped`.
std::size_t past(std::string_view code, std::size_t at, std::string_view skipped) {
  return std::min(code.find_first_not_of(skipped, at), code.size());
}

/// Whether the name in code[begin, end) makes an object or implements a class: `Name object(`, `Name{`, `<Name>`, `: Name`.
bool makes(std::string_view code, std::size_t begin, std::size_t end) {
  std::size_t before = begin;
  while (before > 0 && (is_word(code[before - 1]) || code[before - 1] == ':')) --before;
  std::size_t next = past(code, end, " ");
  if (before > 0 && code[before - 1] == '<' && next < code.size() && code[next] == '>') return true;
  const std::size_t last = before == 0 ? std::string_view::npos : code.find_last_not_of(" \n", before - 1);
  const std::string_view access = code.substr(0, last == std::string_view::npos ? 0 : last + 1);
  const bool listed =
      access.ends_with(':') || access.ends_with(',') || access.ends_with("public") || access.ends_with("private");
  if (listed && next < code.size() && (code[next] == '{' || code[next] == ',' || code[next] == '\n')) return true;
  while (next < code.size() && is_word(code[next])) ++next;
  next = past(code, next, " ");
  return next < code.size() && (code[next] == '(' || code[next] == '{' || code[next] == ';');
}

/// The classes that a test makes or implements. An include line or the name of a test is no use.
std::set<std::string> classes_made_by(const std::string& text) {
  std::set<std::string> names;
  const std::string code = code_only(text);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!is_word(code[i])) continue;
    const std::size_t end = i + first_word(std::string_view(code).substr(i)).size();
    const std::string word = code.substr(i, end - i);
    if (word == "TEST" || word == "TEST_F" || word == "TEST_P") {
      i = code.find(')', end);
      continue;
    }
    if (std::isupper(static_cast<unsigned char>(word.front())) != 0 && makes(code, i, end)) names.insert(word);
    i = end;
  }
  return names;
}

TEST(Walls, ATestMakesEveryClassOfTheKernel) {
  std::set<std::string> made;
  for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, "tests")) {
    if (!file.path.starts_with("tests/architecture/")) made.merge(classes_made_by(file.text));
  }
  std::vector<HeaderClass> classes;
  for (const char* room : {"network", "execution", "control_plane", "folding", "fabric", "run"}) {
    for (HeaderClass& found : classes_of_headers(room)) classes.push_back(std::move(found));
  }
  EXPECT_GT(classes.size(), 80u) << "the checker finds hardly any class";
  for (const HeaderClass& c : classes) {
    // An interface is made with a class that implements it.
    const bool implemented = std::any_of(classes.begin(), classes.end(), [&](const HeaderClass& other) {
      return other.bases.find(c.name) != std::string::npos && made.contains(other.name);
    });
    EXPECT_TRUE(implemented || made.contains(c.name)) << "no test makes a " << c.name << " (" << c.path << ")";
  }
}

TEST(Walls, AnIncludeLineOrTheNameOfATestIsNoUse) {
  const std::set<std::string> made = classes_made_by(
      "#include \"a/sequencer.hpp\"\nTEST(Sequencer, Turns) {\n  // Sequencer s;\n  Agent agent{1};\n  run(Service(2));\n"
      "  Fixture<Queue> f;\n}\nstruct Fake : room::Listener {};\n");
  EXPECT_FALSE(made.contains("Sequencer"));
  for (const char* name : {"Agent", "Service", "Queue", "Listener"}) EXPECT_TRUE(made.contains(name)) << name;
}

/// The private headers that a class is made of, with the .cpp files of all of them, by path. `path`: of its .cpp file. What
/// the other .cpp files include is the business of those parts.
std::map<std::string, std::string> parts_of(const std::string& path, const std::map<std::string, std::string>& sources) {
  std::map<std::string, std::string> found;
  std::vector<std::string> next{path};
  while (!next.empty()) {
    const std::string part = next.back();
    next.pop_back();
    const auto source = sources.find(part);
    if (source == sources.end() || !found.insert(*source).second) continue;
    for (const Include& include : includes_of(source->second)) next.push_back("src/" + include.name);
  }
  for (const auto& [part, text] : std::map(found)) {
    const auto source = sources.find(part.substr(0, part.size() - 3) + "cpp");
    if (source != sources.end()) found.insert(*source);
  }
  return found;
}

/// The parts that name one of the words in their code.
std::set<std::string> parts_that_name(const std::set<std::string>& words, const std::map<std::string, std::string>& parts) {
  std::set<std::string> found;
  for (const auto& [path, text] : parts) {
    const std::string code = code_only(text);
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (!is_word(code[i])) continue;
      const std::string word(first_word(std::string_view(code).substr(i)));
      if (words.contains(word)) found.insert(path);
      i += word.size();
    }
  }
  return found;
}

// What chooses between runs (Rehearsals, EqualSteps) makes Runners; a Runner makes simulations.
TEST(Walls, ARunnerBuildsNoRunner) {
  std::map<std::string, std::string> sources;
  for (const SourceFile& file : sources_below(PHOTONRAIL_SOURCE_DIR, "src")) sources.emplace(file.path, file.text);
  std::map<std::string, std::string> parts = parts_of("src/run/runner.cpp", sources);
  EXPECT_TRUE(parts.contains("src/run/profiling_runs.cpp")) << "the checker does not follow include lines";
  const std::set<std::string> makers{"Runner", "Rehearsals", "run_job", "run_equal_steps", "simulate"};
  EXPECT_TRUE(parts_that_name(makers, parts_of("src/run/rehearsals.cpp", sources)).contains("src/run/rehearsals.cpp"));
  parts.erase("src/run/runner.hpp");
  std::string& own = parts["src/run/runner.cpp"];
  static const std::regex members(R"(Runner::(Runner\()?)");
  own = std::regex_replace(own, members, "");
  EXPECT_THAT(parts_that_name(makers, parts), ::testing::IsEmpty());
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
