// Features that are fine alone and went wrong together: each scenario is as small as one that showed it.
#include "command/command.hpp"

#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class MeetingFeatures : public Command {
 protected:
  void expect_place(const std::string& arguments, const std::string& place) const {
    const Outcome done = run(arguments);
    EXPECT_EQ(done.status, 2) << arguments << '\n' << done.err;
    EXPECT_THAT(done.err, StartsWith("photonrail: error: ")) << arguments;
    EXPECT_THAT(done.err, HasSubstr(place)) << arguments;
    EXPECT_THAT(done.err, Not(HasSubstr("filesystem error"))) << arguments;
  }
};

// Places of four stages: the embedding, 6 layers, 8 predictions and the head, 16 in all. Those of stages 2 and 3 begin
// behind the last layer.
TEST_F(MeetingFeatures, PredictionsThatCountAsLayersAndAPipeline) {
  json scenario = tiny("predictions");
  scenario["workload"] = {{"training",
                           {{"model",
                             {{"layers", 6},
                              {"hidden", 128},
                              {"ffn", 256},
                              {"heads", 4},
                              {"kv_heads", 4},
                              {"vocabulary", 500},
                              {"predicted_tokens", 8}}},
                            {"sequence", 64},
                            {"global_batch", 8},
                            {"parallelism", {{"pp", 4}}},
                            {"ends_count_as_layers", true}}}};
  write("a.json", scenario);
  for (const char* verb : {"run a.json", "validate a.json"})
    expect_place(verb, "a.json: /workload/training/parallelism/pp: ");
  scenario["workload"]["training"]["model"]["predicted_tokens"] = 2;  // 10 places: 3, 3, 2, 2, the last layer's in stage 2
  write("a.json", scenario);
  EXPECT_EQ(run("run a.json --quiet").status, 0);
}

// A link fails and a rank stops at one instant, at which a message over the link ends.
TEST_F(MeetingFeatures, ALinkThatFailsAndAGpuThatStopsAtOneInstant) {
  json scenario = tiny("links");
  scenario["cluster"]["servers"] = 2;
  scenario["cluster"]["gpus_per_server"] = 4;
  scenario["cluster"]["scale_up"] = {{"gb_per_s", 100},
                                     {"latency_ns", 0},
                                     {"torus", {{"sides", {2, 2}}}},
                                     {"faults", {{{"gpu", 0}, {"to", 1}, {"at_us", 2}, {"lasts_us", 10}}}}};
  scenario["cluster"].erase("nic");
  scenario["workload"] = {{"collective", {{"op", "all_gather"}, {"bytes", 100000}}}};
  scenario["stragglers"] = {{{"ranks", {0}}, {"stops", true}, {"at_us", 2}, {"lasts_us", 5}}};
  write("a.json", scenario);
  const Outcome done = run("run a.json --quiet");
  EXPECT_EQ(done.status, 0) << done.err;
}

TEST_F(MeetingFeatures, ARingThatBypassesAGpuAndALinkThatFails) {
  json scenario = tiny("ring");
  scenario["cluster"]["servers"] = 1;
  scenario["cluster"]["gpus_per_server"] = 5;
  scenario["cluster"]["scale_up"] = {
      {"gb_per_s", 100}, {"ring", {{"bypassed", {2}}}}, {"faults", {{{"gpu", 3}, {"to", 1}, {"at_us", 1}}}}};
  scenario["placement"] = {{"rank_to_gpu", {0, 1, 3, 4}}};
  scenario["workload"] = {{"collective", {{"op", "all_reduce"}, {"ranks", 4}, {"bytes", 500000}}}};
  write("a.json", scenario);
  const Outcome done = run("run a.json --quiet");
  EXPECT_EQ(done.status, 0) << done.err;
}

// Ports go to dimensions by their bytes, and a barrier has none.
TEST_F(MeetingFeatures, ABarrierAndAPolicyThatSharesPortsByBytes) {
  json scenario = tiny("barrier");
  scenario["cluster"]["servers"] = 2;
  scenario["cluster"].erase("nic");
  scenario["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_us", 5}}}};
  scenario["controller"] = {{"name", "static_split"}, {"forward", false}};
  scenario["workload"] = {{"collective", {{"op", "barrier"}}}};
  write("a.json", scenario);
  const Outcome done = run("run a.json");
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.err, HasSubstr("waits for a circuit from rank 0 to rank 1; controller 'static_split' leaves server 0 on "
                                  "rail 0 without circuits, and a barrier has no bytes"));
  EXPECT_THAT(done.err, HasSubstr("with \"forward\": true"));
  EXPECT_EQ(run("run a.json --set /controller/forward=true --quiet").status, 0);
}

TEST_F(MeetingFeatures, FactorsOfRowsThatAreNoObject) {
  for (const json& factors : {json(0), json("h100"), json::array({1, 2}), json(true)}) {
    write("rows.json", {{"schema", "photonrail.rows/1"}, {"factors", factors}, {"rows", json::array()}});
    expect_place("calibrate --rows rows.json", "rows.json: /factors: must be an object");
  }
  write("rows.json", {{"schema", "photonrail.rows/1"}, {"factors", {{"h100", "x"}}}, {"rows", json::array()}});
  expect_place("calibrate --rows rows.json", "rows.json: /factors/h100: must be a number");
}

// File systems take names of 255 bytes.
TEST_F(MeetingFeatures, NamesThatAreTooLongForAFileSystem) {
  const std::string name(300, 'n');
  write("a.json", tiny("a"));
  ASSERT_EQ(run("run a.json --out results --quiet").status, 0);
  const std::vector<std::string> lines = {"run NAME",
                                          "run a.json --out NAME",
                                          "run a.json --out NAME/b",
                                          "validate NAME",
                                          "validate a.json --graphviz NAME",
                                          "sweep NAME",
                                          "goodput NAME",
                                          "allocate NAME",
                                          "allocate NAME --out b",
                                          "cost NAME",
                                          "cost a.json --catalogue NAME",
                                          "compare NAME NAME",
                                          "compare results NAME",
                                          "report NAME",
                                          "report results --out NAME",
                                          "trace info NAME",
                                          "trace info --prefix NAME",
                                          "trace info --prefix NAME/b",
                                          "trace info --prefix a --groups NAME",
                                          "trace export a.json --prefix NAME",
                                          "card import NAME -o b.json",
                                          "card export a.json -o NAME",
                                          "collective info NAME",
                                          "collective export --op all_reduce --algorithm ring --ranks 4 -o NAME",
                                          "calibrate NAME --step-s 1",
                                          "calibrate --rows NAME",
                                          "calibrate a.json --step-s 1 -o NAME",
                                          "operators import NAME -o b",
                                          "init NAME",
                                          "man NAME/b",
                                          "import infragraph NAME -o b.json",
                                          "--plugin NAME list"};
  for (const std::string& line : lines) {
    std::string told = line;
    for (std::size_t at = 0; (at = told.find("NAME", at)) != std::string::npos; at += name.size()) {
      told.replace(at, 4, name);
    }
    expect_place(told, "");
  }
  for (const char* where : {"graph", "chakra"}) {
    json scenario = tiny("a");
    scenario["workload"] = {{where, name}};
    if (where == std::string("chakra")) scenario["workload"] = {{where, {{"prefix", name}}}};
    write("b.json", scenario);
    expect_place("run b.json", std::string("b.json: /workload/") + where + ": ");
  }
  write("s.json", {{"schema", "photonrail.sweep/1"}, {"base", name}, {"axes", json::array()}});
  expect_place("sweep s.json", "s.json: /base: ");
}

}  // namespace
}  // namespace photonrail::test
