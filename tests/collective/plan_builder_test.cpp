#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace photonrail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<SendIndex> released(const SendPlan& plan, SendIndex arrived) {
  std::vector<SendIndex> out;
  plan.released_by(arrived, out);
  return out;
}

TEST(SendPlanBuilder, InitialSendsComeFirst) {
  // a (0 to 1), b (1 to 2) after a, c (2 to 0) free, d (0 to 1) after b and c: renumbered a c b d.
  SendPlanBuilder builder(3, 1);
  const SendIndex a = builder.add({.from = 0, .to = 1, .bytes = {10}});
  const SendIndex b = builder.add({.from = 1, .to = 2, .bytes = {20}}, {a});
  const SendIndex c = builder.add({.from = 2, .to = 0, .bytes = {30}});
  builder.add({.from = 0, .to = 1, .bytes = {40}, .round = 1}, {b, c});
  const auto plan = std::move(builder).build();

  EXPECT_EQ(plan->send_count(), 4u);
  EXPECT_EQ(plan->initial_sends(), 2u);
  EXPECT_EQ(plan->send(1).bytes, Bytes{30});
  EXPECT_EQ(plan->send(2).bytes, Bytes{20});
  EXPECT_EQ(plan->waits_for(2), 1u);
  EXPECT_EQ(plan->waits_for(3), 2u);
  EXPECT_EQ(plan->most_waits(), 2u);
  EXPECT_THAT(released(*plan, 0), ElementsAre(2u));
  EXPECT_THAT(released(*plan, 1), ElementsAre(3u));
  EXPECT_THAT(released(*plan, 2), ElementsAre(3u));
  EXPECT_THAT(released(*plan, 3), IsEmpty());
  EXPECT_EQ(plan->critical_sends(), 3u);  // a, b, d
  EXPECT_EQ(plan->wire_bytes(), Bytes{100});
}

TEST(SendPlanBuilder, CountsRounds) {
  SendPlanBuilder builder(3, 1);
  builder.add({.from = 1, .to = 0, .round = 1});
  builder.add({.from = 0, .to = 1, .round = 1});
  builder.add({.from = 0, .to = 1, .round = 1});
  builder.add({.from = 0, .to = 2});
  const auto plan = std::move(builder).build();
  EXPECT_EQ(plan->rounds(), 2u);
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 2}));
  EXPECT_THAT(plan->pairs(1), ElementsAre(MemberPair{0, 1}, MemberPair{1, 0}));
  EXPECT_EQ(plan->sends_from(0, 1), 2u);
  EXPECT_EQ(plan->sends_to(1, 1), 2u);
  EXPECT_EQ(plan->sends_to(1, 0), 0u);
}

// 0 to 1, a step of 1, the way back.
TEST(SendPlanBuilder, AStepIsASendToOneself) {
  SendPlanBuilder builder(2, 4);
  const SendIndex there = builder.add({.from = 0, .to = 1, .bytes = {5}, .first_chunk = 1});
  const SendIndex step = builder.add_step(1, {.kind = LocalStep::Kind::kTiles, .tiles = 3, .tile_flops = 7.0}, {there});
  builder.add({.from = 1, .to = 0, .bytes = {6}, .first_chunk = 2}, {step});
  const auto plan = std::move(builder).build();
  EXPECT_EQ(plan->send(step).from, plan->send(step).to);
  EXPECT_EQ(plan->step(step).tiles, 3u);
  EXPECT_EQ(plan->step(step).tile_flops, 7.0);
  EXPECT_EQ(plan->waits_for(step), 1u);
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 1}, MemberPair{1, 0}));
  EXPECT_EQ(plan->sends_from(1, 0), 2u);
  EXPECT_EQ(plan->sends_to(1, 0), 2u);
  EXPECT_EQ(plan->wire_bytes(), Bytes{11});
  SendPlanBuilder other(2, 4);
  EXPECT_THROW(other.add_step(1, {.kind = LocalStep::Kind::kTiles}), InternalError);  // no tiles
}

// What sends have in common is kept once: here of 1,000 sends, of which no two neighbours are alike, and some are.
TEST(SendPlanBuilder, EverySendKeepsWhatItIs) {
  const auto wanted = [](std::uint32_t i) {
    return Send{.from = i % 5,
                .to = (i + 1 + i % 4) % 5,
                .bytes = {i % 3 == 0 ? 7 : i * 11},
                .first_chunk = i % 90,
                .chunks = 1 + i % 10,
                .round = i / 250,
                .reduce = i % 2 == 0,
                .ordered = i % 7 == 0};
  };
  SendPlanBuilder builder(5, 100);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::vector<SendIndex> after = i % 2 == 0 ? std::vector<SendIndex>{} : std::vector<SendIndex>{i - 1};
    builder.add(wanted(i), after, i % 100 == 50 ? std::vector<ChunkRun>{{97, 2}, {3, 1}} : std::vector<ChunkRun>{});
  }
  const auto plan = std::move(builder).build();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const SendIndex place = i % 2 == 0 ? i / 2 : 500 + i / 2;
    const Send is = plan->send(place);
    const Send was = wanted(i);
    EXPECT_EQ(std::tie(is.from, is.to, is.bytes, is.first_chunk, is.chunks, is.round, is.reduce, is.ordered),
              std::tie(was.from, was.to, was.bytes, was.first_chunk, was.chunks, was.round, was.reduce, was.ordered));
    std::vector<ChunkRun> data;
    plan->data(place, data);
    EXPECT_EQ(data.size(), i % 100 == 50 ? 3u : 1u);
  }
}

TEST(SendPlanBuilder, AnEmptyPlanIsAPlan) {
  const auto plan = SendPlanBuilder(2, 1).build();
  EXPECT_EQ(plan->send_count(), 0u);
  EXPECT_EQ(plan->rounds(), 1u);
  EXPECT_THAT(plan->pairs(0), IsEmpty());
}

TEST(SendPlanBuilder, RefusesWhatDoesNotExist) {
  const auto build_one = [](const Send& send) {
    SendPlanBuilder builder(3, 4);
    builder.add(send);
    return std::move(builder).build();
  };
  EXPECT_THROW(build_one({.from = 0, .to = 3}), InternalError);
  EXPECT_THROW(build_one({.from = 1, .to = 1}), InternalError);
  EXPECT_THROW(build_one({.from = 0, .to = 1, .first_chunk = 3, .chunks = 2}), InternalError);
  SendPlanBuilder builder(3, 4);
  EXPECT_THROW(builder.add({.from = 0, .to = 1}, {0}), InternalError);
}

}  // namespace
}  // namespace photonrail
