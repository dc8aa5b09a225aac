// Work is known before it begins: estimates of verbs against the time of the processor, on cases that no constant was
// fitted to, and laws of work: what a file asks for twice takes about twice the work.
#include "photonrail/study/work.hpp"
#include "collective/expected_sends.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/goodput.hpp"
#include "studies/slices/study.hpp"
#include "studies/sweep/sweep_support.hpp"
#include "support/processor_time.hpp"
#include "support/sanitizers.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <ostream>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

/// What a verb is asked to do: its estimate, and the doing.
struct Asked {
  WorkEstimate work;
  std::function<void()> act;
};

Asked asked_run(const json& scenario) {
  const Scenario read = parse_scenario(scenario.dump(), ".", "job", {});
  return {work_of(read), [read] { static_cast<void>(simulate(read)); }};
}

Asked asked_months(const json& scenario) {
  const auto read = goodput::parse_goodput(scenario.dump(), ".", "months", {}, {});
  return {work_of(read), [read] { static_cast<void>(run_goodput(read)); }};
}

class Work : public InFolder {
 protected:
  [[nodiscard]] Asked asked_slices(const json& study) const {
    const auto read = slices::read_study(write("study.json", study.dump()), {}, slices::AllocatorRegistry::builtin());
    return {work_of(read), [read] { static_cast<void>(run_allocation(read)); }};
  }
};

double seconds_taken(const std::function<void()>& act) {
  const double before = processor_seconds();
  act();
  return processor_seconds() - before;
}

/// Within a factor of five of what is taken. A fast machine may take a third of the time that constants were measured at.
void expect_close(const std::string& what, const Asked& asked) {
  const double expected = asked.work.seconds();
  const double taken = seconds_taken(asked.act);
  EXPECT_GE(expected, taken / 5) << what << ": estimate " << expected << " s, taken " << taken << " s";
  EXPECT_LE(expected, 5 * std::max(taken, 0.3)) << what << ": estimate " << expected << " s, taken " << taken << " s";
}

json cluster_of(int servers, int gpus, const json& rail) {
  return {{"servers", servers}, {"gpus_per_server", gpus}, {"nic", {{"port_gb_per_s", 40}}}, {"rail", rail}};
}

json job_of(const json& cluster, const json& workload) {
  json job{{"schema", "photonrail.scenario/1"}, {"cluster", cluster}, {"workload", workload}};
  if (cluster["rail"]["kind"] == "optical") job["controller"] = {{"name", "opus"}};
  return job;
}

const json& circuit_rail() {
  static const json kRail{{"kind", "optical"}, {"switch", {{"reconfiguration_us", 400}}}};
  return kRail;
}

json training(int pp, int dp, int batch) {
  return {{"training",
           {{"model", "llama3_8b"},
            {"sequence", 4096},
            {"global_batch", batch},
            {"parallelism", {{"tp", 8}, {"pp", pp}, {"dp", dp}, {"fsdp", true}}}}}};
}

json months_of(int servers, double days, int seeds, const json& failures, const json& recovery = json::array()) {
  json all = recovery;
  all.push_back({{"action", "wait"}});
  return {{"schema", "photonrail.scenario/1"},
          {"reliability",
           {{"step_s", 8},
            {"job", {{"servers", servers}, {"gpus_per_server", 8}}},
            {"days", days},
            {"seeds", seeds},
            {"failures", failures},
            {"recovery", all}}}};
}

json fails(const char* of, double mtbf_h) { return {{"of", of}, {"mtbf_h", mtbf_h}, {"repair_h", 12}}; }

json slices_of(const std::vector<int>& torus, const char* policy, const char* order, int jobs, double failure_h = 0.0) {
  json study{{"schema", "photonrail.allocation/1"},
             {"pod", {{"torus", torus}}},
             {"policies", {policy}},
             {"orders", {order}},
             {"jobs",
              {{"drawn",
                {{"count", jobs},
                 {"slices",
                  {{{"shape", {2, 2, 4}}, {"share", 3}},
                   {{"shape", {4, 4, 4}}, {"share", 2}},
                   {{"shape", {2, 4, 8}}, {"share", 1}},
                   {{"shape", {8, 8, 8}}, {"share", 0.1}}}},
                 {"mean_interarrival_s", 90},
                 {"mean_duration_s", 1800}}}}}};
  if (failure_h > 0.0) study["failures"] = {{"mean_between_h", failure_h}, {"mean_repair_h", 1}};
  return study;
}

TEST_F(Work, OfRunsIsWithinAFactorOfFive) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  json crowd =
      job_of(cluster_of(640, 1, {{"kind", "electrical"}}), {{"collective", {{"op", "all_to_all"}, {"bytes", 1e7}}}});
  crowd["collectives"] = {{"all_to_all", "direct"}};
  expect_close("crowd", asked_run(crowd));
  json steps = job_of(cluster_of(8, 8, circuit_rail()), training(4, 2, 16));
  steps["run"] = {{"iterations", 300}};
  expect_close("steps", asked_run(steps));
  json slots = job_of(cluster_of(36, 1, circuit_rail()), {{"collective", {{"op", "all_to_all"}, {"bytes", 1e9}}}});
  slots["controller"] = {{"name", "rotor"}, {"slot_us", 600}};
  slots["run"] = {{"iterations", 20}};
  expect_close("slots", asked_run(slots));
}

TEST_F(Work, OfMonthsIsWithinAFactorOfFive) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  expect_close("waiting", asked_months(months_of(5000, 60, 6, json::array({fails("server", 2000)}))));
  expect_close("many short", asked_months(months_of(40, 3, 30'000, json::array({fails("gpu", 9000)}))));
  json spares = months_of(3000, 45, 12, json::array({fails("server", 1500)}), json::array({{{"action", "swap"}}}));
  spares["reliability"]["spares"] = {{"anywhere", 400}};
  expect_close("spares", asked_months(spares));
  json wearing = fails("gpu", 50'000);
  wearing["law"] = {{"weibull", 1.4}};
  expect_close("wearing out", asked_months(months_of(2000, 20, 100, json::array({wearing}))));
}

TEST_F(Work, OfSlicesIsWithinAFactorOfFive) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  expect_close("firstfit", asked_slices(slices_of({8, 8, 12}, "firstfit", "srsf", 20'000)));
  expect_close("rfold", asked_slices(slices_of({8, 16, 16}, "rfold", "irs", 4'000)));
  expect_close("photonic", asked_slices(slices_of({8, 8, 12}, "photonic", "fifo", 8'000, 40.0)));
}

TEST_F(Work, OfAnExportCountsAtLeastTheSends) {
  const CollectiveRegistry known = CollectiveRegistry::builtin();
  for (const auto& algorithm : known.all()) {
    for (int i = 0; i < kCollectiveOpCount; ++i) {
      for (const Member members : {6U, 16U, 40U}) {
        CollectiveCall call{.op = static_cast<CollectiveOp>(i), .members = members, .size = Bytes{1 << 20}};
        if (call.op == CollectiveOp::kSend || !algorithm->supports(call.op, members)) continue;
        for (const std::uint32_t pieces : {1U, 3U}) {
          call.pieces = pieces;
          const double sends = algorithm->expand(call)->send_count();
          const double expected = collective::expected_sends(call, algorithm->name());
          EXPECT_GE(expected, sends / 2.5) << algorithm->name() << ' ' << name(call.op) << ' ' << members << ' ' << pieces;
          EXPECT_LE(expected, 30 * sends) << algorithm->name() << ' ' << name(call.op) << ' ' << members << ' ' << pieces;
        }
      }
    }
  }
}

double count_of(const WorkEstimate& work) {
  double sum = 0.0;
  for (const WorkPart& part : work.parts) sum += part.count;
  return sum;
}

/// Twice as much of one thing is counted about twice. Its time too, but where more happens at each failure.
void expect_doubles(const std::string& what, const WorkEstimate& once, const WorkEstimate& twice, double times = 2.3) {
  EXPECT_LE(count_of(twice), 2.1 * count_of(once)) << what;
  EXPECT_GE(count_of(twice), 1.2 * count_of(once)) << what;
  EXPECT_LE(twice.seconds(), times * once.seconds()) << what;
}

TEST_F(Work, DoublesWithWhatAFileAsksFor) {
  json steps = job_of(cluster_of(16, 8, circuit_rail()), training(4, 4, 32));
  steps["run"] = {{"iterations", 10}};
  json more = steps;
  more["run"]["iterations"] = 20;
  expect_doubles("iterations", asked_run(steps).work, asked_run(more).work);
  more = job_of(cluster_of(32, 8, circuit_rail()), training(4, 8, 64));
  more["run"] = steps["run"];
  expect_doubles("ranks", asked_run(steps).work, asked_run(more).work);
  const auto months = [](double days, int seeds, double mtbf) {
    return asked_months(months_of(100, days, seeds, json::array({fails("server", mtbf)}))).work;
  };
  expect_doubles("days", months(30, 100, 100), months(60, 100, 100));
  expect_doubles("seeds", months(30, 100, 100), months(30, 200, 100));
  expect_doubles("failures of servers", months(30, 100, 200), months(30, 100, 100), 4.0);
  const auto slices = [this](int jobs, double hours) {
    return asked_slices(slices_of({4, 8, 8}, "bestfit", "fifo", jobs, hours)).work;
  };
  expect_doubles("jobs", slices(500, 0.0), slices(1000, 0.0));
  expect_doubles("failures of a pod", slices(500, 8.0), slices(500, 4.0));
}

// Steps and checkpoints between failures are gone over in closed form: a thousand times as many take no longer.
TEST_F(Work, DoesNotGrowWithCheckpoints) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  const auto taken = [](double interval_s) {
    json months = months_of(200, 300, 40, json::array({fails("server", 500)}));
    months["reliability"]["recovery"].insert(months["reliability"]["recovery"].begin(), json::object({{"action", "swap"}}));
    months["reliability"]["spares"] = {{"anywhere", 20}};
    months["reliability"]["checkpoint"] = {{"interval_s", interval_s}, {"stall_s", 0.001}};
    months["reliability"]["step_s"] = 1e-3;
    return seconds_taken(asked_months(months).act);
  };
  EXPECT_LE(taken(1.0), 3 * taken(1000.0) + 0.1);
}

// The same of the processor: measured, and with a margin of a half.
TEST_F(Work, OfTheProcessorDoublesToo) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  const auto steps = [](int iterations) {
    json job = job_of(cluster_of(8, 8, circuit_rail()), training(4, 2, 16));
    job["run"] = {{"iterations", iterations}};
    return seconds_taken(asked_run(job).act);
  };
  EXPECT_LE(steps(120), 3 * steps(60) + 0.1);
  const auto days = [](double length) {
    return seconds_taken(asked_months(months_of(400, length, 20, json::array({fails("server", 300)}))).act);
  };
  EXPECT_LE(days(200), 3 * days(100) + 0.3);
  const auto jobs = [this](int count) {
    return seconds_taken(asked_slices(slices_of({4, 8, 8}, "firstfit", "backfill", count)).act);
  };
  EXPECT_LE(jobs(2000), 3 * jobs(1000) + 0.1);
}

TEST_F(Work, BeyondALimitIsRefusedWithWhatWouldDo) {
  WorkEstimate work;
  work.add({"failures", 1.2e9, 9000.0, "/reliability/seeds"});
  work.add({"failures", 1.2e9, 9000.0, "/reliability/seeds"});
  work.add({"histories", 10, 1.0, ""});
  work.bytes = 3e9;
  EXPECT_DOUBLE_EQ(work.seconds(), 18001.0);
  EXPECT_NO_THROW(check_work(work, "a.json", 18001.0));
  EXPECT_NO_THROW(check_work(work, "a.json", 9001.0, 2));
  try {
    check_work(work, "a.json", 3600.0);
    ADD_FAILURE() << "five hours are more than one";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "a.json: would take about 5 h (failures: 2.4e+09, memory: up to 3 GB), more than the limit of 60 min "
                 "(raise --work-limit, or make less of it: /reliability/seeds)");
  }
}

// Without folding every step is run.
TEST_F(Work, OfASweepIsThatOfItsPoints) {
  json base = job_of(cluster_of(4, 1, {{"kind", "electrical"}}), {{"collective", {{"op", "all_reduce"}, {"bytes", 1e6}}}});
  base["run"]["folding"] = false;
  write("base.json", base.dump());
  const Sweep sweep = read_sweep(write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": "base.json", "axes": [
      {"name": "steps", "pointer": "/run/iterations", "values": [1, 1000000]}]})"));
  SweepOptions options;
  options.directory = folder_ / "out";
  options.work_limit_s = 0.5;
  SweepObserver silent;
  try {
    static_cast<void>(run_sweep(sweep, options, silent));
    ADD_FAILURE() << "a point has a million steps";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("(points: 2), more than the limit of"));
    EXPECT_THAT(error.what(), HasSubstr("point 1 (steps 1000000) takes about"));
  }
}

}  // namespace
}  // namespace photonrail::test
