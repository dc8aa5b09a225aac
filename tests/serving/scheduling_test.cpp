// Schedulers of a user: laws that every one keeps, one that is vLLM's rules again, and decisions that are refused.
#include "photonrail/workload/scheduling.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "serving/one_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

namespace photonrail::serving {
namespace {

constexpr Duration kTick{1'000'000'000};

std::uint32_t chunk(const EngineView& view, const RequestView& request, std::uint32_t budget) {
  const std::uint32_t tokens = std::min(request.wanted(), budget);
  return view.longest_prefill > 0 ? std::min(tokens, view.longest_prefill) : tokens;
}

// Those that run first, the last of them preempted where blocks are missing; then those that wait, in the order of `queue`,
// unless one was preempted.
class InOrder : public SchedulingPolicy {
 public:
  using Order = std::function<bool(const RequestView&, const RequestView&)>;
  explicit InOrder(Order before = {}) : before_(std::move(before)) {}
  [[nodiscard]] std::string name() const override { return "in order"; }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override {
    StepDecision step;
    std::uint32_t budget = view.token_budget;
    std::uint64_t free = view.free_blocks;
    std::size_t end = view.running.size();
    for (std::uint32_t i = 0; i < end && budget > 0; ++i) {
      const RequestView& request = view.running[i];
      const std::uint32_t tokens = chunk(view, request, budget);
      const std::uint64_t more = view.more_blocks(request, std::uint64_t{request.computed} + tokens);
      while (more > free && end > i) {
        step.preempt.push_back(static_cast<std::uint32_t>(--end));
        free += view.running[end].frees();
      }
      if (end == i) break;
      free -= more;
      budget -= tokens;
      step.run.push_back({i, tokens});
    }
    if (step.preempt.empty()) admit(view, budget, free, step);
    return step;
  }

 private:
  void admit(const EngineView& view, std::uint32_t budget, std::uint64_t free, StepDecision& step) const {
    std::vector<std::uint32_t> queue(view.waiting.size());
    std::iota(queue.begin(), queue.end(), 0U);
    if (before_) {
      std::stable_sort(queue.begin(), queue.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return before_(view.waiting[a], view.waiting[b]); });
    }
    for (const std::uint32_t i : queue) {
      if (budget == 0 || view.running.size() + step.admit.size() == view.max_sequences) return;
      const std::uint32_t tokens = chunk(view, view.waiting[i], budget);
      const std::uint64_t more = view.more_blocks(view.waiting[i], std::uint64_t{view.waiting[i].computed} + tokens);
      if (more > free) return;
      free -= more;
      budget -= tokens;
      step.admit.push_back({i, tokens});
    }
  }

  Order before_;
};

std::vector<Arrival> drawn(std::uint64_t seed) {
  RandomStream draw(seed, "requests");
  std::vector<Arrival> arrivals;
  Time at{};
  for (int i = 0; i < 60; ++i) {
    at += Duration{static_cast<std::int64_t>(draw.below(8)) * kTick.count()};
    Arrival& arrival = arrivals.emplace_back();
    arrival.at = at;
    arrival.request.prompt = static_cast<std::uint32_t>(1 + draw.below(120));
    arrival.request.output = static_cast<std::uint32_t>(1 + draw.below(60));
  }
  return arrivals;
}

EngineSpec small_engine(std::uint64_t seed) {
  EngineSpec engine;
  engine.blocks = 30 + seed % 7 * 10;
  engine.block_tokens = 8;
  engine.token_budget = 64;
  engine.max_sequences = 8;
  engine.long_prefill = seed % 3 == 0 ? 20 : 0;
  engine.prefix_caching = false;
  return engine;
}

// What holds of every scheduler: every request is finished, with its blocks given back, and no step is above the budget.
OneEngine lawful_run(const EngineSpec& engine, std::uint64_t seed) {
  const LinearStepTime times({kTick, kTick / 100, kTick / 50, {}});
  const OneEngine run = run_one_engine(
      engine, drawn(seed), times,
      [&](Time, const Step& step, const std::vector<Running>& running, const StepEnd&, const Scheduler& scheduler) {
        EXPECT_LE(step.tokens(), engine.token_budget);
        EXPECT_LE(running.size(), engine.max_sequences);
        EXPECT_TRUE(scheduler.has_work() || scheduler.blocks().free() == scheduler.blocks().total());
      });
  for (const Outcome& outcome : run.outcomes) EXPECT_TRUE(outcome.last.has_value());
  return run;
}

TEST(ServingSchedulers, VllmsRulesAsAPolicyGiveTheSameSteps) {
  std::uint32_t preemptions = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    EngineSpec engine = small_engine(seed);
    const OneEngine own = lawful_run(engine, seed);
    engine.policy = std::make_shared<InOrder>();
    const OneEngine policy = lawful_run(engine, seed);
    ASSERT_EQ(own.steps, policy.steps);
    for (std::size_t i = 0; i < own.outcomes.size(); ++i) {
      ASSERT_EQ(own.outcomes[i].first, policy.outcomes[i].first) << i;
      ASSERT_EQ(own.outcomes[i].last, policy.outcomes[i].last) << i;
      ASSERT_EQ(own.outcomes[i].preemptions, policy.outcomes[i].preemptions) << i;
      preemptions += own.outcomes[i].preemptions;
    }
  }
  EXPECT_GT(preemptions, 100U);
}

TEST(ServingSchedulers, AnotherOrderKeepsTheLaws) {
  double first_in_order = 0.0;
  double first_by_length = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    EngineSpec engine = small_engine(seed);
    engine.prefix_caching = seed % 2 == 0;
    engine.preemption = seed % 4 == 0 ? Preemption::kSwap : Preemption::kRecompute;
    const std::vector<Arrival> arrivals = drawn(seed);
    const auto mean = [&](const OneEngine& run) {
      double sum = 0.0;
      for (std::size_t i = 0; i < arrivals.size(); ++i) sum += to_seconds(*run.outcomes[i].first - arrivals[i].at);
      return sum;
    };
    first_in_order += mean(lawful_run(engine, seed));
    engine.policy =
        std::make_shared<InOrder>([](const RequestView& a, const RequestView& b) { return a.wanted() < b.wanted(); });
    first_by_length += mean(lawful_run(engine, seed));
  }
  EXPECT_LT(first_by_length, first_in_order);
}

class Wrong : public SchedulingPolicy {
 public:
  explicit Wrong(StepDecision decision) : decision_(std::move(decision)) {}
  [[nodiscard]] std::string name() const override { return "wrong"; }
  [[nodiscard]] StepDecision decide(const EngineView&) const override { return decision_; }

 private:
  StepDecision decision_;
};

std::string refused_decision(StepDecision decision) {
  EngineSpec engine = small_engine(1);
  engine.policy = std::make_shared<Wrong>(std::move(decision));
  Scheduler scheduler(engine);
  for (std::uint64_t id = 0; id < 3; ++id) scheduler.enqueue({id, id, 60, 5, 0, 0, {}});
  try {
    scheduler.next();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "carried out";
}

TEST(ServingSchedulers, DecisionsThatCannotBeCarriedOutAreRefused) {
  EXPECT_EQ(refused_decision({{}, {}, {{1, 60}}}), "carried out");
  EXPECT_EQ(refused_decision({{}, {}, {{0, 61}}}),
            "the scheduler wrong gives waiting request 0 61 tokens of the 60 that it wants");
  EXPECT_EQ(refused_decision({{}, {}, {{0, 40}, {1, 40}}}),
            "the scheduler wrong gives a step 80 tokens, and its budget is 64");
  EXPECT_EQ(refused_decision({{}, {}, {{0, 4}, {0, 4}}}),
            "the scheduler wrong names waiting request 0 twice, or there is none");
  EXPECT_EQ(refused_decision({{}, {{0, 1}}, {}}), "the scheduler wrong names running request 0 twice, or there is none");
  EXPECT_EQ(refused_decision({{2}, {}, {}}), "the scheduler wrong preempts running request 2 twice, or there is none");
}

// Two of three blocks are for KV on its way. The request that runs has the third, lacks another one after 16 tokens, and
// keeps what it has: preempted it would compute the same again, for ever where the KV never comes.
TEST(ServingSchedulers, TheOnlyRequestKeepsItsBlocksWhileOthersAreOnTheirWay) {
  EngineSpec engine = small_engine(1);
  engine.blocks = 3;
  engine.max_sequences = 1;
  engine.long_prefill = 16;
  engine.block_tokens = 16;
  Scheduler scheduler(engine);
  const auto coming = scheduler.reserve({0, 0, 32, 2, 1, 0, {}}, 32, 32);
  ASSERT_TRUE(coming);
  scheduler.enqueue({1, 1, 20, 1, 0, 0, {}});
  EXPECT_EQ(scheduler.next().prefill_tokens, 16U);
  scheduler.finish(Time{Duration{1}});
  for (int again = 0; again < 3; ++again) {
    EXPECT_TRUE(scheduler.next().empty());
    EXPECT_TRUE(scheduler.step().preempted.empty());
    EXPECT_EQ(scheduler.running().size(), 1U);
  }
  scheduler.release(coming->slot);
  EXPECT_EQ(scheduler.next().prefill_tokens, 4U);
  EXPECT_EQ(scheduler.finish(Time{Duration{2}}).finished.size(), 1U);
}

}  // namespace
}  // namespace photonrail::serving
