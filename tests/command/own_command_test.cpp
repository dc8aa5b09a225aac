// The command as a function, with a controller and a collective that are not built in.
#include "photonrail/command.hpp"

#include "command/command.hpp"
#include "support/own_names.hpp"

#include <iostream>
#include <sstream>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Takes what is written to a stream while it lives.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

class OwnCommand : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    // 1 ms of computation, a request, 1 ms of switching, 6 steps of 5 us.
    json scenario = tiny("mine");
    scenario["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 1}}}};
    scenario["controller"] = {{"name", "lights_once"}};
    scenario["workload"]["collective"]["algorithm"] = "own_ring";
    write("s.json", scenario);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static Outcome call(std::vector<std::string> words, const Registries& known = own_names()) {
    words.insert(words.begin(), "mine");
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    argv.push_back(nullptr);
    const Captured out(std::cout);
    const Captured err(std::cerr);
    Outcome outcome;
    outcome.status = command_main(static_cast<int>(words.size()), argv.data(), known);
    outcome.out = out.text();
    outcome.err = err.text();
    return outcome;
  }
};

TEST_F(OwnCommand, ListsThem) {
  EXPECT_THAT(call({"list", "controllers"}).out,
              ::testing::ContainsRegex("\nlights_once +circuits of the first request, lit once .hold_us = 0.\n"));
  EXPECT_THAT(call({"list", "collectives"}).out, HasSubstr("a ring of the caller (all_reduce)"));
}

TEST_F(OwnCommand, RunsThem) {
  const Outcome done =
      call({"run", path("s.json"), "--set", "/controller/hold_us=500", "--out", path("out"), "--ccl-bench"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_DOUBLE_EQ(result("out/result.json")["makespan_s"].get<double>(), 1.53e-3);
  EXPECT_TRUE(fs::exists(folder_ / "out" / "ccl_bench.json"));  // which runs the scenario once more
}

TEST_F(OwnCommand, ValidatesPricesAndExportsThem) {
  EXPECT_THAT(call({"validate", path("s.json")}).out, HasSubstr("controller lights_once"));
  EXPECT_EQ(call({"cost", path("s.json")}).status, 0);
  EXPECT_THAT(call({"trace", "info", path("s.json")}).out, StartsWith("4 ranks"));
  EXPECT_EQ(call({"trace", "export", path("s.json"), "--prefix", path("t")}).status, 0);
  EXPECT_EQ(call({"card", "export", path("s.json"), "-o", path("card.yaml")}).status, 0);
  EXPECT_THAT(call({"collective", "export", "--op", "all_reduce", "--algorithm", "own_ring", "--ranks", "4"}).out,
              HasSubstr("<algo name=\"own_ring_all_reduce\""));
}

TEST_F(OwnCommand, SweepsThem) {
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "s.json"},
                       {"axes", {{{"name", "hold"}, {"pointer", "/controller/hold_us"}, {"values", {0, 500}}}}}});
  EXPECT_THAT(call({"sweep", path("sweep.json"), "--dry-run"}).out, HasSubstr("2 points"));
  const Outcome point = call({"sweep", path("sweep.json"), "--point", "1", "--out", path("point")});
  EXPECT_EQ(point.status, 0) << point.err;
  EXPECT_DOUBLE_EQ(result("point/result.json")["makespan_s"].get<double>(), 1.53e-3);
  const Outcome all = call({"sweep", path("sweep.json"), "--out", path("swept")});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(read(folder_ / "swept" / "results.csv"), HasSubstr("0.00153"));
  EXPECT_THAT(call({"sweep", "status", path("swept")}).out, ::testing::ContainsRegex("done +2\n"));
}

// 1e12 FLOPs of 100 TFLOP/s are 10 ms, 25 ms at efficiency 0.4; the rest of a step is 1.03 ms.
TEST_F(OwnCommand, CalibratesThem) {
  json scenario = json::parse(read(folder_ / "s.json"));
  scenario["cluster"]["gpu"] = {{"peak_tflops", 100}, {"memory_gb_per_s", 1000}};
  json tasks = json::array();
  for (int rank = 0; rank < 2; ++rank) {
    tasks.push_back({{"rank", rank}, {"id", "work"}, {"flops", 1e12}});
    const char* peer = rank == 0 ? "send_to" : "receive_from";
    tasks.push_back({{"rank", rank}, {peer, 1 - rank}, {"bytes", 1500000}, {"after", {"work"}}});
  }
  scenario["workload"] = {{"graph", {{"schema", "photonrail.graph/1"}, {"ranks", 2}, {"tasks", tasks}}}};
  write("job.json", scenario);
  const Outcome done = call({"calibrate", path("job.json"), "--step-s", "0.02603"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, StartsWith("compute efficiency 0.4"));
}

TEST_F(OwnCommand, ErrorsAreToldAndCounted) {
  const Outcome stranger = call({"run", path("s.json")}, Registries{});
  EXPECT_EQ(stranger.status, 2);
  EXPECT_THAT(stranger.err, HasSubstr("there is no controller 'lights_once'"));
  EXPECT_EQ(stranger.out, "");
  EXPECT_EQ(call({"run"}).status, 2);
  EXPECT_EQ(call({"--version"}).status, 0);
}

}  // namespace
}  // namespace photonrail::test
