// What README and docs/ show is run as printed: commands in a folder that has what a checkout has (configs/, traces/) and
// what docs/examples has; JSON is read, C++ is that of a file which is compiled.
#include "command/command.hpp"
#include "schema/schema.hpp"
#include "support/json_schema.hpp"
#include "support/page_blocks.hpp"
#include "support/shared_data.hpp"
#include "support/source_dir.hpp"
#include "support/test_cases.hpp"

#include <map>
#include <regex>
#include <sstream>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

const fs::path kSource = PHOTONRAIL_SOURCE_DIR;

std::vector<fs::path> pages() {
  std::vector<fs::path> all{kSource / "README.md", kSource / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "docs")) {
    const std::string folder = entry.path().parent_path().filename().string();
    if (entry.path().extension() == ".md" && folder != "decisions" && folder != "site") all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The command without what is said beside it.
std::string without_comment(const std::string& line) {
  return std::regex_replace(line, std::regex(" {2,}(#.*)?[^ ].*$| +$"), "");
}

// A line that says what a command takes, with words in capitals for what is to be filled in.
bool is_usage(const std::string& line) {
  static const std::regex kToFillIn(R"((^| |/|\[)([A-Z]{1,}[A-Z_]*(\.[a-z]+)?)( |$|\]|/|:|=|\|)|\.\.\.|\||\[)");
  const std::string unquoted = std::regex_replace(line, std::regex("'[^']*'|\"[^\"]*\""), "");
  return std::regex_search(unquoted, kToFillIn) && unquoted.find("&&") == std::string::npos;
}

struct Line {
  std::string where;  ///< "network.md:12"
  std::string text;
};

std::vector<Line> command_lines(const fs::path& page) {
  std::vector<Line> all;
  for (const PageBlock& block : blocks_of(read(page))) {
    std::size_t number = block.line;
    for (const std::string& line : split_lines(std::regex_replace(block.text, std::regex(R"(\\\n *)"), ""))) {
      const std::string where = page.filename().string() + ":" + std::to_string(number++);
      const bool is_command = line.starts_with("photonrail ") || line.starts_with("c++ ");
      if (is_command && block.language != "cpp") all.push_back({where, line});
    }
  }
  return all;
}

// Whether only the night runs the command as printed: some minutes, or some seconds of what another test runs from the same
// file (Planner.MegatronOnTheSystemOfCalculon, Goodput.TheLargeConfigsRun).
bool is_for_the_night(const Line& line) {
  return line.text.find("# some minutes") != std::string::npos ||
         line.text.starts_with("photonrail plan configs/plans/megatron-1t-a100.json") ||
         line.text.starts_with("photonrail goodput configs/goodput/llama3-16384.json ");
}

class Snippets : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    for (const char* name : {"configs", "traces", "docs", "include"})
      fs::create_directory_symlink(kSource / name, folder_ / name);
    for (const auto& entry : fs::directory_iterator(kSource / "docs/examples")) {
      fs::copy_file(entry.path(), folder_ / entry.path().filename());
    }
    ::setenv("PATH", (fs::path(PHOTONRAIL_COMMAND).parent_path().string() + ":" + path_).c_str(), 1);
    ::setenv("CPLUS_INCLUDE_PATH", (kSource / "include").c_str(), 1);  // as an installed library is found
    if (const auto data = shared_data()) ::setenv("PHOTONRAIL_SHARED_DATA", data->c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("CPLUS_INCLUDE_PATH");
    Command::TearDown();
  }

  [[nodiscard]] Outcome shell(const std::string& line) const {
    const std::string whole = "cd '" + folder_.string() + "' && (" + line + ") >.out 2>.err </dev/null";
    const int status = std::system(whole.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(folder_ / ".out"), read(folder_ / ".err")};
  }

  std::string path_ = std::getenv("PATH");
};

TEST_F(Snippets, EveryCommandRunsAsPrinted) {
  int run = 0;
  for (const fs::path& page : pages()) {
    for (const Line& line : command_lines(page)) {
      const std::string command = without_comment(line.text);
      if (is_usage(command) || (is_for_the_night(line) && test_cases(0) == 0)) continue;
      const Outcome outcome = shell(command);
      const bool names_data =
          outcome.err.find("trace") != std::string::npos || outcome.err.find("PHOTONRAIL_SHARED_DATA") != std::string::npos;
      const bool without_data = !shared_data() && names_data;
      const bool without_page = outcome.err.find("no page for reports") != std::string::npos;
      if (outcome.status != 0 && (without_data || without_page)) {
        std::cout << "NOT RUN, NOT CHECKED: " << line.where << ": " << outcome.err;
        continue;
      }
      EXPECT_EQ(outcome.status, 0) << line.where << ": " << command << "\n" << outcome.err;
      ++run;
    }
  }
  EXPECT_GT(run, 10);
}

// Of usage lines the commands and options exist, and so do those that the text names.
TEST_F(Snippets, EveryOptionThatIsNamedIsOne) {
  std::map<std::string, std::string> help;
  const auto help_of = [&](const std::string& command) -> const std::string& {
    std::string& text = help[command];
    if (text.empty()) text = run(command + " --help").out + run("--help").out;
    return text;
  };
  const std::regex usage(
      R"(photonrail ((?:sweep status|sweep merge|trace info|trace export|card import|card export|import astra|import chakra|import infragraph|export infragraph|)"
      R"(collective info|collective export|collective synthesize|)"
      R"(operators info|operators check|operators import|operators exchange|[a-z][a-z-]*)))");
  const std::regex option("(^| |\\[|\\|)(--[a-z][a-z-]*)");
  int checked = 0;
  for (const fs::path& page : pages()) {
    for (const Line& line : command_lines(page)) {
      // Several commands may stand in one line.
      for (std::sregex_iterator at(line.text.begin(), line.text.end(), usage), end; at != end; ++at) {
        const auto begin = static_cast<std::size_t>(at->position());
        const std::size_t next = line.text.find("photonrail ", begin + 1);
        const std::string part = line.text.substr(begin, next == std::string::npos ? next : next - begin);
        const std::string& text = help_of((*at)[1]);
        EXPECT_THAT(text, HasSubstr("Usage: ")) << line.where << ": " << (*at)[1];
        for (std::sregex_iterator o(part.begin(), part.end(), option); o != end; ++o) {
          EXPECT_THAT(text, HasSubstr((*o)[2])) << line.where << ": " << part;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 40);
}

TEST_F(Snippets, EveryJsonIsReadAndThatOfAFormatValid) {
  int checked = 0;
  std::map<std::string, json> schemas;
  for (const fs::path& page : pages()) {
    for (PageBlock& block : blocks_of(read(page))) {
      block.text = block.text.substr(0, block.text.find("\nphotonrail "));  // a command beside it
      const bool json_text = block.language == "json" || (block.language.empty() && block.text.starts_with("{"));
      if (!json_text || block.text.find("\n  ...") != std::string::npos) continue;  // a part of it is left out
      const std::string where = page.filename().string() + ":" + std::to_string(block.line);
      json value;
      ASSERT_NO_THROW(value = json::parse(block.text, nullptr, true, true)) << where;
      const std::string schema = value.value("schema", "");
      const std::string format = schema.starts_with("photonrail.") ? schema.substr(11, schema.find('/') - 11) : "";
      const auto& known = schema_formats();
      if (std::find(known.begin(), known.end(), format) == known.end()) continue;
      // A policy of a plug-in; sections that come from other files.
      if (block.text.find("oldest_first") != std::string::npos || value.contains("astra")) continue;
      json& of_format = schemas[format];
      if (of_format.is_null()) of_format = json::parse(json_schema(format));
      EXPECT_EQ(JsonSchema(of_format).problem(value), "") << where;
      ++checked;
    }
  }
  EXPECT_GE(checked, 2);
}

// tests/examples compares these blocks with the files, which are compiled and run.
TEST_F(Snippets, EveryBlockOfCodeIsThatOfAFile) {
  int blocks = 0;
  for (const fs::path& page : pages()) {
    for (const PageBlock& block : blocks_of(read(page))) {
      if (block.language != "cpp") continue;
      EXPECT_THAT(block.before, ::testing::StartsWith("<!-- examples/")) << page << ":" << block.line;
      ++blocks;
    }
  }
  EXPECT_GT(blocks, 10);
}

// What builds and tests the project cannot run inside its own tests: that it is there is checked.
TEST_F(Snippets, WhatBuildsAndTestsIsThere) {
  const json presets = json::parse(read(kSource / "CMakePresets.json"));
  const std::string all = presets["workflowPresets"].dump();
  const std::regex preset("cmake --workflow --preset ([a-z-]+)");
  const std::regex script("bash ((?:tools|tests)/[a-z/_.-]+)");
  int checked = 0;
  for (const fs::path& page : pages()) {
    const std::string text = read(page);
    for (std::sregex_iterator at(text.begin(), text.end(), preset), end; at != end; ++at, ++checked) {
      EXPECT_THAT(all, HasSubstr("\"name\":\"" + (*at)[1].str() + "\"")) << page;
    }
    for (std::sregex_iterator at(text.begin(), text.end(), script), end; at != end; ++at, ++checked) {
      EXPECT_TRUE(fs::exists(kSource / (*at)[1].str())) << page << ": " << (*at)[1];
    }
  }
  EXPECT_GT(checked, 5);
}

}  // namespace
}  // namespace photonrail::test
