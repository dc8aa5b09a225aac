// What a point was warned of is in its row, whichever way it was run, and what cannot run is marked.
#include "report/page.hpp"
#include "studies/sweep/points.hpp"
#include "studies/sweep/sweep_support.hpp"
#include "support/processor_time.hpp"
#include "support/source_dir.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Llama-3-8B with its optimizer on 8 GPUs of 80 GB: unsharded it does not fit, over tp 8 it does.
json training() {
  json scenario = small_scenario(1);
  scenario["cluster"]["gpus_per_server"] = 8;
  scenario["cluster"]["gpu"] = {{"preset", "h100"}, {"compute_efficiency", 0.5}};
  scenario["workload"] = {
      {"training",
       {{"model", "llama3_8b"}, {"sequence", 2048}, {"global_batch", 8}, {"parallelism", {{"tp", 1}, {"dp", 8}}}}}};
  return scenario;
}

const std::string kSplits = R"("axes": [{"zip": {"/workload/training/parallelism/tp": [1, 8],
                                                 "/workload/training/parallelism/dp": [8, 1]}}])";

class PointWarnings : public InFolder {
 protected:
  [[nodiscard]] Sweep splits() const {
    return read_sweep(
        write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": )" + training().dump() + ", " + kSplits + "}"));
  }
  void run(const Sweep& sweep, std::optional<Shard> shard = {}, bool run_infeasible = false) const {
    SweepObserver silent;
    SweepOptions options;
    options.run_infeasible = run_infeasible;
    options.directory = out_;
    options.shard = shard;
    run_sweep(sweep, options, silent);
  }
  [[nodiscard]] std::vector<std::string> column(const std::string& sql) const {
    SQLite::Database db((out_ / "results.db").string());
    SQLite::Statement query(db, sql);
    std::vector<std::string> cells;
    while (query.executeStep()) cells.push_back(query.getColumn(0).getString());
    return cells;
  }

  fs::path out_ = folder_ / "out";
};

TEST_F(PointWarnings, AreInTheTablesOfEveryWay) {
  const Sweep sweep = splits();
  run(sweep);
  const std::string whole = content(out_ / "results.csv");
  EXPECT_THAT(whole, HasSubstr("the plan does not fit the GPU: stage 0 needs "));
  const auto infeasible = column("SELECT coalesce(infeasible, '') FROM runs ORDER BY point");
  ASSERT_EQ(infeasible.size(), 2);
  EXPECT_THAT(infeasible[0], AllOf(HasSubstr("stage 0 needs "), HasSubstr(" GB, and a GPU has 80.0")));
  EXPECT_EQ(infeasible[1], "");
  const auto memory = column("SELECT value FROM metrics WHERE name = 'peak_memory_bytes' ORDER BY point");
  ASSERT_EQ(memory.size(), 2);
  EXPECT_GT(std::stod(memory[0]), 80e9);
  EXPECT_LT(std::stod(memory[1]), 80e9);
  fs::remove_all(out_);
  run(sweep, Shard{1, 2});
  run(sweep, Shard{2, 2});
  EXPECT_EQ(content(out_ / "results.csv"), whole);
}

TEST_F(PointWarnings, AreKnownBeforeAnythingRuns) {
  const auto previews = sweep::preview_sweep(splits(), {});
  ASSERT_EQ(previews.size(), 2);
  EXPECT_THAT(previews[0].warnings, Contains(HasSubstr("does not fit the GPU")));
  EXPECT_THAT(previews[0].infeasible, HasSubstr("stage 0 needs "));
  EXPECT_GT(previews[0].peak_memory_bytes.value(), 80e9);
  EXPECT_THAT(previews[1].warnings, IsEmpty());
  EXPECT_EQ(previews[1].infeasible, "");
  EXPECT_GT(previews[1].seconds, 0.0);
}

// Eight replicas of Llama-3-8B hold 16 bytes a parameter each, beyond 80 GB.
TEST_F(PointWarnings, WhatDoesNotFitIsRunOnlyWhenAskedFor) {
  const Sweep sweep = splits();
  const auto makespans = [&] { return column("SELECT point FROM metrics WHERE name = 'makespan_s' ORDER BY point"); };
  const auto names = [&] { return column("SELECT name FROM metrics WHERE point = 0"); };
  run(sweep);
  EXPECT_EQ(makespans(), std::vector<std::string>{"1"});
  EXPECT_EQ(names(), std::vector<std::string>{"peak_memory_bytes"});
  EXPECT_EQ(column("SELECT status FROM runs WHERE point = 0").front(), "done");  // nothing is missing
  run(sweep, {}, true);
  EXPECT_EQ(makespans(), (std::vector<std::string>{"0", "1"}));
  const auto all = names();
  run(sweep);  // what is there stays
  EXPECT_EQ(names(), all);
}

TEST_F(PointWarnings, WhatCannotRunIsInNoFigureUnlessAskedFor) {
  run(splits(), {}, true);
  const report::PageData page = report::read_page_data(out_);
  EXPECT_THAT(page.notes, Contains(HasSubstr("1 of 2 points could not run on such GPUs (column infeasible) and are in no "
                                             "figure; sweep --run-infeasible runs, --include-infeasible shows them")));
  EXPECT_THAT(page.notes, Contains(HasSubstr("1 of 2 points has warnings")));
  report::PageChoices all;
  all.include_infeasible = true;
  const report::PageData with = report::read_page_data(out_, all);
  EXPECT_THAT(with.notes, Each(Not(HasSubstr("are in no figure"))));
  EXPECT_NE(with.document, page.document);
}

TEST_F(PointWarnings, ATableOfAnEarlierVersionGetsTheColumns) {
  const Sweep sweep = splits();
  run(sweep);
  {
    SQLite::Database db((out_ / "results.db").string(), SQLite::OPEN_READWRITE);
    db.exec("ALTER TABLE runs DROP COLUMN infeasible");
    db.exec("ALTER TABLE runs DROP COLUMN warnings");
    db.exec("ALTER TABLE runs DROP COLUMN choices");
    db.exec("PRAGMA user_version = 1");
  }
  EXPECT_THAT(report::read_page_data(out_).notes, Each(Not(HasSubstr("warnings"))));
  run(sweep);  // nothing is missing
  EXPECT_EQ(column("SELECT count(*) FROM runs WHERE warnings IS NULL").front(), "2");
}

// What "auto" took in a point, and how long the slowest operations took, are columns as they are in a single result.
TEST_F(PointWarnings, WhatAutoTookAndTheQuantilesAreColumns) {
  json scenario = small_scenario();
  scenario["workload"] = {{"collective", {{"op", "all_reduce"}, {"algorithm", "auto"}, {"bytes", 1000000}}}};
  const RunResult alone = simulate(parse_scenario(scenario.dump(), folder_));
  ASSERT_EQ(alone.choices.size(), 1u);
  const Sweep sweep = read_sweep(
      write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": )" + scenario.dump() + R"(, "seeds": [1, 2]})"));
  run(sweep);
  EXPECT_EQ(column("SELECT choices FROM runs"), std::vector<std::string>(2, alone.choices.front()));
  EXPECT_THAT(content(out_ / "results.csv"),
              AllOf(HasSubstr("warnings,choices,scenario_hash"), HasSubstr(alone.choices.front())));
  EXPECT_THAT(content(out_ / "results.jsonl"), HasSubstr("\"choices\":[\"all_reduce among"));
  // One operation: both quantiles are its time, rounded up to the histogram's.
  const auto p99 = column("SELECT value FROM metrics WHERE name LIKE 'quantiles_s.operation.%.p99'");
  ASSERT_EQ(p99.size(), 2u);
  EXPECT_NEAR(std::stod(p99[0]), to_seconds(alone.makespan), 0.02 * to_seconds(alone.makespan));
  {
    SQLite::Database db((out_ / "results.db").string(), SQLite::OPEN_READWRITE);
    db.exec("ALTER TABLE runs DROP COLUMN choices");
    db.exec("PRAGMA user_version = 2");
  }
  EXPECT_NO_THROW(static_cast<void>(report::read_page_data(out_)));
  run(sweep);  // nothing is missing; the column is there again
  EXPECT_EQ(column("SELECT count(*) FROM runs WHERE choices IS NULL").front(), "2");
}

// What is told of the time before a sweep has all that a point runs: each seed of a spread, and months.
TEST_F(PointWarnings, TheTimeThatIsToldHasSpreadsAndMonths) {
  const auto seconds = [&](const json& scenario) {
    const Sweep sweep = read_sweep(
        write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": )" + scenario.dump() + R"(, "axes": []})"));
    return sweep::preview_sweep(sweep, {}).at(0).seconds;
  };
  json drawn = small_scenario();
  drawn["stragglers"] = {{{"ranks", "random"}, {"delay_us", 10}}};
  const double once = seconds(drawn);
  drawn["run"]["spread_seeds"] = 400;
  EXPECT_NEAR(seconds(drawn), 400 * once, 1e-9 * once);
  json fixed = small_scenario();
  fixed["run"]["spread_seeds"] = 400;
  EXPECT_LT(seconds(fixed), 2 * once) << "nothing is drawn, and one seed is run";
  json months = json::parse(content(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput/dark-ports.json"));
  const double some = seconds(months);
  const int seeds = months["reliability"]["seeds"];
  months["reliability"]["seeds"] = 100 * seeds;
  EXPECT_GT(seconds(months), some + 99 * seeds * 0.1e-3);
  months.erase("reliability");
  EXPECT_LT(seconds(months), some) << "the steps of degraded clusters are simulated too";
}

// 64 GPUs under Opus, each rank late by a draw. A busy machine and sanitizers make a run longer, nothing makes it shorter:
// what is told was once 16 to 25 times the run.
TEST_F(PointWarnings, TheTimeThatIsToldIsAboutThatOfTheRun) {
  json scenario = small_scenario(8);
  scenario["cluster"]["gpus_per_server"] = 8;
  scenario["cluster"]["gpu"] = {{"preset", "h100"}, {"compute_efficiency", 0.5}};
  scenario["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 10}}}};
  scenario["controller"] = {{"name", "opus"}};
  scenario["stragglers"] = {
      {{"ranks", "all"}, {"delay_us", {{"distribution", "uniform"}, {"least", 0}, {"greatest", 300}}}}};
  scenario["run"]["spread_seeds"] = 1;
  scenario["workload"] = {{"training",
                           {{"model", "llama3_70b"},
                            {"sequence", 4096},
                            {"global_batch", 8},
                            {"parallelism", {{"tp", 8}, {"pp", 4}, {"dp", 2}}}}}};
  const Sweep sweep = read_sweep(
      write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": )" + scenario.dump() + R"(, "axes": []})"));
  const double told = sweep::preview_sweep(sweep, {}).at(0).seconds;
  double fastest = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double before = processor_seconds();
    static_cast<void>(simulate(scenario_of(sweep, sweep.points.front())));
    fastest = std::min(fastest, processor_seconds() - before);
  }
  EXPECT_LT(told, 12 * fastest);
  EXPECT_GT(told, fastest / 100);
}

}  // namespace
}  // namespace photonrail::test
