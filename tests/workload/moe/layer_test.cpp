// A layer of experts as a plan, and as numbers of a demand source.
#include "photonrail/workload/moe.hpp"

#include "photonrail/collective.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

/// Two members with two experts each; 300 tokens choose experts 0 and 1, of member 0, and no token the others.
MoeLayerSpec hot() {
  MoeLayerSpec spec;
  spec.traffic = {
      .members = 2, .experts = 4, .top_k = 2, .tokens = 300, .hidden = 100, .dispatch_bytes = 1, .combine_bytes = 2};
  spec.traffic.router.kind = RouterKind::kWeights;
  spec.traffic.router.weights = {{1.0, 1.0, 0.0, 0.0}};
  spec.traffic.layers = 2;
  spec.ffn = 200;
  spec.processors = 8;
  return spec;
}

TEST(MoeLayers, NumbersBeginAfterTheExchanges) {
  const MoeLayers layers(hot());
  EXPECT_EQ(layers.number(0, 0), 5u);  // 1 to 4: dispatch and combine of two layers
  EXPECT_EQ(layers.number(1, 0), 6u);
  EXPECT_EQ(layers.members(6), std::optional<Member>{2});
  EXPECT_FALSE(layers.members(7).has_value());
  EXPECT_EQ(layers.plan({.number = 4}, std::vector<std::uint32_t>{0, 1}), nullptr);
}

// 600 tokens of 100 bytes there, of 200 bytes back.
TEST(MoeLayers, TheMatrixOfALayerHasBothExchanges) {
  const TrafficMatrix both = MoeLayers(hot()).matrix({.number = 6});
  EXPECT_EQ(both.at(1, 0), Bytes{60'000});
  EXPECT_EQ(both.at(0, 1), Bytes{120'000});
}

// Each member sends each of the two experts 300 tokens, 3 rows of tiles: 12 rows on member 0. First matrix: ceil(200 / 64)
// = 4 tiles a row, 48, 6 turns of 8; second: ceil(100 / 64) = 2, 24 tiles, 3 turns. A tile: 2 x 128 x 64 x 100, or x 200.
TEST(MoeLayers, FlopsInWholeTurns) {
  const MoeLayers layers(hot());
  EXPECT_EQ(layers.flops({.number = 5}, 0), 48 * 1'638'400.0 + 24 * 3'276'800.0);
  EXPECT_EQ(layers.flops({.number = 5}, 1), 0.0);
  MoeLayerSpec gated = hot();
  gated.gated = true;
  gated.processors = 36;  // 2 turns for 48, 1 for 24
  EXPECT_EQ(MoeLayers(gated).flops({.number = 5}, 0), 72 * 3'276'800.0 + 36 * 3'276'800.0);
}

struct Count {
  std::uint32_t sends = 0;
  std::uint32_t ordered = 0;
  std::uint32_t tiles = 0;
  std::uint32_t waits = 0;
  std::uint32_t fences = 0;

  friend bool operator==(const Count&, const Count&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Count& c) {
    return out << c.sends << ' ' << c.ordered << ' ' << c.tiles << ' ' << c.waits << ' ' << c.fences;
  }
};

Count count(FencePolicy fences, std::vector<std::uint32_t> servers = {0, 1}) {
  MoeLayerSpec spec = hot();
  spec.fences = fences;
  const auto plan = MoeLayers(spec).plan({.number = 5}, servers);
  Count found;
  for (SendIndex i = 0; i < plan->send_count(); ++i) {
    const Send send = plan->send(i);
    if (send.from != send.to) {
      ++found.sends;
      found.ordered += send.ordered ? 1 : 0;
      continue;
    }
    const LocalStep step = plan->step(i);
    found.tiles += step.tiles;
    found.waits += step.kind == LocalStep::Kind::kWait ? 1 : 0;
    found.fences += step.kind == LocalStep::Kind::kFence ? 1 : 0;
  }
  EXPECT_EQ(plan->pairs(0), (std::vector<MemberPair>{{0, 1}, {1, 0}}));
  EXPECT_EQ(plan->rounds(), 1u);
  // 4 messages of which two carry 300 tokens, 6 rows back, 8 bytes each
  EXPECT_EQ(plan->wire_bytes(), Bytes{60'000 + 120'000 + 10 * 8});
  return found;
}

// Member 0 sends two signals, member 1 two messages; 6 rows go back. 12 rows x (4 + 2) tiles.
TEST(MoeLayers, SendsAndStepsOfEachPolicy) {
  EXPECT_EQ(count(FencePolicy::kNone), (Count{.sends = 10, .tiles = 72}));
  EXPECT_EQ(count(FencePolicy::kNic), (Count{.sends = 10, .tiles = 72, .waits = 8}));
  // a signal of its own behind each of 8 messages with tokens
  EXPECT_EQ(count(FencePolicy::kEachMessage), (Count{.sends = 18, .ordered = 8, .tiles = 72, .fences = 8}));
  // one fence for the two messages, one for the three rows of each
  EXPECT_EQ(count(FencePolicy::kEachDestination), (Count{.sends = 18, .ordered = 8, .tiles = 72, .fences = 3}));
  EXPECT_EQ(count(FencePolicy::kEachMessage, {7, 7}), count(FencePolicy::kNone));
}

TEST(MoeLayers, Errors) {
  const auto error = [](auto change) {
    MoeLayerSpec spec = hot();
    change(spec);
    return std::string(error_of([&] { spec.validate(); }).where());
  };
  EXPECT_THAT(error([](MoeLayerSpec& s) { s.ffn = 0; }), HasSubstr("ffn"));
  EXPECT_THAT(error([](MoeLayerSpec& s) { s.processors = 65536; }), HasSubstr("processors"));
  EXPECT_THAT(error([](MoeLayerSpec& s) { s.tile_rows = 0; }), HasSubstr("tile_rows"));
  EXPECT_THAT(error([](MoeLayerSpec& s) { s.traffic.tokens = 1u << 30; }), HasSubstr("traffic.tokens"));
  EXPECT_THAT(error([](MoeLayerSpec& s) { s.traffic.experts = 3; }), HasSubstr("traffic.experts"));
}

}  // namespace
}  // namespace photonrail::test
