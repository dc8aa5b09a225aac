// `photonrail report`: its page as a reader meets it, in headless Chromium, and its figures as files.
#include "command/command.hpp"
#include "support/processor_time.hpp"
#include "support/results_fixture.hpp"
#include "support/source_dir.hpp"
#include "support/test_cases.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace photonrail::test {
namespace {

class Report : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    if (run("report .").err.find("no page for reports") != std::string::npos) {
      GTEST_SKIP() << "THE PAGE OF THE REPORT IS NOT TESTED: " << read(folder_ / ".err");
    }
  }

  static bool installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
  }

  static bool browser_installed() {
    return (installed("chromium-headless-shell") || installed("chromium")) && installed("node");
  }

  /// Runs tests/command/page/`script` on the pages: it opens them in Chromium and fails when something is wrong.
  void browse(const std::string& script, const std::vector<std::string>& pages, const std::string& arguments = "") const {
    const fs::path source = PHOTONRAIL_SOURCE_DIR;
    std::string files;
    for (const std::string& page : pages) files += (files.empty() ? "" : ":") + (folder_ / page).string();
    const std::string line = "NODE_PATH='" PHOTONRAIL_PAGE_PACKAGES "' node '" +
                             (source / "tests/command/page" / script).string() + "' '" + files + "' " + arguments + " >'" +
                             (folder_ / ".browser").string() + "' 2>&1";
    const int status = std::system(line.c_str());
    EXPECT_EQ(status, 0) << read(folder_ / ".browser");
    RecordProperty("browser", read(folder_ / ".browser"));
  }

  /// The quickstart on electrical rails and under Opus, in `runs`.
  void run_quickstart() const {
    const fs::path configs = fs::path(PHOTONRAIL_SOURCE_DIR) / "configs";
    const Outcome outcome = run("run '" + (configs / "quickstart-electrical.json").string() + "' '" +
                                (configs / "quickstart.json").string() + "' --trace --quiet --out runs");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }

  // Two controllers over five delays with three seeds each; electrical has no delay. The step is 1 s and what the seed
  // adds, and under Opus 1 s and four delays: at 0.1 s, 1.4 s.
  static FixturePoint delay_point(std::size_t i) {
    FixturePoint point;
    point.seed = i % 3 + 1;
    const bool electrical = i < 3;
    const double delay = electrical ? 0.0 : std::pow(10.0, static_cast<double>((i - 3) / 3) - 3.0);  // ms
    point.parameters = {{"controller", std::string(electrical ? "electrical" : "opus")}};
    if (!electrical) point.parameters["reconfiguration_ms"] = delay * 1e3;
    const double step = 1.0 + 4.0 * delay + 0.01 * static_cast<double>(point.seed);
    point.metrics = {{"makespan_s", step},
                     {"cost.usd", electrical ? 2e6 : 1e6},
                     {"cost.power_w", electrical ? 5e4 : 2e4},
                     {"reconfigurations.count", electrical ? 0.0 : 4.0},
                     {"reconfigurations.total_s", 4.0 * delay},
                     {"per_rank_mean_s.compute", 0.9},
                     {"per_rank_mean_s.exposed_communication", 0.05},
                     {"per_rank_mean_s.reconfiguration_wait", 4.0 * delay},
                     {"per_rank_mean_s.peer_wait", 0.05 + 0.01 * static_cast<double>(point.seed)}};
    if (!electrical) point.windows = {{0.0, 2}, {0.05, 1}, {0.5, 1}};
    return point;
  }
};

TEST_F(Report, OfRunsShowsEveryFigureInChromium) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  run_quickstart();
  const Outcome outcome = run("report runs");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "wrote runs/report.html\n");
  browse("runs.mjs", {"runs/report.html"});
}

TEST_F(Report, OfASweepShowsEveryFigureInChromium) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  fs::create_directories(folder_ / "sweep");
  write_results(folder_ / "sweep", {"controller", "reconfiguration_ms"}, 19, [](std::size_t i) {
    FixturePoint point = delay_point(std::min<std::size_t>(i, 17));
    if (i == 18)
      point = {{{"controller", std::string("opus")}, {"reconfiguration_ms", 1e6}}, 1, {}, {}, "rank 3 <waits> for rank 4"};
    return point;
  });
  const Outcome outcome = run("report sweep -o page.html");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "wrote page.html\n");
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("1 of 19 points failed; point 18: rank 3 <waits> for rank 4"));
  browse("sweep.mjs", {"page.html"});
}

TEST_F(Report, OfAPlanOpensWithItsAnswerInChromium) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  const std::string file = "'" + std::string(PHOTONRAIL_SOURCE_DIR) + "/configs/plans/llama3-8b-64.json'";
  ASSERT_EQ(run("plan " + file + " --out plan --limit 1h").status, 0);
  ASSERT_EQ(run("report plan -o plan.html").status, 0);
  browse("plan.mjs", {"plan.html"});
}

// Names come from files of others: an element that cannot load its image would run what stands in it.
std::string markup(const std::string& what) { return "<img src=x onerror=\"window.pwned='" + what + "'\">"; }

TEST_F(Report, NamesOfARunAreTextAndNeverMarkup) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  json scenario = tiny("</script><script>window.pwned='scenario'</script>" + markup("scenario"));
  scenario["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_us", 100}}}};
  scenario["controller"] = {{"name", "opus"}};
  json computation = {{"rank", "all"}, {"id", "t"}, {"name", markup("task")}, {"compute_us", 500}};
  json collective = {{"rank", "all"},
                     {"collective", "all_reduce"},
                     {"name", markup("collective")},
                     {"communicator", markup("group")},
                     {"bytes", 10'000'000},
                     {"after", {"t"}}};
  scenario["workload"] = {{"graph",
                           {{"schema", "photonrail.graph/1"},
                            {"ranks", 4},
                            {"communicators", {{markup("group"), {{"ranks", "all"}, {"dimension", "dp"}}}}},
                            {"tasks", {computation, collective}}}}};
  write("hostile.json", scenario);
  ASSERT_EQ(run("run hostile.json --trace --quiet --out runs").status, 0) << read(folder_ / ".err");
  ASSERT_EQ(run("report runs").status, 0) << read(folder_ / ".err");
  browse("hostile.mjs", {"runs/report.html"}, "'window.pwned='\\''task' 'window.pwned='\\''group'");
}

TEST_F(Report, LabelsOfASweepAreTextAndNeverMarkupOrFormulas) {
  json sweep = {{"schema", "photonrail.sweep/1"}, {"name", markup("sweep")}, {"base", tiny("base")}};
  sweep["base"]["workload"]["collective"].erase("ranks");
  const std::string formula = "=HYPERLINK(\"http://x\")";
  sweep["axes"] = {
      {{"name", markup("axis")},
       {"variants",
        {{markup("label"), {{"/cluster/nic/port_gb_per_s", 50}}}, {formula, {{"/cluster/nic/port_gb_per_s", 25}}}}}},
      {{"pointer", "/cluster/servers"}, {"values", {4, 8, 16, 64}}}};
  write("sweep.json", sweep);
  ASSERT_EQ(run("sweep sweep.json --quiet --out sweep").status, 0) << read(folder_ / ".err");
  EXPECT_THAT(read(folder_ / "sweep/results.csv"), ::testing::HasSubstr(",\"'=HYPERLINK(\"\"http://x\"\")\","));
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  ASSERT_EQ(run("report sweep").status, 0) << read(folder_ / ".err");
  browse("hostile.mjs", {"sweep/report.html"}, "'window.pwned='\\''label'");
  ASSERT_EQ(run("report sweep --format csv -o drawn").status, 0) << read(folder_ / ".err");
  EXPECT_THAT(read(folder_ / "drawn/comparison.csv"), ::testing::HasSubstr(",\"'=HYPERLINK(\"\"http://x\"\")\","));
}

TEST_F(Report, OfNextToNothingIsAPage) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  const auto write_page = [&](const std::string& name, const std::vector<std::string>& axes, std::size_t points,
                              const auto& make) {
    fs::create_directories(folder_ / name);
    write_results(folder_ / name, axes, points, make);
    EXPECT_EQ(run("report " + name).status, 0) << read(folder_ / ".err");
  };
  const auto failed = [](std::size_t) { return FixturePoint{{}, 1, {}, {}, "no way"}; };
  const auto seeds = [](std::size_t i) {
    return FixturePoint{{}, i, {{"makespan_s", 2.0 + static_cast<double>(i)}}, {}, {}};
  };
  write_page("none", {"delay_ms"}, 0, failed);
  write_page("failed", {"delay_ms"}, 2, failed);
  write_page("seeds", {}, 3, seeds);
  browse("headings.mjs", {"none/report.html", "failed/report.html", "seeds/report.html"});
  EXPECT_EQ(read(folder_ / ".browser"), "All points\nAll points\nmakespan against name\nAll points\n");
}

TEST_F(Report, LoadsNothingFromElsewhere) {
  run_quickstart();
  ASSERT_EQ(run("report runs").status, 0);
  const std::string page = read(folder_ / "runs/report.html");
  for (const char* reference : {" src=", "<link", "@import", "fetch("}) {
    EXPECT_EQ(page.find(reference), std::string::npos) << page.substr(page.find(reference), 80);
  }
}

// 100,000 points in the night.
TEST_F(Report, OfManyPointsIsSmallAndQuick) {
  const std::size_t points = std::max<std::size_t>(test_cases(20'000) / 100, 10) * 100;
  fs::create_directories(folder_ / "sweep");
  write_results(folder_ / "sweep", {"delay_ms", "port_gb_per_s", "dp"}, points, [](std::size_t i) {
    FixturePoint point;
    point.parameters = {{"delay_ms", static_cast<double>(i % 100)},
                        {"port_gb_per_s", static_cast<double>(i / 100 % 100)},
                        {"dp", static_cast<double>(i / 10'000)}};
    // Numbers without a pattern that a packer could use.
    std::mt19937_64 random(i);
    for (int m = 0; m < 24; ++m)
      point.metrics["metric_" + std::to_string(m) + "_s"] = static_cast<double>(random()) * 0x1p-64;
    point.metrics["makespan_s"] = 1.0 + point.metrics["metric_0_s"];
    return point;
  });
  const double before_s = processor_seconds(true);
  ASSERT_EQ(run("report sweep").status, 0);
  const double took_s = processor_seconds(true) - before_s;
  const double megabytes = static_cast<double>(fs::file_size(folder_ / "sweep/report.html")) / 1e6;
  RecordProperty("seconds", std::to_string(took_s));
  RecordProperty("megabytes", std::to_string(megabytes));
  EXPECT_LT(megabytes, 500e-6 * static_cast<double>(points));
#ifdef NDEBUG  // with sanitizers it may take longer
  EXPECT_LT(took_s, 1.0 + 100e-6 * static_cast<double>(points));
#endif
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  browse("large.mjs", {"sweep/report.html"}, std::to_string(points));
}

TEST_F(Report, FiguresAreFiles) {
  if (!installed("node")) GTEST_SKIP() << "FIGURES ARE NOT TESTED: no node here";
  fs::create_directories(folder_ / "sweep");
  write_results(folder_ / "sweep", {"controller", "reconfiguration_ms"}, 18, delay_point);
  const Outcome outcome = run("report sweep --format csv --baseline electrical");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "wrote sweep/figures/break-even.csv\nwrote sweep/figures/breakdown.csv\nwrote sweep/figures/comparison.csv\n"
            "wrote sweep/figures/exposure.csv\nwrote sweep/figures/pareto-cost.csv\nwrote sweep/figures/pareto-power.csv\n"
            "wrote sweep/figures/windows.csv\n");
  // Against the electrical point of the same seed: (1.01 + 0.4) / 1.01, (1.02 + 0.4) / 1.02, (1.03 + 0.4) / 1.03 at 0.1 s,
  // whose mean is 1 + 0.4 / 3 * (1 / 1.01 + 1 / 1.02 + 1 / 1.03) = 1.392183.
  const std::string csv = read(folder_ / "sweep/figures/comparison.csv");
  EXPECT_THAT(csv, ::testing::HasSubstr("\n100,opus,1.39218"));
  EXPECT_THAT(csv, ::testing::HasSubstr("\n100,electrical,1,0,3,1,1\n"));  // mean, deviation, seeds, least, most

  ASSERT_EQ(run("report sweep --format svg -o drawn").status, 0);
  for (const char* figure : {"comparison", "breakdown", "pareto-cost", "pareto-power", "windows"}) {
    const std::string svg = read(folder_ / "drawn" / (std::string(figure) + ".svg"));
    EXPECT_TRUE(svg.starts_with("<svg ")) << figure;
    EXPECT_EQ(svg.find("NaN"), std::string::npos) << figure;
  }
  if (!installed("rsvg-convert")) GTEST_SKIP() << "PNG IS NOT TESTED: no rsvg-convert here";
  ASSERT_EQ(run("report sweep --format png -o drawn").status, 0) << read(folder_ / ".err");
  EXPECT_EQ(read(folder_ / "drawn/windows.png").substr(1, 3), "PNG");
}

// The README's own sweep in small: sixteen controllers, and electrical rails have no delay.
FixturePoint of_sixteen(std::size_t i) {
  FixturePoint point;
  const bool electrical = i == 0;
  const std::size_t policy = electrical ? 0 : (i - 1) / 3 + 1;
  const double delay = electrical ? 0.0 : std::pow(10.0, static_cast<double>((i - 1) % 3));
  point.parameters = {{"controller", electrical ? "electrical" : "policy " + std::to_string(policy)}};
  if (!electrical) point.parameters["reconfiguration_ms"] = delay;
  point.metrics = {{"makespan_s", 1.0 + static_cast<double>(policy) * delay / 1e3}};
  return point;
}

TEST_F(Report, OfSixteenControllersShowsAllOfThem) {
  if (!installed("node")) GTEST_SKIP() << "FIGURES ARE NOT TESTED: no node here";
  fs::create_directories(folder_ / "sweep");
  write_results(folder_ / "sweep", {"controller", "reconfiguration_ms"}, 46, of_sixteen);
  ASSERT_EQ(run("report sweep --format csv").status, 0) << read(folder_ / ".err");
  const std::string csv = read(folder_ / "sweep/figures/comparison.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 16 * 3) << csv;
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium here";
  ASSERT_EQ(run("report sweep").status, 0);
  browse("ready.mjs", {"sweep/report.html"}, "2");
}

TEST_F(Report, FiguresAreAsTheReaderWantsThem) {
  if (!installed("node")) GTEST_SKIP() << "FIGURES ARE NOT TESTED: no node here";
  fs::create_directories(folder_ / "sweep");
  write_results(folder_ / "sweep", {"controller", "reconfiguration_ms"}, 46, of_sixteen);
  const std::string choice = " --figure comparison --where 'controller=policy 3' --baseline none ";
  ASSERT_EQ(run("report sweep --format csv" + choice).status, 0) << read(folder_ / ".err");
  const std::string csv = read(folder_ / "sweep/figures/comparison.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3) << csv;  // 1, 10 and 100 ms of one policy
  const Outcome drawn =
      run("report sweep --format svg -o drawn --size 640x300 --font 18 --log xy --title 'Figure 7\x01'" + choice);
  EXPECT_EQ(drawn.out, "wrote drawn/comparison.svg\n") << drawn.err;
  const std::string svg = read(folder_ / "drawn/comparison.svg");
  EXPECT_TRUE(svg.starts_with("<svg width=\"640\" height=\"300\"")) << svg.substr(0, 200);
  EXPECT_THAT(svg, ::testing::HasSubstr(">Figure 7?<"));            // XML has no such character
  EXPECT_THAT(svg, ::testing::HasSubstr("controller = policy 3"));  // what all of its points have in common
  const auto fails = [&](const std::string& arguments, const char* message) {
    const Outcome outcome = run("report sweep --format svg " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(message)) << arguments;
  };
  fails("--figure compare", "--figure: there is no figure \"compare\": comparison, break-even");
  fails("--size 640by300", "--size: \"640by300\" is no number of pixels");
  fails("--where controller", "--where: \"controller\" is no condition (NAME=VALUE, as in controller=oracle)");
  if (!installed("rsvg-convert")) GTEST_SKIP() << "PDF IS NOT TESTED: no rsvg-convert here";
  ASSERT_EQ(run("report sweep --format pdf -o drawn" + choice).status, 0) << read(folder_ / ".err");
  EXPECT_EQ(read(folder_ / "drawn/comparison.pdf").substr(0, 5), "%PDF-");
}

TEST_F(Report, TheWindowsAreThoseOfThePointThatIsNamed) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  fs::create_directories(folder_ / "sweep");
  write_results(folder_ / "sweep", {"load"}, 1000, [](std::size_t i) {
    FixturePoint point;
    point.parameters = {{"load", static_cast<double>(i)}};
    point.metrics = {{"makespan_s", 1.0}};
    point.windows = {{0.0, 1}, {static_cast<double>(i) / 1e3, 1}};
    return point;
  });
  ASSERT_EQ(run("report sweep").status, 0) << read(folder_ / ".err");
  browse("windows.mjs", {"sweep/report.html"});
}

// Those of configs/sweeps that run in a second: at two widths nothing is empty, alike or cut off.
TEST_F(Report, ReadySweepsHaveGoodPages) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  const fs::path sweeps = fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/sweeps";
  std::vector<std::string> pages;
  for (const std::string name : {"nic-rate", "ocs-technologies", "straggler-break-even", "scaling-pp",
                                 "slices-against-load", "serving-delay", "rl-split"}) {
    ASSERT_EQ(run("sweep '" + (sweeps / (name + ".json")).string() + "' --quiet --out " + name).status, 0)
        << read(folder_ / ".err");
    ASSERT_EQ(run("report " + name).status, 0) << read(folder_ / ".err");
    pages.push_back(name + "/report.html");
  }
  browse("ready.mjs", pages, "4");
  const std::string page = read(folder_ / "nic-rate/report.html");
  EXPECT_THAT(page, ::testing::HasSubstr(R"("topic":"workload")"));
  EXPECT_THAT(page, ::testing::HasSubstr("port_gb_per_s varied"));
}

// Served requests and reinforcement learning beside each other; each of them alone, months and slices have no fault at two
// widths.
TEST_F(Report, OfServingLearningMonthsAndSlicesIsTheSamePage) {
  if (!browser_installed()) GTEST_SKIP() << "THE PAGE IS NOT TESTED: no chromium or no node here";
  const fs::path configs = fs::path(PHOTONRAIL_SOURCE_DIR) / "configs";
  const auto path = [&](const char* file) { return "'" + (configs / file).string() + "'"; };
  const auto done = [&](const std::string& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
  };
  const std::string fewer = " --quiet --set /workload/serving/requests/count=300 --set /name=";
  done("run " + path("serving/quickstart.json") + fewer + "first --out both/1");
  done("run " + path("serving/quickstart.json") + fewer +
       "second --out both/2 --set /cluster/rail/switch/reconfiguration_ms=20");
  done("run " + path("rl/quickstart.json") + " --quiet --set /name=learns --out both/3");
  done("report both");
  browse("workloads.mjs", {"both/report.html"});
  done("goodput " + path("goodput/ocs-technologies.json") + " --seeds 3 --out months");
  done("allocate " + path("slices/tpu-v4-queue.json") + " --set /jobs/drawn/count=60 --out slices");
  done("report both/1 -o one.html");
  done("report both/3 -o three.html");
  browse("ready.mjs", {"one.html", "three.html", "months/goodput.html", "slices/index.html"}, "4");
}

TEST_F(Report, SaysWhatIsWrong) {
  fs::create_directories(folder_ / "empty");
  const auto fails = [&](const std::string& arguments, const char* message) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(message)) << arguments;
  };
  fails("report nowhere", "nowhere: is not a folder");
  fails("report empty", "empty: has no results.db and no result.json");
  std::ofstream(folder_ / "empty/results.db") << "no database at all, and long enough to be looked at as a header\n";
  fails("report empty", "results.db: cannot be read: ");
  fs::remove(folder_ / "empty/results.db");
  std::ofstream(folder_ / "empty/result.json") << "{\"schema\": 1}";
  fails("report empty", "result.json: /schema: must be a string");
  write("tiny.json", tiny("tiny"));
  ASSERT_EQ(run("run tiny.json --out done --trace --quiet").status, 0);
  fails("report done --metric makespan", "--metric: there is no metric \"makespan\" (did you mean makespan_s?)");
  fails("report done -o nowhere/page.html", "nowhere/page.html: cannot write");
  std::ofstream(folder_ / "done/trace.json") << "{\"traceEvents\": [";
  fails("report done", "trace.json: byte 17: not JSON");
}

}  // namespace
}  // namespace photonrail::test
