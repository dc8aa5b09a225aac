#include "photonrail/testing/policy_kit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

using std::chrono::milliseconds;

/// One rail of four servers, 50 GB/s a port, 10 ms a change: a ring {0,1} is lit, and a request for 0 -> 2 may come.
class Rail {
 public:
  Rail() {
    rail_.lit({0, 1}).lit({1, 0});
    const ControllerRegistry known = ControllerRegistry::builtin();
    const ControllerFactory& factory = known.find("coalesce");
    ControllerSpec spec;
    spec.name = "coalesce";
    controller_ = factory.make(factory.complete(spec), RailId{0}, 1, 1);
  }

  /// A demand that takes `service` on its circuits and is due at `due`.
  Rail& wants(std::vector<ServerPair> pairs, Duration service, Duration due) {
    add(demands_, std::move(pairs), service, due, 2);
    return *this;
  }
  /// One of two members asked; in the profiling run the operation began at `expected`.
  Rail& will_want(std::vector<ServerPair> pairs, Duration service, Duration due, Duration expected) {
    add(gathering_, std::move(pairs), service, due, 1);
    gathering_.back().expected = Time{expected};
    return *this;
  }

  Decision decide() {
    FabricView view = rail_.view();
    view.port_rate = Bandwidth::from_gb_per_s(50);
    view.reconfiguration.switching = delay_;
    view.now = now_;
    for (std::size_t i = 0; i < demands_.size(); ++i) show(demands_[i], i);
    for (std::size_t i = 0; i < gathering_.size(); ++i) show(gathering_[i], demands_.size() + i);
    view.requests = demands_;
    view.partial_requests = gathering_;
    return controller_->decide(view);
  }

  [[nodiscard]] CircuitPlan plan(const std::vector<ServerPair>& pairs) const { return rail_.plan(pairs); }
  Rail& delay(Duration delay) {
    delay_ = delay;
    return *this;
  }
  /// The plan is carried out, and the demands are others.
  Rail& apply(const CircuitPlan& plan) {
    rail_.apply(plan);
    demands_.clear();
    pairs_.clear();
    bytes_.clear();
    return *this;
  }
  Rail& later(Duration time) {
    now_ = now_ + time;
    return *this;
  }

 private:
  void add(std::vector<CircuitRequest>& list, std::vector<ServerPair> pairs, Duration service, Duration due,
           std::uint32_t asked) {
    CircuitRequest demand;
    demand.members = 2;
    demand.asked = asked;
    demand.blocking = asked == 2;
    demand.due = Time{due};
    list.push_back(demand);
    bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(place(list)),
                  std::vector<Bytes>(pairs.size(), Bytes{service.count() / 20}));
    pairs_.insert(pairs_.begin() + static_cast<std::ptrdiff_t>(place(list)), std::move(pairs));
  }
  // Where the last of the list stands among all demands.
  [[nodiscard]] std::size_t place(const std::vector<CircuitRequest>& list) const {
    return &list == &demands_ ? demands_.size() - 1 : demands_.size() + gathering_.size() - 1;
  }
  void show(CircuitRequest& demand, std::size_t index) {
    demand.id = RequestId{index};
    demand.communicator = CommunicatorId{index};
    demand.pairs = pairs_[index];
    demand.bytes = bytes_[index];
  }

  testing::RailView rail_{4};
  Duration delay_ = milliseconds(10);
  Time now_{};
  std::unique_ptr<Controller> controller_;
  std::vector<CircuitRequest> demands_;
  std::vector<CircuitRequest> gathering_;
  std::vector<std::vector<ServerPair>> pairs_;
  std::vector<std::vector<Bytes>> bytes_;
};

TEST(Coalesce, LightsWhatNobodyElseHas) {
  Rail rail;
  rail.wants({{2, 3}}, milliseconds(1), milliseconds(5));
  const Decision decision = rail.decide();
  ASSERT_FALSE(decision.keeps());
  EXPECT_EQ(decision.plan(), rail.plan({{2, 3}}));
}

// First the ring (1 ms, ends 3 ms before it is due), then a change: the hop ends at 12 ms, 8 before it is due. First the
// hop: it ends at 11 ms, and the ring at 22 ms, 18 ms late.
TEST(Coalesce, KeepsCircuitsForWhatIsDueSoon) {
  Rail rail;
  rail.wants({{0, 1}, {1, 0}}, milliseconds(1), milliseconds(4)).wants({{0, 2}}, milliseconds(1), milliseconds(20));
  EXPECT_TRUE(rail.decide().keeps());
}

// The other way round: the hop would be 30 ms late behind the ring (30 + 10 + 1 against 11), which has a second to spare.
TEST(Coalesce, GoesOverToWhatIsDueFirst) {
  Rail rail;
  rail.wants({{0, 1}, {1, 0}}, milliseconds(30), milliseconds(1000)).wants({{0, 2}}, milliseconds(1), milliseconds(11));
  const Decision decision = rail.decide();
  ASSERT_FALSE(decision.keeps());
  EXPECT_EQ(decision.plan(), rail.plan({{0, 2}}));
}

// Where circuits are there at once, the ring could take them back in the same instant, and the hop again, without end. It
// asks to be asked again: where the hop has no bytes, nothing else happens.
TEST(Coalesce, LeavesWhatItMadeAtThisInstant) {
  Rail rail;
  rail.delay({}).wants({{0, 2}}, milliseconds(1), milliseconds(11));
  const Decision first = rail.decide();
  ASSERT_FALSE(first.keeps());
  rail.apply(first.plan());
  rail.wants({{0, 2}}, milliseconds(30), milliseconds(1000)).wants({{0, 1}}, milliseconds(1), milliseconds(1));
  const Decision second = rail.decide();
  EXPECT_TRUE(second.keeps());
  EXPECT_EQ(second.ask_again, Time{Duration{1}});
  rail.later(Duration{1});
  EXPECT_FALSE(rail.decide().keeps());
}

// Expected at 50 ms: it asks to be asked again one delay before, and does nothing until then.
TEST(Coalesce, BeginsOneDelayBeforeWhatItForesees) {
  Rail rail;
  rail.will_want({{0, 2}}, milliseconds(1), milliseconds(60), milliseconds(50));
  const Decision later = rail.decide();
  EXPECT_TRUE(later.keeps());
  ASSERT_TRUE(later.ask_again.has_value());
  EXPECT_EQ(*later.ask_again, Time{milliseconds(40)});
  Rail soon;
  soon.will_want({{0, 2}}, milliseconds(1), milliseconds(20), milliseconds(10));
  const Decision now = soon.decide();
  ASSERT_FALSE(now.keeps());
  EXPECT_EQ(now.plan(), soon.plan({{0, 2}}));
}

// Its last member waits for the ring, as far as the profiling run can tell: the ring came before it and is due before it.
TEST(Coalesce, DoesNotGoOverForWhatMustComeLater) {
  Rail rail;
  rail.wants({{0, 1}, {1, 0}}, milliseconds(1), milliseconds(4));
  rail.will_want({{0, 2}}, milliseconds(1), milliseconds(20), milliseconds(10));
  EXPECT_TRUE(rail.decide().keeps());
}

}  // namespace
}  // namespace photonrail::test
