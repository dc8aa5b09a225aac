// What the README shows is what the command prints.
#include "command/command.hpp"
#include "support/source_dir.hpp"

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

}  // namespace
}  // namespace photonrail::test
