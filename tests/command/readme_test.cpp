// What the README shows is what the command prints.
#include "command/command.hpp"
#include "support/source_dir.hpp"

#include <sstream>

namespace photonrail::test {
namespace {

// The first fenced block after a marker.
std::string block_after(const std::string& text, const std::string& marker) {
  const std::size_t fence = text.find("```", text.find(marker));
  const std::size_t begin = text.find('\n', fence) + 1;
  return text.substr(begin, text.find("```", begin) - begin);
}

class Readme : public Command {};

TEST_F(Readme, TheTableOfTheStartIsTheOneThatTheCommandPrints) {
  const fs::path source = PHOTONRAIL_SOURCE_DIR;
  const std::string readme = read(source / "README.md");
  ASSERT_NE(readme.find("<!-- start-output -->"), std::string::npos);
  // The same scenarios as tools/quickstart runs, in its order.
  const std::string script = read(source / "tools" / "quickstart");
  std::string scenarios;
  for (const char* name : {"quickstart-electrical", "quickstart-on-demand", "quickstart"}) {
    ASSERT_NE(script.find("configs/" + std::string(name) + ".json"), std::string::npos);
    scenarios += " '" + (source / "configs" / (std::string(name) + ".json")).string() + "'";
  }
  const Outcome outcome = run("run" + scenarios);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, block_after(readme, "<!-- start-output -->"));
}

TEST_F(Readme, TheStartEndsWithThePageThatItShows) {
  const fs::path source = PHOTONRAIL_SOURCE_DIR;
  const std::string script = read(source / "tools" / "quickstart");
  const std::size_t last = script.find("report out/quickstart", script.find("--out out/quickstart --trace"));
  ASSERT_NE(last, std::string::npos);
  EXPECT_EQ(script.find("$photonrail", last), std::string::npos) << "something comes after the page";
  EXPECT_NE(read(source / "README.md").find("`out/quickstart/report.html`"), std::string::npos);
  const fs::path config = source / "configs" / "quickstart.json";
  ASSERT_EQ(run("run '" + config.string() + "' --out out/quickstart --trace --quiet").status, 0);
  const Outcome outcome = run("report out/quickstart");
  if (outcome.err.find("no page for reports") != std::string::npos)
    GTEST_SKIP() << "THE PAGE IS NOT TESTED: " << outcome.err;
  EXPECT_EQ(outcome.out, "wrote out/quickstart/report.html\n");
}

TEST_F(Readme, NamesEveryCommand) {
  const std::string readme = read(fs::path(PHOTONRAIL_SOURCE_DIR) / "README.md");
  const std::string help = run("--help").out;
  std::istringstream lines(help.substr(help.find("Subcommands:\n")));
  std::size_t commands = 0;
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    if (!line.starts_with("  ") || line.starts_with("   ") || !(words >> name)) continue;
    ++commands;
    EXPECT_NE(readme.find("photonrail " + name + " "), std::string::npos) << name;
  }
  EXPECT_GT(commands, 15u);
}

}  // namespace
}  // namespace photonrail::test
