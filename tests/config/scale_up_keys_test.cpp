// The keys of the scale-up fabric's shapes: what they mean, and what is said of wrong ones.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using test::error_of;
using ::testing::HasSubstr;

constexpr std::string_view kTorus = R"({
  "schema": "photonrail.scenario/1",
  "cluster": { "servers": 1, "gpus_per_server": 128,
    "scale_up": { "gb_per_s": 50, "latency_ns": 500, "pooled": true,
      "torus": { "sides": [4, 4, 8], "cube": 4, "face_latency_ns": 100, "twisted": true } } },
  "workload": { "collective": { "op": "all_reduce", "bytes": 1048576 } } })";

Scenario read_torus(const std::vector<Override>& changes) { return parse_scenario(kTorus, "/nowhere", "s.json", changes); }

TEST(ScaleUpKeys, AreTheShape) {
  const ScaleUpSpec torus = read_torus({}).cluster.scale_up;
  EXPECT_EQ(torus.shape.kind, ScaleUpShape::Kind::kTorus);
  EXPECT_EQ(torus.shape.sides, (std::vector<std::uint32_t>{4, 4, 8}));
  EXPECT_EQ(torus.shape.wraps, (std::vector<bool>{true, true, true}));
  EXPECT_TRUE(torus.shape.twisted && torus.shape.pooled);
  EXPECT_EQ(torus.shape.block, 4u);
  EXPECT_EQ(torus.face_latency, Duration{100'000});
  EXPECT_EQ(torus.of_gpu(), torus.per_gpu);  // a pool of 50 GB/s, a sixth of it a link
  EXPECT_DOUBLE_EQ(torus.least_link().bytes_per_second, 50e9 / 6);
  const ScaleUpSpec mesh =
      read_torus({{"/cluster/scale_up/torus", R"({"sides": [64, 2], "wrap": [false, true]})"}}).cluster.scale_up;
  EXPECT_EQ(mesh.shape.wraps, (std::vector<bool>{false, true}));
  const ScaleUpSpec ring =
      read_torus({{"/cluster/scale_up", R"({"ring": {"reach": 3}})"}, {"/cluster/gpus_per_server", "30"}}).cluster.scale_up;
  EXPECT_EQ(ring.shape.kind, ScaleUpShape::Kind::kRing);
  EXPECT_EQ(ring.shape.reach, 3u);
}

struct WrongShape {
  std::string name;
  std::vector<Override> changes;
  std::string where;
  std::string what;
};
std::ostream& operator<<(std::ostream& out, const WrongShape& wrong) { return out << wrong.name; }

class ScaleUpErrors : public ::testing::TestWithParam<WrongShape> {};

TEST_P(ScaleUpErrors, AreRefusedAtTheirPointer) {
  const ConfigError error = error_of([] { static_cast<void>(read_torus(GetParam().changes)); });
  EXPECT_EQ(error.where(), "s.json: /cluster/" + GetParam().where);
  EXPECT_THAT(error.what(), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    All, ScaleUpErrors,
    ::testing::ValuesIn(std::vector<WrongShape>{
        WrongShape{
            "size", {{"/cluster/gpus_per_server", "64"}}, "scale_up/torus/sides", "a torus of 4 x 4 x 8 has 128 GPUs"},
        WrongShape{"twist",
                   {{"/cluster/scale_up/torus/sides", "[4, 8, 4]"}, {"/cluster/scale_up/torus/wrap", "false"}},
                   "scale_up/torus/twisted",
                   "has no twisted form"},
        WrongShape{"cube", {{"/cluster/scale_up/torus/cube", "3"}}, "scale_up/torus/cube", "no number of cubes of 3"},
        WrongShape{"wrap", {{"/cluster/scale_up/torus/wrap", "[true]"}}, "scale_up/torus/wrap", "for 1 of 3 sides"},
        WrongShape{"both", {{"/cluster/scale_up/ring", "{}"}}, "scale_up", "exclude each other"},
        WrongShape{"pool", {{"/cluster/scale_up", R"({"pooled": true})"}}, "scale_up/pooled", "nothing to divide"},
        WrongShape{"cut",
                   {{"/cluster/scale_up", R"({"ring": {"bypassed": [3, 4, 9, 10]}})"}},
                   "scale_up/ring/bypassed",
                   "into 2 parts, at GPUs 3 and 9"},
        WrongShape{"crossbar",
                   {{"/cluster/scale_up", "{}"}, {"/cluster/gpus_per_server", "1025"}},
                   "gpus_per_server",
                   "from 1 to 1024 with a crossbar"},
        WrongShape{"too_many", {{"/cluster/servers", "5000"}}, "scale_up", "more than the 262144 whose links"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace photonrail
