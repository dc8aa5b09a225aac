// Uneven all-to-alls as a collective workload: a demand, or a mixture of experts.
#include "formats/chakra/chakra_support.hpp"
#include "photonrail/config.hpp"
#include "photonrail/workload/moe.hpp"
#include "support/folder.hpp"
#include "support/graph_parts.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

/// Four ranks that do one all-to-all with these keys; `directory` is where files are.
Scenario parse(const std::string& keys, const std::filesystem::path& directory = "/nowhere") {
  return parse_scenario(R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 2},
                            "workload": {"collective": {"op": "all_to_all", )" +
                            keys + "}}}",
                        directory);
}
std::string error(const std::string& keys) {
  return message_of([&] { static_cast<void>(parse(keys)); });
}

const std::string kExperts = R"("experts": 8, "top_k": 2, "tokens": 100, "hidden": 10)";
Scenario moe(const std::string& keys) { return parse(R"("moe": {)" + kExperts + ", " + keys + "}"); }
std::string moe_error(const std::string& keys) { return error(R"("moe": {)" + kExperts + ", " + keys + "}"); }

const MoeSpec& spec_of(const Scenario& scenario) {
  return dynamic_cast<const MoeTraffic&>(*scenario.graph.demands()).spec();
}

TEST(MoeJson, ADemandSaysHowManyRanks) {
  const Scenario s = parse(R"("demand": [[0, 3, 4], [5, 0, 6], [1, 1, 0]], "repeat": 2)");
  ASSERT_EQ(s.graph.ranks(), 3u);
  ASSERT_EQ(s.graph.program(RankId{2}).tasks().size(), 2u);
  EXPECT_EQ(task(s.graph, 0, 1).demand(), 1u);
  EXPECT_EQ(s.graph.demands()->matrix({.number = 1}).at(1, 2), Bytes{6});
}

TEST(MoeJson, ADemandMayBeAFile) {
  const Folder folder;
  const auto file = folder.write("d.json", "[[0, 7], [8, 0]]");
  const Scenario s = parse(R"("demand": "d.json")", file.parent_path());
  EXPECT_EQ(s.graph.demands()->matrix({.number = 1}).at(1, 0), Bytes{8});
  EXPECT_THAT(error(R"("demand": "none.json")"), HasSubstr("/workload/collective/demand: /nowhere/none.json"));
  folder.write("d.json", "[[0, 7], [8]]");
  EXPECT_THAT(message_of([&] { static_cast<void>(parse(R"("demand": "d.json")", file.parent_path())); }),
              HasSubstr("d.json: /1: has 1 number"));
}

TEST(MoeJson, EveryKey) {
  const Scenario s = moe(R"("dispatch": "fp8", "combine": "fp32", "capacity_factor": 1.5, "padded": true,
      "router": {"kind": "zipf", "exponent": 0.7, "fresh_layers": true, "layer_drift": 0.1, "iteration_drift": 0.2,
                 "source_spread": 0.3})");
  MoeSpec expected;
  expected.members = 4;
  expected.experts = 8;
  expected.top_k = 2;
  expected.tokens = 100;
  expected.hidden = 10;
  expected.dispatch_bytes = 1;
  expected.combine_bytes = 4;
  expected.capacity_factor = 1.5;
  expected.padded = true;
  expected.router.kind = RouterKind::kZipf;
  expected.router.exponent = 0.7;
  expected.router.fresh_layers = true;
  expected.router.layer_drift = 0.1;
  expected.router.iteration_drift = 0.2;
  expected.router.source_spread = 0.3;
  EXPECT_EQ(spec_of(s), expected);
  EXPECT_EQ(s.graph.communicators()[0].dimension, Dimension::kEp);
}

TEST(MoeJson, RepeatIsTheNumberOfLayersEachADispatchAndACombine) {
  const Scenario s = parse(R"("repeat": 3, "moe": {)" + kExperts + "}");
  EXPECT_EQ(spec_of(s).layers, 3u);
  ASSERT_EQ(s.graph.program(RankId{0}).tasks().size(), 6u);
  for (std::uint32_t t = 0; t < 6; ++t) EXPECT_EQ(task(s.graph, 0, t).demand(), t + 1);
  EXPECT_EQ(task(s.graph, 0, 5).size(), Bytes{100 * 2 * 10 * 2});  // choices x elements x bytes
}

TEST(MoeJson, Routers) {
  EXPECT_EQ(spec_of(moe(R"("router": "uniform")")).router, RouterSpec{});
  EXPECT_EQ(spec_of(moe(R"("router": "zipf")")).router.kind, RouterKind::kZipf);
  const RouterSpec dirichlet = spec_of(moe(R"("router": {"kind": "dirichlet", "concentration": 0.5})")).router;
  EXPECT_EQ(dirichlet.kind, RouterKind::kDirichlet);
  EXPECT_EQ(dirichlet.concentration, 0.5);
  const RouterSpec weights =
      spec_of(moe(R"("router": {"kind": "weights", "rows": "members", "weights": [[1, 2, 3, 4, 5, 6, 7, 8]]})")).router;
  EXPECT_EQ(weights.weights, (std::vector<std::vector<double>>{{1, 2, 3, 4, 5, 6, 7, 8}}));
  EXPECT_EQ(weights.weight_rows, WeightRows::kMembers);
  const Folder folder;
  const auto file = folder.write("w.json", "[[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]]");
  const Scenario from_file =
      parse(R"("moe": {)" + kExperts + R"(, "router": {"kind": "weights", "weights": "w.json"}})", file.parent_path());
  EXPECT_EQ(spec_of(from_file).router.weights.size(), 2u);
  EXPECT_EQ(spec_of(from_file).router.weight_rows, WeightRows::kLayers);
}

TEST(MoeJson, ErrorsAreAtTheirPointers) {
  const std::string at = "/workload/collective/";
  EXPECT_THAT(error(R"("demand": [[0, 1], [1, 0]], "bytes": 4)"), HasSubstr(at + "bytes: \"demand\" says how many"));
  EXPECT_THAT(error(R"("demand": [[0, 1], [1, 0]], "ranks": 2)"), HasSubstr(at + "ranks: the demand says"));
  EXPECT_THAT(error(R"("demand": [[0, 1], [1, 0]], "moe": {})"), HasSubstr(at + "moe: the demand is given already"));
  EXPECT_THAT(error(R"("demand": [[0,1,1,1,1],[1,0,1,1,1],[1,1,0,1,1],[1,1,1,0,1],[1,1,1,1,0]])"),
              HasSubstr(at + "demand: 5 ranks do not fit"));
  EXPECT_THAT(error(R"("moe": {"experts": 8, "top_k": 2, "tokens": 1})"), HasSubstr(at + "moe/hidden: missing"));
  EXPECT_THAT(error(R"("ranks": 3, "moe": {)" + kExperts + "}"), HasSubstr(at + "moe/experts: 8 experts do not divide"));
  EXPECT_THAT(moe_error(R"("padded": true)"), HasSubstr(at + "moe/padded: dropless"));
  EXPECT_THAT(moe_error(R"("shared": 1)"), HasSubstr(at + "moe/shared: unknown key"));
  EXPECT_THAT(moe_error(R"("dispatch": "int4")"), HasSubstr(at + "moe/dispatch: unknown value"));
  EXPECT_THAT(moe_error(R"("router": "zip")"), HasSubstr(at + "moe/router: unknown value \"zip\""));
  EXPECT_THAT(moe_error(R"("router": "weights")"), HasSubstr(at + "moe/router: weights need an object"));
  EXPECT_THAT(moe_error(R"("router": {"kind": "uniform", "exponent": 1})"), HasSubstr("only zipf has an exponent"));
  EXPECT_THAT(moe_error(R"("router": {"kind": "zipf", "concentration": 1})"), HasSubstr("only dirichlet has"));
  EXPECT_THAT(moe_error(R"("router": {"kind": "uniform", "fresh_layers": true})"), HasSubstr("nothing is drawn"));
  EXPECT_THAT(moe_error(R"("router": {"kind": "zipf", "layer_drift": -1})"), HasSubstr(at + "moe/router/layer_drift"));
  EXPECT_THAT(moe_error(R"("router": {"kind": "weights", "weights": [[1, 1]]})"),
              HasSubstr(at + "moe/router/weights/0: has 2 numbers, but there are 8 experts"));
  EXPECT_THAT(message_of([] {
                static_cast<void>(parse_scenario(R"({"schema": "photonrail.scenario/1",
                    "cluster": {"servers": 2, "gpus_per_server": 2},
                    "workload": {"collective": {"op": "all_reduce", "demand": [[0, 1], [1, 0]]}}})",
                                                 "/nowhere"));
              }),
              HasSubstr(at + "demand: only an all_to_all has one"));
}

}  // namespace
}  // namespace photonrail::test
