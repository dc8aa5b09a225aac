#include "photonrail/report.hpp"
#include "report/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::test {
namespace {

using std::chrono::milliseconds;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

RunResult run(std::string name, std::vector<RankTime> ranks) {
  RunResult result;
  result.name = std::move(name);
  result.ranks = std::move(ranks);
  result.makespan = result.ranks.front().total();
  result.iterations = {result.makespan};
  return result;
}

RunResult electrical() { return run("electrical", {{milliseconds(6), milliseconds(4), {}, {}}}); }

RunResult optical() {
  RunResult result = run("optical", {{milliseconds(6), milliseconds(4), milliseconds(5), milliseconds(5)}});
  result.reconfigurations.count = 4;
  result.reconfigurations.critical_path = 2;
  result.reconfigurations.total = milliseconds(8);
  result.reconfigurations.exposed = milliseconds(2);
  result.traffic[static_cast<std::size_t>(Dimension::kDp)] = {Bytes{16'777'216}, 9, milliseconds(4), milliseconds(3)};
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string line_with(const std::string& text, std::string_view beginning) {
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with(beginning)) return line;
  }
  ADD_FAILURE() << "no line begins with " << beginning << " in\n" << text;
  return {};
}

std::size_t count(std::string_view text, std::string_view glyph) {
  std::size_t n = 0;
  for (auto at = text.find(glyph); at != std::string_view::npos; at = text.find(glyph, at + glyph.size())) ++n;
  return n;
}

TEST(Table, NamesStepTimesAndTheDifference) {
  const std::vector<RunResult> runs{electrical(), optical()};
  const std::string table = to_table(runs);
  EXPECT_THAT(line_with(table, "step time"), ContainsRegex("10\\.00 ms +20\\.00 ms"));
  EXPECT_THAT(line_with(table, "  against electrical"), HasSubstr("+100.0 %"));  // 20 ms against 10 ms
  EXPECT_THAT(line_with(table, "  █ compute"), ContainsRegex("60\\.0 % +30\\.0 %"));
  EXPECT_THAT(line_with(table, "  ╳ reconfiguration wait"), ContainsRegex("0\\.0 % +25\\.0 %"));
  EXPECT_THAT(line_with(table, "reconfigurations"), ContainsRegex("0 +4$"));
  EXPECT_THAT(line_with(table, "  on the critical path"), ContainsRegex("0 +2$"));
  EXPECT_THAT(line_with(table, "  hidden"), ContainsRegex("– +75\\.0 %"));  // 1 - 2 ms / 8 ms; none to hide
  EXPECT_THAT(line_with(table, "dp on the wire"), ContainsRegex("– +16\\.78 MB"));
  EXPECT_THAT(table, Not(HasSubstr("tp on the wire")));
}

TEST(Table, BarsAreToScaleAndTellThePartsApart) {
  const std::vector<RunResult> runs{electrical(), optical()};
  const auto lines = lines_of(to_table(runs, false, 100));
  const std::string& half = lines.at(1);
  const std::string& full = lines.at(2);
  // The longest run's bar fills what the name (10 columns), the time (8) and two gaps of 2 leave of 100: 78 columns,
  // cut at 30 %, 50 %, 75 % and 100 % of it: 23.4, 39, 58.5 and 78, rounded 23, 39, 59 and 78.
  EXPECT_EQ(count(full, "█"), 23u);
  EXPECT_EQ(count(full, "▒"), 16u);
  EXPECT_EQ(count(full, "╳"), 20u);
  EXPECT_EQ(count(full, "·"), 19u);
  EXPECT_EQ(count(half, "█") + count(half, "▒"), 39u);  // half as long
  EXPECT_EQ(count(half, "╳") + count(half, "·"), 0u);
}

TEST(Table, ColourIsOnlyThereWhenAskedFor) {
  const std::vector<RunResult> runs{optical()};
  EXPECT_THAT(to_table(runs, false), Not(HasSubstr("\x1b")));
  const std::string coloured = to_table(runs, true);
  EXPECT_THAT(coloured, HasSubstr("\x1b[31m╳"));
  EXPECT_EQ(count(coloured, "\x1b[0m"), 4u);  // each of the four parts is closed
}

TEST(Table, LaterStepsAreReportedApartFromTheFirst) {
  RunResult slow_start = electrical();
  slow_start.iterations = {milliseconds(9), milliseconds(4), milliseconds(6)};
  RunResult steady = electrical();
  steady.iterations = {milliseconds(9), milliseconds(6), milliseconds(6)};
  const std::string table = to_table(std::vector<RunResult>{slow_start, steady});
  EXPECT_THAT(line_with(table, "first step"), ContainsRegex("9\\.000 ms +9\\.000 ms"));
  EXPECT_THAT(line_with(table, "later steps, mean"), ContainsRegex("5\\.000 ms +6\\.000 ms"));
  EXPECT_THAT(line_with(table, "  against"), HasSubstr("+20.0 %"));  // 6 ms against 5 ms
}

TEST(Table, NoWidthAndNoNameBreaksIt) {
  std::vector<RunResult> runs;
  for (const char* name :
       {"", "x", "llama3_8b_tp4_pp2_dp2_fsdp_on_demand_10ms", "llama3_8b_tp4_pp2_dp2_fsdp_provisioned_10ms",
        "größere Schrittweite für längere Läufe", "two\nlines\x1b[31m"}) {
    runs.push_back(optical());
    runs.back().name = name;
  }
  for (int width = 60; width <= 200; ++width) {
    for (std::size_t n = 1; n <= runs.size(); ++n) {
      const auto table = to_table(std::span(runs).first(n), false, width);
      EXPECT_EQ(count(table, "25.0 %"), 2 * n);  // reconfiguration wait and waiting for peers: each run once
      for (const std::string& line : lines_of(table)) {
        ASSERT_LE(report::columns(line), static_cast<std::size_t>(width)) << line;
        ASSERT_THAT(line, Not(HasSubstr("\x1b")));
      }
    }
  }
}

TEST(Table, EmptyRunsAreNoTrouble) {
  EXPECT_EQ(to_table(std::vector<RunResult>{}), "");
  EXPECT_THAT(to_table(std::vector<RunResult>(2)), HasSubstr("step time"));
}

TEST(Text, DurationsHaveFourDigitsAndAUnit) {
  EXPECT_EQ(to_text(Duration{0}), "0 s");
  EXPECT_EQ(to_text(Duration{1}), "0.001 ns");
  EXPECT_EQ(to_text(Duration{936'250}), "936.2 ns");  // 936.25: a tie, and the last digit even
  EXPECT_EQ(to_text(Duration{999'949}), "999.9 ns");
  EXPECT_EQ(to_text(Duration{999'950}), "1.000 us");  // 999.95 would round to 1000.0
  EXPECT_EQ(to_text(Duration{1'234'567'890}), "1.235 ms");
  EXPECT_EQ(to_text(Duration{12'345'678'900}), "12.35 ms");
  EXPECT_EQ(to_text(Duration{5'000'000'000'000'000}), "5000 s");
}

TEST(Text, BytesCountInPowersOfThousand) {
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{999}), "999 B");
  EXPECT_EQ(to_text(Bytes{1'073'741'824}), "1.074 GB");
  EXPECT_EQ(to_text(Bytes{5'000'000'000'000}), "5000 GB");
}

TEST(Text, ALongNameLosesItsFront) {
  EXPECT_EQ(report::fit("on_demand", 9), "on_demand");
  EXPECT_EQ(report::fit("abcdefghij", 5), "…ghij");
  EXPECT_EQ(report::fit("äöüäöüäöü", 4), "…äöü");
  using Names = std::vector<std::string>;
  EXPECT_EQ(report::fit_apart({"a job on 1024 GPUs, photonic", "a job on 8192 GPUs, photonic", "another"}, 14),
            (Names{"…1024 GPUs, p…", "…8192 GPUs, p…", "another"}));
  EXPECT_EQ(report::fit_apart({"one and the same name", "one and the same name"}, 9), (Names{"…ame name", "…ame name"}));
  EXPECT_EQ(report::fit_apart({"abcdefghi-1-abcdefghi", "abcdefghi-2-abcdefghi"}, 9), (Names{"…ghi-1-a…", "…ghi-2-a…"}));
  EXPECT_EQ(report::fit_apart({"a b ä", "a b ö"}, 9), (Names{"a b ä", "a b ö"}));
  EXPECT_EQ(report::columns("█▒╳·–…"), 6u);
}

// Of a run that has all there is to say, no label is cut off.
TEST(Table, HasRoomForEveryLabel) {
  RunResult all = optical();
  all.reconfigurations.blocking = BlockingSummary{3, 12, 19, 6.75};
  all.iterations = {milliseconds(20), milliseconds(20)};
  all.alone = milliseconds(10);
  all.work.emplace();
  all.memory.emplace_back();
  all.infeasible = "too large";
  all.ranks.front().detection = milliseconds(1);
  for (DimensionTraffic& traffic : all.traffic) traffic.operations = 1;
  const RunResult results[] = {all};
  const std::string text = to_table(results, false, 100);
  EXPECT_THAT(text, Not(HasSubstr("…")));
  EXPECT_THAT(line_with(text, "  circuits that waited"), ::testing::EndsWith(" 3"));
  EXPECT_THAT(line_with(text, "  circuits displaced"), ::testing::EndsWith(" 12"));
}

// Several jobs: a job of 10 ms and one of 40, together 50 since the second begins after 10.
RunResult jobs_of(std::string name, milliseconds first, milliseconds second) {
  RunResult all = run(std::move(name), {{milliseconds(50), {}, {}, {}}});
  all.iterations.clear();
  all.jobs = {run("a", {{first, {}, {}, {}}}), run("b", {{second, {}, {}, {}}})};
  for (RunResult& job : all.jobs) job.alone = job.makespan;
  return all;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

TEST(Table, OfSeveralJobsComparesNoJobWithAllOfThem) {
  const RunResult one = jobs_of("one", milliseconds(10), milliseconds(40));
  const std::string table = to_table(std::span(&one, 1));
  EXPECT_THAT(table, Not(HasSubstr("against")));
  EXPECT_THAT(words_of(line_with(table, "step time")), ElementsAre("step", "time", "–", "10.00", "ms", "40.00", "ms"));
  EXPECT_THAT(words_of(line_with(table, "whole run")),
              ElementsAre("whole", "run", "50.00", "ms", "10.00", "ms", "40.00", "ms"));
}

TEST(Table, ComparesJobsWithTheJobsOfTheirNames) {
  // Of the second scenario a takes 15 ms and not 10, b 20 and not 40; both together are as long.
  std::vector<RunResult> both = {jobs_of("one", milliseconds(10), milliseconds(40)),
                                 jobs_of("two", milliseconds(15), milliseconds(20))};
  EXPECT_THAT(words_of(line_with(to_table(both, false, 200), "  against one")),
              ElementsAre("against", "one", "–", "–", "–", "+0.0", "%", "+50.0", "%", "-50.0", "%"));
  both[1].jobs[0].name = "c";  // the first scenario has no such job
  EXPECT_THAT(words_of(line_with(to_table(both, false, 200), "  against one")),
              ElementsAre("against", "one", "–", "–", "–", "+0.0", "%", "–", "-50.0", "%"));
  both[1] = electrical();  // a run of one job is not like several
  EXPECT_THAT(to_table(both, false, 200), Not(HasSubstr("against")));
}

}  // namespace
}  // namespace photonrail::test
