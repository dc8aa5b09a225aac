#include "control/shown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using testing::RailView;

ParameterValues with(const char* key, ParameterValue value) { return ParameterValues{}.set(key, std::move(value)); }

constexpr RailView::DemandOptions kAnnounced{.blocking = false};
const std::vector<ServerPair> kRing{{0, 1}, {1, 2}, {2, 0}};

// A refit that is announced has its ring before it begins; without "provisioned" when it blocks.
TEST(Phases, SetTheRingOfARefitThatIsAnnounced) {
  RailView rail(3);
  rail.demand(kRing, Dimension::kRefit, kAnnounced);
  EXPECT_EQ(make_controller("phases")->decide(rail.view()).plan(), rail.plan(kRing));
  const auto on_demand = make_controller("phases", with("provisioned", 0.0));
  EXPECT_TRUE(on_demand->decide(rail.view()).keeps());
  rail.clear_demands().demand(kRing, Dimension::kRefit);
  EXPECT_EQ(on_demand->decide(rail.view()).plan(), rail.plan(kRing));
}

// Training that waits takes the ports that an announced refit wants, however old that is.
TEST(Phases, WhatWaitsGoesBeforeWhatIsAnnounced) {
  RailView rail(3);
  rail.demand(kRing, Dimension::kRefit, kAnnounced).demand({{0, 2}}, Dimension::kDp);
  EXPECT_EQ(make_controller("phases")->decide(rail.view()).plan(), rail.plan({{0, 2}}));
}

// The circuit of 0 is in use: the refit, which is older, waits for it, and training leaves its ports alone.
TEST(Phases, TheOldestOfThePhasesKeepsItsPorts) {
  RailView rail(4);
  rail.in_use({0, 3}).demand(kRing, Dimension::kRefit).demand({{1, 3}}, Dimension::kEp);
  EXPECT_TRUE(make_controller("phases")->decide(rail.view()).keeps());
  RailView other(4);
  other.in_use({0, 3}).demand({{1, 3}}, Dimension::kEp).demand(kRing, Dimension::kRefit);
  EXPECT_TRUE(make_controller("phases")->decide(other.view()).keeps()) << "3 receives from 0";
  RailView apart(5);
  apart.in_use({0, 3}).demand(kRing, Dimension::kRefit).demand({{3, 4}}, Dimension::kEp);
  EXPECT_EQ(make_controller("phases")->decide(apart.view()).plan(), apart.plan({{3, 4}}));
}

// Two phases want the port of 0, and nothing is on it yet: what was announced first, or blocks, has it until it is used.
TEST(Phases, PhasesDoNotTakeIdleCircuitsFromEachOther) {
  struct Wish {
    ServerPair pair;
    Dimension dimension;
    bool blocking;
  };
  const auto lit_first = [](const Wish& first, const Wish& second) {
    RailView rail(3);
    for (const Wish& wish : {first, second}) rail.demand({wish.pair}, wish.dimension, {.blocking = wish.blocking});
    const auto phases = make_controller("phases");
    const CircuitPlan plan = phases->decide(rail.view()).plan();
    rail.apply(plan);
    EXPECT_TRUE(phases->decide(rail.view()).keeps());
    return plan;
  };
  RailView rail(3);
  for (const bool blocking : {false, true}) {
    const Wish training{{0, 1}, Dimension::kDp, blocking};
    const Wish refit{{0, 2}, Dimension::kRefit, blocking};
    EXPECT_EQ(lit_first(training, refit), rail.plan({{0, 1}}));
    EXPECT_EQ(lit_first(refit, training), rail.plan({{0, 2}}));
  }
}

// Training waits for its circuit, and has announced another one; the refit that waits, too, goes before that.
TEST(Phases, WhatAPhaseAnnouncesComesBehindWhatAnotherWaitsFor) {
  RailView rail(5);
  rail.demand({{0, 1}}, Dimension::kDp).demand({{2, 4}}, Dimension::kPp, kAnnounced).demand({{2, 3}}, Dimension::kRefit);
  const auto phases = make_controller("phases");
  const CircuitPlan plan = phases->decide(rail.view()).plan();
  EXPECT_EQ(plan, rail.plan({{0, 1}, {2, 3}}));
  rail.apply(plan);
  EXPECT_TRUE(phases->decide(rail.view()).keeps());
}

// Generation sends from 0 to 1, and more KV from 0 to 2 at another time. A refit takes both ways, and when it has ended the
// heavier pair has its circuit before anything asks.
struct Boundary {
  explicit Boundary(const char* generation) : phases(make_controller("phases", with("generation", generation))) {
    const auto ask = [this](ServerPair pair, Dimension dimension, std::int64_t bytes) {
      rail.clear_demands().demand({pair}, dimension, {.bytes = {Bytes{bytes}}});
      rail.apply(phases->decide(rail.view()).plan());
    };
    ask({0, 1}, Dimension::kTp, 9000);
    ask({0, 2}, Dimension::kKv, 1000);
    rail.clear_demands().demand({{0, 3}, {3, 0}}, Dimension::kRefit);
    rail.apply(phases->decide(rail.view()).plan());
    rail.clear_demands();
    rail.hold({0, 3});
    EXPECT_TRUE(phases->decide(rail.view()).keeps()) << "the refit has the port";
    rail.release({0, 3});
  }
  std::unique_ptr<Controller> phases;
  RailView rail{4};
};

TEST(Phases, CircuitsOfGenerationAreLitWhenARefitEnds) {
  Boundary split("static_split");
  EXPECT_EQ(split.phases->decide(split.rail.view()).plan(), split.rail.plan({{0, 1}}));
  Boundary kv("kv_only");
  EXPECT_EQ(kv.phases->decide(kv.rail.view()).plan(), kv.rail.plan({{0, 2}}));
  Boundary none("on_demand");
  EXPECT_TRUE(none.phases->decide(none.rail.view()).keeps());
}

// Once lit, they are not kept from training, and do not come back in between.
TEST(Phases, CircuitsThatWereLitAheadGiveWay) {
  Boundary at("static_split");
  at.rail.demand({{0, 3}}, Dimension::kDp);
  EXPECT_TRUE(at.phases->decide(at.rail.view()).keeps()) << "training has the circuit that the refit left";
  at.rail.clear_demands();
  EXPECT_TRUE(at.phases->decide(at.rail.view()).keeps());
}

}  // namespace
}  // namespace photonrail::test
