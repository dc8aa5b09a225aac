// Completion scripts and manual pages.
#include "command/command.hpp"

#include <set>
#include <sstream>

namespace photonrail::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Completion : public Command {
 protected:
  // What bash offers for the last of `words`.
  [[nodiscard]] std::set<std::string> offered(const std::vector<std::string>& words) const {
    std::string line = "cd '" + folder_.string() + "' && bash -c 'source ./script; COMP_WORDS=(photonrail";
    for (const std::string& word : words) line += " \"" + word + "\"";
    line +=
        "); COMP_CWORD=" + std::to_string(words.size()) + "; _photonrail; printf \"%s\\n\" \"${COMPREPLY[@]}\"' >offered";
    EXPECT_EQ(std::system(line.c_str()), 0);
    std::istringstream text(read(folder_ / "offered"));
    std::set<std::string> all;
    for (std::string word; std::getline(text, word);) all.insert(word);
    return all;
  }

  [[nodiscard]] bool there_is(const std::string& program) const {
    return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
  }
};

TEST_F(Completion, BashCompletesCommandsOptionsAndWords) {
  ASSERT_EQ(run("completion bash").status, 0);
  fs::copy_file(folder_ / ".out", folder_ / "script");
  ASSERT_EQ(std::system(("bash -n '" + (folder_ / "script").string() + "'").c_str()), 0);
  EXPECT_EQ(offered({"swe"}), std::set<std::string>{"sweep"});
  EXPECT_THAT(offered({""}), ::testing::AllOf(Contains("run"), Contains("init"), Contains("completion")));
  EXPECT_EQ(offered({"run", "--trace-r"}), std::set<std::string>{"--trace-ranks"});
  EXPECT_THAT(offered({"run", "--"}), ::testing::AllOf(Contains("--out"), Contains("--plugin"), Not(Contains("--jobs"))));
  EXPECT_EQ(offered({"trace", "ex"}), std::set<std::string>{"export"});
  EXPECT_EQ(offered({"trace", "export", "--pre"}), std::set<std::string>{"--prefix"});
  EXPECT_EQ(offered({"list", "cont"}), std::set<std::string>{"controllers"});
  EXPECT_EQ(offered({"schema", "sc"}), std::set<std::string>{"scenario"});
  EXPECT_EQ(offered({"run", "--set", "/cluster/nic/port"}),
            (std::set<std::string>{"/cluster/nic/ports=", "/cluster/nic/port_gb_per_s="}));
  EXPECT_EQ(offered({"run", "--set", "/controller/dut"}), std::set<std::string>{"/controller/duty="});
  write("my_scenario.json", tiny("mine"));
  EXPECT_EQ(offered({"run", "my_"}), std::set<std::string>{"my_scenario.json"});
}

TEST_F(Completion, ZshAndFishScriptsHaveTheSameWords) {
  for (const char* shell : {"zsh", "fish"}) {
    const Outcome outcome = run(std::string("completion ") + shell);
    ASSERT_EQ(outcome.status, 0);
    for (const char* word : {"sweep", "launcher", "trace-ranks", "plugin", "controllers", "/cluster/servers"})
      EXPECT_THAT(outcome.out, HasSubstr(word)) << shell;
    if (!there_is(shell)) {
      std::cout << "THE SCRIPT FOR " << shell << " IS NOT PARSED: there is no such shell here\n";
      continue;
    }
    EXPECT_EQ(std::system((std::string(shell) + " -n '" + (folder_ / ".out").string() + "'").c_str()), 0) << shell;
  }
}

TEST_F(Completion, EachCommandHasAManualPage) {
  ASSERT_EQ(run("man pages").status, 0);
  for (const char* page : {"photonrail", "photonrail-run", "photonrail-sweep-status", "photonrail-init"}) {
    EXPECT_THAT(read(folder_ / "pages" / (std::string(page) + ".1")), HasSubstr(".SH OPTIONS")) << page;
  }
  EXPECT_THAT(read(folder_ / "pages/photonrail-run.1"), HasSubstr("\\fB\\-\\-trace\\-ranks\\fR \\fIRANKS\\fR"));
  EXPECT_THAT(run("man").out, HasSubstr("\\fBsweep\\fR"));
  if (!there_is("man")) {
    std::cout << "THE PAGES ARE NOT FORMATTED: there is no man here\n";
    return;
  }
  const std::string line =
      "cd '" + folder_.string() + "' && MANROFFOPT= man --warnings -l pages/photonrail-run.1 >shown 2>warnings </dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(read(folder_ / "warnings"), "");
}

}  // namespace
}  // namespace photonrail::test
