// The layers of a mixture of experts as a workload.
#include "formats/chakra/chakra_support.hpp"
#include "photonrail/config.hpp"
#include "photonrail/workload/moe.hpp"
#include "support/folder.hpp"
#include "support/graph_parts.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

const std::string kLayerExperts = R"("experts": 8, "top_k": 2, "tokens": 100, "hidden": 10, "ffn": 30)";

Scenario parse_layer(const std::string& keys) {
  return parse_scenario(R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 2},
                            "workload": {"moe_layer": {)" +
                            keys + "}}}",
                        "/nowhere");
}
Scenario layer(const std::string& keys) { return parse_layer(kLayerExperts + ", " + keys); }
std::string layer_error(const std::string& keys) {
  return message_of([&] { static_cast<void>(layer(keys)); });
}
const MoeLayerSpec& layer_spec_of(const Scenario& scenario) {
  return dynamic_cast<const MoeLayers&>(*scenario.graph.demands()).spec();
}

TEST(MoeLayerJson, EveryKey) {
  MoeLayerSpec expected;
  expected.traffic = {.members = 4, .experts = 8, .top_k = 2, .tokens = 100, .hidden = 10, .dispatch_bytes = 1};
  expected.traffic.layers = 3;
  expected.ffn = 30;
  expected.gated = true;
  expected.tile_rows = 64;
  expected.tile_columns = 32;
  expected.processors = 107;
  expected.fences = FencePolicy::kEachDestination;
  expected.fence = Duration{2'500'000};
  const Scenario s = layer(R"("gated": true, "execution": "pipelined", "layers": 3, "tile_rows": 64, "tile_columns": 32,
      "processors": 107, "fences": "each_destination", "fence_us": 2.5, "dispatch": "fp8")");
  EXPECT_EQ(layer_spec_of(s), expected);
}

// Numbers 1 to 4 are the exchanges of two layers, 5 and 6 the layers.
TEST(MoeLayerJson, TasksOfALayer) {
  const Scenario whole = layer(R"("execution": "pipelined", "layers": 2)");
  ASSERT_EQ(whole.graph.program(RankId{0}).tasks().size(), 2u);
  EXPECT_EQ(task(whole.graph, 3, 1).demand(), 6u);
  const Scenario bulk = layer(R"("execution": "bulk", "layers": 2, "ranks": 2)");
  ASSERT_EQ(bulk.graph.ranks(), 2u);
  ASSERT_EQ(bulk.graph.program(RankId{0}).tasks().size(), 6u);
  EXPECT_EQ(task(bulk.graph, 0, 3).demand(), 3u);
  EXPECT_EQ(task(bulk.graph, 0, 4).kind, TaskKind::kCompute);
  EXPECT_EQ(task(bulk.graph, 0, 4).demand(), 6u);
  EXPECT_EQ(task(bulk.graph, 0, 4).flops, 2.0 * 2 * 10 * 30 * 100 * 2);
  EXPECT_EQ(task(bulk.graph, 0, 5).demand(), 4u);
}

TEST(MoeLayerJson, Errors) {
  const std::string at = "/workload/moe_layer";
  EXPECT_THAT(message_of([] { static_cast<void>(parse_layer(R"("experts": 8, "top_k": 2, "tokens": 1, "hidden": 1)")); }),
              HasSubstr(at + "/ffn: missing"));
  EXPECT_THAT(layer_error(R"("layers": 1)"), HasSubstr(at + "/execution: missing"));
  EXPECT_THAT(layer_error(R"("execution": "fast")"), HasSubstr(at + "/execution: unknown value \"fast\""));
  EXPECT_THAT(layer_error(R"("execution": "bulk", "fences": "all")"), HasSubstr(at + "/fences: unknown value"));
  EXPECT_THAT(layer_error(R"("execution": "bulk", "processors": 0)"), HasSubstr(at + "/processors"));
  EXPECT_THAT(layer_error(R"("execution": "bulk", "ranks": 3)"), HasSubstr(at + "/experts: 8 experts do not divide"));
  EXPECT_THAT(layer_error(R"("execution": "bulk", "ranks": 8)"), HasSubstr(at + "/ranks: 8 ranks do not fit"));
  EXPECT_THAT(layer_error(R"("execution": "bulk", "tile_rows": 1, "capacity_factor": 100000, "padded": true)"),
              HasSubstr(at + "/tokens: makes more than 60000 rows"));
}

}  // namespace
}  // namespace photonrail::test
