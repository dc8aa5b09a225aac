// What a page is made of, as it is read from a database, a result and a trace.
#include "report/page_sources.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "report/packed.hpp"
#include "report/page.hpp"
#include "report/study_results.hpp"
#include "support/results_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;
using ParsedJson = nlohmann::json;
using report::PageTables;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PageSources : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] PageTables database() const {
    PageTables tables;
    report::read_results_database(folder_ / "results.db", tables);
    return tables;
  }
  void change(const std::string& sql) const {
    SQLite::Database((folder_ / "results.db").string(), SQLite::OPEN_READWRITE).exec(sql);
  }
  template <class F>
  static std::string error_of(F&& act) {
    try {
      act();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_ = fs::temp_directory_path() / ("photonrail_page_" + std::to_string(::getpid()));
};

FixturePoint two_controllers(std::size_t i) {
  if (i == 2) return {{{"controller", std::string("opus")}}, 3, {}, {}, "rank 0 waits"};
  FixturePoint point{{{"controller", std::string(i == 0 ? "electrical" : "opus")}},
                     i + 1,
                     {{"makespan_s", 1.5 + static_cast<double>(i)}},
                     {},
                     {}};
  if (i == 1) point.parameters["delay_ms"] = 15.0;
  if (i == 1) point.windows = {{0.0, 2}, {0.25, 6}};
  return point;
}

TEST_F(PageSources, ADatabaseBecomesColumns) {
  write_results(folder_, {"controller", "delay_ms"}, 3, two_controllers);
  const PageTables tables = database();
  EXPECT_EQ(tables.title, "made-up sweep");
  EXPECT_EQ(tables.failed, 1u);
  EXPECT_THAT(tables.notes, ElementsAre("1 of 3 points failed; point 2: rank 0 waits"));
  const ParsedJson points = read_back(tables.points.packed());
  EXPECT_THAT(cells(points, "name"), ElementsAre("point 0", "point 1", "point 2"));
  EXPECT_THAT(cells(points, "status"), ElementsAre("done", "done", "failed"));
  EXPECT_THAT(cells(points, "seed"), ElementsAre(1.0, 2.0, 3.0));
  EXPECT_THAT(cells(points, "controller"), ElementsAre("electrical", "opus", "opus"));
  EXPECT_THAT(cells(points, "delay_ms"), ElementsAre(nullptr, 15.0, nullptr));
  EXPECT_THAT(cells(points, "makespan_s"), ElementsAre(1.5, 2.5, nullptr));
  const ParsedJson windows = read_back(tables.windows.packed());
  EXPECT_THAT(cells(windows, "row"), ElementsAre(1.0, 1.0));
  EXPECT_THAT(cells(windows, "change"), ElementsAre("dp->pp", "dp->pp"));
  EXPECT_THAT(cells(windows, "length_s"), ElementsAre(0.0, 0.25));
  EXPECT_THAT(cells(windows, "count"), ElementsAre(2.0, 6.0));
}

TEST_F(PageSources, PointsThatWereNotRunLeaveNoGap) {
  write_results(folder_, {"controller"}, 3, two_controllers);
  change("DELETE FROM runs WHERE point = 0");
  const PageTables tables = database();
  EXPECT_THAT(tables.notes, ElementsAre(HasSubstr("1 of 2 points failed"), "2 of 3 points were run so far"));
  EXPECT_THAT(cells(tables.points.packed(), "makespan_s"), ElementsAre(2.5, nullptr));
  EXPECT_THAT(cells(tables.windows.packed(), "row"), ElementsAre(0.0, 0.0));
}

TEST_F(PageSources, AFolderThatCannotBeWrittenCanBeRead) {
  const fs::path odd = folder_ / "50% #1?";
  fs::create_directories(odd);
  write_results(odd, {"controller"}, 3, two_controllers);
  fs::permissions(odd, fs::perms::owner_read | fs::perms::owner_exec);
  PageTables tables;
  report::read_results_database(odd / "results.db", tables);
  fs::permissions(odd, fs::perms::owner_all);
  EXPECT_EQ(tables.points.rows, 3u);
}

TEST_F(PageSources, ADatabaseOfAnotherKindIsRefused) {
  write_results(folder_, {"controller"}, 1, two_controllers);
  change("UPDATE meta SET value = 'photonrail.results/2' WHERE key = 'schema'");
  EXPECT_THAT(error_of([&] { (void)database(); }),
              HasSubstr("its schema is \"photonrail.results/2\" (this version reads photonrail.results/1)"));
  change("DROP TABLE meta");
  EXPECT_THAT(error_of([&] { (void)database(); }), HasSubstr("results.db: cannot be read: no such table: meta"));
}

TEST_F(PageSources, SeriesMayBeAParameterOrSomeOfItsValues) {
  write_results(folder_, {"controller"}, 4, [](std::size_t i) {
    const char* const names[] = {"electrical", "opus, on demand", "opus", "on demand"};
    return FixturePoint{{{"controller", std::string(names[i])}}, 1, {{"makespan_s", 1.0}}, {}, {}};
  });
  const auto choices = [&](const std::string& series) {
    report::PageChoices wanted;
    wanted.series = series;
    return ParsedJson::parse(report::read_page_data(folder_, wanted).document)["choices"];
  };
  EXPECT_EQ(choices("controller"), ParsedJson({{"series", "controller"}}));
  EXPECT_EQ(choices("opus")["lines"], ParsedJson({"opus"}));
  EXPECT_EQ(choices("electrical,opus")["lines"], ParsedJson({"electrical", "opus"}));
  // A value may have a comma of its own: both ways to read the list give values, and the shorter names come first.
  EXPECT_EQ(choices("electrical, opus, on demand")["lines"], ParsedJson({"electrical", "opus", "on demand"}));
  EXPECT_THAT(error_of([&] { (void)choices("opus,nothing"); }), HasSubstr("there is no parameter \"opus,nothing\""));
}

TEST_F(PageSources, MonthsAndSlicesBecomeRows) {
  write_file(folder_ / "goodput.json", R"({"scenarios": [
    {"name": "a", "parameters": {"/reliability/spares": "2"}, "goodput": {"mean": 0.8, "low": 0.7, "high": 0.9},
     "ettr": {"mean": 0.85}, "shares": {"productive": {"mean": 0.85}, "lost": {"mean": 0.15}}, "step_s": 2}]})");
  write_file(folder_ / "week.svg", "<svg/>");
  PageTables months;
  ASSERT_TRUE(report::read_study_result(folder_, months));
  const ParsedJson points = read_back(months.points.packed());
  EXPECT_THAT(cells(points, "spares"), ElementsAre(2.0));
  EXPECT_THAT(cells(points, "goodput.share"), ElementsAre(0.8));
  EXPECT_THAT(cells(points, "goodput.lost_share"), ElementsAre(0.15));
  EXPECT_EQ(months.details.size(), 1u);
  const fs::path other = folder_ / "slices";
  fs::create_directories(other);
  write_file(other / "result.json", R"({"schema": "photonrail.allocation_result/1", "name": "pod", "streams": [
    {"policy": "p", "order": "fifo", "utilisation": 0.5, "mean_waiting_s": 3}], "waste": [{"domain": "d"}]})");
  PageTables slices;
  ASSERT_TRUE(report::read_study_result(other, slices));
  EXPECT_THAT(cells(read_back(slices.points.packed()), "utilisation"), ElementsAre(0.5));
  EXPECT_THAT(slices.notes, ElementsAre("result.json also has waste"));
  PageTables none;
  write_file(other / "result.json", "{}");
  EXPECT_FALSE(report::read_study_result(other, none));
}

RunResult result(const std::string& name, std::uint64_t seed) {
  RunResult run;
  run.name = name;
  run.seed = seed;
  run.makespan = std::chrono::milliseconds(1500);
  run.windows[{Dimension::kDp, Dimension::kPp}] = {{Duration{}, 2}, {std::chrono::milliseconds(250), 1}};
  run.warnings = {"a warning"};
  return run;
}

TEST_F(PageSources, AResultBecomesARow) {
  PageTables tables;
  fs::create_directories(folder_ / "second");
  write_file(folder_ / "result.json", to_json(result("one", 4)));
  write_file(folder_ / "second/result.json", to_json(result("one", 5)));
  EXPECT_EQ(report::read_run_result(folder_ / "result.json", tables), "one");
  EXPECT_EQ(report::read_run_result(folder_ / "second/result.json", tables), "one (second)");
  const ParsedJson points = read_back(tables.points.packed());
  EXPECT_THAT(cells(points, "scenario"), ElementsAre("one", "one (second)"));
  EXPECT_THAT(cells(points, "seed"), ElementsAre(4.0, 5.0));
  EXPECT_THAT(cells(points, "makespan_s"), ElementsAre(1.5, 1.5));
  EXPECT_THAT(cells(points, "per_rank_mean_s.compute"), ElementsAre(0.0, 0.0));
  EXPECT_THAT(cells(tables.windows.packed(), "count"), ElementsAre(2.0, 1.0, 2.0, 1.0));
  EXPECT_THAT(tables.notes, ElementsAre("one: a warning", "one (second): a warning"));
}

/// Rank 0 on GPU 1 of 2; it computes for 2 us, waits 1 us for its peer and 1 us for circuits, and communicates; the port of
/// its server switches for 1 us and is lit.
void write_trace(const fs::path& file) {
  constexpr auto us = [](std::int64_t n) { return std::chrono::microseconds(n); };
  TaskGraphBuilder builder(2);
  const auto group = builder.add_communicator("dp.0", {RankId{0}, RankId{1}}, Dimension::kDp);
  const auto program = builder.add_program();
  (void)builder.add_compute(program, 1.0, Bytes{}, "forward");
  (void)builder.add_collective(program, 0, CollectiveOp::kAllReduce, Bytes{1000}, "gradients");
  builder.assign(RankId{0}, program, {group});
  builder.assign(RankId{1}, program, {group});
  Scenario scenario;
  scenario.cluster.servers = 3;
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.gpu_of_rank = {GpuId{1}, GpuId{0}};
  scenario.graph = std::move(builder).build();
  using OperationState = OperationEvent::State;
  const auto operation = [&](Duration at, OperationState state) {
    return OperationEvent{Time{at}, 0, CommunicatorId{0}, CollectiveOp::kAllReduce, RankId{0}, TaskId{1}, state};
  };
  TraceWriter writer;
  writer.begin(scenario);
  writer.compute({Time{us(0)}, Time{us(2)}, RankId{0}, TaskId{0}, Stream::kGpu});
  writer.operation(operation(us(2), OperationState::kArrived));
  writer.operation(operation(us(3), OperationState::kWaitingForCircuits));
  writer.operation(operation(us(4), OperationState::kRunning));
  writer.operation(operation(us(8), OperationState::kDone));
  writer.circuit({Time{us(3)},
                  RailId{0},
                  {PortId{std::size_t{1}}, PortId{std::size_t{2}}},
                  CircuitState::kSwitching,
                  CommunicatorId{0}});
  writer.circuit(
      {Time{us(4)}, RailId{0}, {PortId{std::size_t{1}}, PortId{std::size_t{2}}}, CircuitState::kLit, CommunicatorId{0}});
  writer.end(Time{us(8)});
  writer.write(file);
}

TEST_F(PageSources, ATraceBecomesTracksAndSpans) {
  write_trace(folder_ / "trace.json");
  const ParsedJson trace = read_back(report::read_trace(folder_ / "trace.json", "made up"));
  EXPECT_EQ(trace["name"], "made up");
  EXPECT_DOUBLE_EQ(trace["end_s"].get<double>(), 8e-6);
  EXPECT_EQ(trace["cluster"]["optical"], true);
  EXPECT_EQ(trace["cluster"]["rank_of_gpu"], ParsedJson({1, 0, -1}));  // three servers of one GPU
  ASSERT_EQ(trace["tracks"].size(), 4u);
  EXPECT_EQ(trace["tracks"][0], ParsedJson({{"name", "rank 0 compute"}, {"rank", 0}}));
  EXPECT_EQ(trace["tracks"][1], ParsedJson({{"name", "rank 0 dp"}, {"rank", 0}}));
  EXPECT_EQ(trace["tracks"][2], ParsedJson({{"name", "rank 1 compute"}, {"rank", 1}}));
  EXPECT_EQ(trace["tracks"][3], ParsedJson({{"name", "rail 0 OCS port 1 (server 1)"}, {"rail", 0}, {"port", 1}}));
  const ParsedJson& spans = trace["spans"];
  EXPECT_THAT(cells(spans, "track"), ElementsAre(0.0, 1.0, 1.0, 1.0, 3.0, 3.0));
  EXPECT_THAT(cells(spans, "kind"),
              ElementsAre("compute", "waiting for peers", "waiting for circuits", "dp", "switching", "dp"));
  EXPECT_THAT(cells(spans, "name"), ElementsAre("forward", "waiting for peers", "waiting for circuits", "gradients",
                                                "switching → port 2, group dp.0", "lit → port 2, group dp.0"));
  EXPECT_EQ(cells(spans, "detail")[3], "all_reduce, group dp.0, 1000 B");
  EXPECT_EQ(cells(spans, "to")[5], 2.0);
  EXPECT_DOUBLE_EQ(cells(spans, "start_s")[3].get<double>(), 4e-6);
  EXPECT_DOUBLE_EQ(cells(spans, "duration_s")[3].get<double>(), 4e-6);
}

TEST_F(PageSources, ATraceThatIsNoneOfOursIsRefused) {
  const auto refused = [&](const std::string& text) {
    write_file(folder_ / "trace.json", text);
    return error_of([&] { (void)report::read_trace(folder_ / "trace.json", "x"); });
  };
  const char* hint = "it must be the trace.json of `photonrail run --trace` of this version";
  EXPECT_THAT(refused("{\"traceEvents\": ["), HasSubstr(hint));
  EXPECT_THAT(refused("[]"), HasSubstr(hint));
  EXPECT_THAT(refused("{\"traceEvents\": []}"), HasSubstr("otherData"));
  EXPECT_THAT(refused("{\"otherData\": {}, \"traceEvents\": []}"), HasSubstr("is not photonrail.trace/1"));
  EXPECT_THAT(refused("{\"otherData\": {\"schema\": \"photonrail.trace/1\"}, \"traceEvents\": [{\"ph\": \"X\"}]}"),
              HasSubstr(hint));
}

TEST_F(PageSources, ADamagedTraceIsToldByEventAndKey) {
  write_trace(folder_ / "trace.json");
  std::ifstream in(folder_ / "trace.json");
  const std::string sound{std::istreambuf_iterator<char>(in), {}};
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    text.replace(text.find(from), from.size(), to);
    write_file(folder_ / "trace.json", text);
    return error_of([&] { (void)report::read_trace(folder_ / "trace.json", "x"); });
  };
  EXPECT_THAT(damaged("\"ts\":", "\"t\":"), HasSubstr("trace.json: event 1: ts: is missing"));
  EXPECT_THAT(damaged("\"pid\":1", "\"pid\":-1"),
              HasSubstr("event 1: pid: must be a whole number from 0 to 2^32 - 1, not -1"));
  EXPECT_THAT(damaged("\"to\":\"2\"", "\"to\":\"99999999999\""), HasSubstr("to: names no port: \"99999999999\""));
  EXPECT_THAT(damaged("\"tid\":1", "\"tid\":77"), HasSubstr("is of a thread that has no thread_name"));
  EXPECT_THAT(damaged("\"name\":\"process_name\"", "\"name\":\"other\""), HasSubstr("has no process_name"));
}

TEST_F(PageSources, ADamagedResultIsToldByItsPointer) {
  const std::string sound = to_json(result("one", 4));
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    text.replace(text.find(from), from.size(), to);
    write_file(folder_ / "result.json", text);
    PageTables tables;
    return error_of([&] { (void)report::read_run_result(folder_ / "result.json", tables); });
  };
  EXPECT_THAT(damaged("\"name\"", "\"nome\""), HasSubstr("result.json: /name: missing"));
  EXPECT_THAT(damaged("\"seed\": 4", "\"seed\": \"4\""), HasSubstr("result.json: /seed: must be a number"));
  EXPECT_THAT(damaged("\"a warning\"", "7"), HasSubstr("result.json: /warnings/0: must be a string, not 7"));
  EXPECT_THAT(damaged("0.25", "\"x\""), HasSubstr("/windows_s/dp->pp/2: must be a number"));
  EXPECT_THAT(damaged("\"windows_s\": {", "\"windows_s\": [{"), HasSubstr("result.json:"));
  EXPECT_THAT(damaged("{", "["), HasSubstr("result.json:"));
}

TEST_F(PageSources, APointThatCannotBeIsToldInTheDatabase) {
  write_results(folder_, {"controller"}, 1, two_controllers);
  change("UPDATE runs SET point = -1");
  EXPECT_THAT(error_of([&] { (void)database(); }), HasSubstr("results.db: table runs: has a point -1"));
  change("UPDATE runs SET point = 9223372036854775807");
  EXPECT_THAT(error_of([&] { (void)database(); }), HasSubstr("has a point 9223372036854775807"));
}

TEST_F(PageSources, ChoicesMustBeThere) {
  write_results(folder_, {"controller", "delay_ms"}, 2, two_controllers);
  const auto choose = [&](std::string metric, std::string against, std::string series, std::string baseline) {
    return error_of([&] { (void)report::read_page_data(folder_, {metric, against, series, baseline}); });
  };
  EXPECT_EQ(choose("makespan", "", "", ""), "--metric: there is no metric \"makespan\" (did you mean makespan_s?)");
  EXPECT_THAT(choose("status", "", "", ""), HasSubstr("--metric: there is no metric \"status\""));
  EXPECT_THAT(choose("", "delay", "", ""), HasSubstr("--against: there is no parameter \"delay\""));
  EXPECT_THAT(choose("", "", "seed", ""), HasSubstr("--series: there is no parameter \"seed\""));
  EXPECT_THAT(choose("", "", "", "optical"), HasSubstr("--baseline: no parameter has the value \"optical\""));
  EXPECT_THAT(choose("", "controller", "delay_ms", "opus"), HasSubstr("--baseline: \"delay_ms\" has no value \"opus\""));
  const report::PageData data = report::read_page_data(folder_, {"makespan_s", "controller", "delay_ms", "1.5e1"});
  EXPECT_EQ(ParsedJson::parse(data.document)["choices"],
            ParsedJson({{"metric", "makespan_s"}, {"x", "controller"}, {"series", "delay_ms"}, {"baseline", "1.5e1"}}));
  EXPECT_EQ(data.title, "made-up sweep");
  EXPECT_EQ(data.points, 2u);
}

TEST_F(PageSources, ConditionsAndSizesAreChecked) {
  write_results(folder_, {"controller", "delay_ms"}, 2, two_controllers);
  const auto choices_of = [&](const report::PageChoices& choices) {
    return ParsedJson::parse(report::read_page_data(folder_, choices).document)["choices"];
  };
  const auto error_with = [&](std::vector<std::pair<std::string, std::string>> where, std::string log) {
    report::PageChoices choices;
    choices.where = std::move(where);
    choices.log = std::move(log);
    return error_of([&] { (void)report::read_page_data(folder_, choices); });
  };
  report::PageChoices choices;
  choices.where = {{"controller", "opus"}, {"delay_ms", "15"}};
  choices.log = "xy";
  choices.width = 640;
  choices.baseline = "none";
  EXPECT_EQ(
      choices_of(choices),
      ParsedJson(
          {{"where", {{"controller", "opus"}, {"delay_ms", 15.0}}}, {"log", "xy"}, {"width", 640}, {"baseline", "none"}}));
  choices.log = "none";
  EXPECT_EQ(choices_of(choices)["log"], "");
  EXPECT_EQ(error_with({}, "z"), "--log: \"z\" is no choice of axes (x, y, xy or none)");
  EXPECT_THAT(error_with({{"controller", "opera"}}, ""),
              HasSubstr("--where: \"controller\" has no value \"opera\" (it has \"electrical\", \"opus\")"));
  EXPECT_THAT(error_with({{"control", "opus"}}, ""), HasSubstr("--where: there is no parameter \"control\""));
  EXPECT_THAT(error_with({{"delay_ms", "15"}, {"delay_ms", "15"}}, ""), HasSubstr("--where: names \"delay_ms\" twice"));
}

TEST_F(PageSources, ASweepSaysWhatItsBaseIs) {
  write_results(folder_, {"controller"}, 2, two_controllers);
  EXPECT_TRUE(database().about.empty());  // as older versions wrote it
  change(
      R"(INSERT INTO meta VALUES('base', '{"name":"x","cluster":{"servers":4,"rail":{"kind":"optical"}},"run":{"seed":1}}'))");
  change(R"(INSERT INTO meta VALUES('varied', '["/cluster/rail","/cluster/nic/ports","/controller/name"]'))");
  EXPECT_EQ(ParsedJson::parse(database().about.dump()),
            ParsedJson::parse(R"([{"topic": "cluster", "text": "servers 4, rail varied, nic ports varied"},
                            {"topic": "run", "text": "seed 1"}, {"topic": "controller", "text": "varied"}])"));
}

TEST_F(PageSources, NoNameEndsTheScriptThatCarriesTheData) {
  if (!report::why_no_page().empty()) GTEST_SKIP() << "THE PAGE OF THE REPORT IS NOT TESTED: " << report::why_no_page();
  RunResult run = result("</script><script>alert(1)</script><!--document-->", 1);
  write_file(folder_ / "result.json", to_json(run));
  const std::string html = report::to_html(report::read_page_data(folder_));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_THAT(html, HasSubstr("\\u003c/script>\\u003cscript>alert(1)\\u003c/script>\\u003c!--document-->"));
}

}  // namespace
}  // namespace photonrail::test
