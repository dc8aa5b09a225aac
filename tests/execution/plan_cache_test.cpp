#include "execution/plan_cache.hpp"

#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::execution {
namespace {

/// Counts how often it was asked. The matrix has the number of the query in bytes.
class Counting final : public TrafficSource {
 public:
  explicit Counting(bool drifts) : drifts_(drifts) {}
  [[nodiscard]] std::optional<Member> members(std::uint32_t /*number*/) const override { return 2; }
  [[nodiscard]] bool drifts() const override { return drifts_; }
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override {
    ++asked;
    TrafficMatrix demand(2);
    demand.at(0, 1) = {query.number};
    return demand;
  }
  mutable int asked = 0;

 private:
  bool drifts_;
};

struct Cache {
  explicit Cache(bool drifts = false) : source(drifts) {}

  const RunnablePlan& take(std::uint32_t number, std::uint32_t iteration = 0) {
    return plans.take({.op = CollectiveOp::kAllToAll, .members = 2}, query(number, iteration), {});
  }
  void give_back(std::uint32_t number, std::uint32_t iteration = 0) { plans.give_back(query(number, iteration)); }
  static DemandQuery query(std::uint32_t number, std::uint32_t iteration) { return {CommunicatorId{0}, number, iteration}; }

  CollectiveSpec spec;
  CollectiveRegistry registry = CollectiveRegistry::builtin();
  Counting source;
  collective::AlgorithmTable algorithms{spec, registry};
  PlanCache plans{algorithms, &source, {}};
};

TEST(PlanCache, SharesAPlanAmongItsUsers) {
  Cache cache;
  const RunnablePlan& first = cache.take(7);
  EXPECT_EQ(first.plan->wire_bytes(), Bytes{7});
  EXPECT_EQ(&cache.take(7), &first);
  EXPECT_NE(&cache.take(8), &first);
  EXPECT_EQ(cache.source.asked, 2);
}

TEST(PlanCache, KeepsAPlanAWhileAfterItsLastUser) {
  Cache cache;
  for (int i = 0; i < 100; ++i) {
    (void)cache.take(7);
    cache.give_back(7);
  }
  EXPECT_EQ(cache.source.asked, 1);
}

TEST(PlanCache, DropsPlansThatNobodyWants) {
  Cache cache;
  const RunnablePlan& in_use = cache.take(1000);
  for (std::uint32_t number = 1; number <= 100; ++number) {
    (void)cache.take(number);
    cache.give_back(number);
  }
  EXPECT_EQ(in_use.plan->wire_bytes(), Bytes{1000});
  EXPECT_EQ(cache.source.asked, 101);
  (void)cache.take(1);  // long gone
  EXPECT_EQ(cache.source.asked, 102);
  (void)cache.take(100);  // not yet
  (void)cache.take(1000);
  EXPECT_EQ(cache.source.asked, 102);
}

TEST(PlanCache, AsksForEveryIterationOfASourceThatDriftsOnly) {
  for (const bool drifts : {false, true}) {
    Cache cache(drifts);
    for (std::uint32_t iteration = 0; iteration < 5; ++iteration) (void)cache.take(1, iteration);
    EXPECT_EQ(cache.source.asked, drifts ? 5 : 1);
  }
}

/// Even shares, whatever the call says.
class Blind final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "blind"; }
  [[nodiscard]] std::string_view summary() const override { return ""; }
  [[nodiscard]] bool supports(CollectiveOp /*op*/, Member /*members*/) const override { return true; }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    return CollectiveRegistry::builtin().find("direct").expand(call);
  }
};

TEST(PlanCache, RefusesAnAlgorithmThatDoesNotTakeADemand) {
  Cache cache;
  cache.registry.add(std::make_unique<Blind>());
  cache.spec.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "blind";
  const ConfigError error = test::error_of([&] { (void)cache.take(1); });
  EXPECT_EQ(error.where(), "collectives.algorithm.all_to_all");
  EXPECT_THAT(error.problem(), ::testing::HasSubstr("uneven"));
}

}  // namespace
}  // namespace photonrail::execution
