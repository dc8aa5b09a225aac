// The schedulers that engines may name.
#include "core/guarded.hpp"
#include "photonrail/error.hpp"
#include "photonrail/workload/registry.hpp"
#include "run/name_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail {

namespace {

// Those that run go on, the last of them preempted where blocks are missing. Then the shortest prompts are admitted.
class ShortestFirst final : public SchedulingPolicy {
 public:
  [[nodiscard]] std::string name() const override { return "shortest_first"; }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override {
    StepDecision step;
    Left left{view.token_budget, view.free_blocks};
    std::size_t end = view.running.size();
    for (std::uint32_t i = 0; i < end && left.budget > 0; ++i) {
      const RequestView& request = view.running[i];
      const std::uint32_t tokens = chunk(view, request, left.budget);
      const std::uint64_t more = view.more_blocks(request, std::uint64_t{request.computed} + tokens);
      while (more > left.blocks && end > i) {
        step.preempt.push_back(static_cast<std::uint32_t>(--end));
        left.blocks += view.running[end].frees();
      }
      if (end == i) break;
      left.blocks -= more;
      left.budget -= tokens;
      step.run.push_back({i, tokens});
    }
    if (step.preempt.empty()) admit(view, left, step);
    return step;
  }

 private:
  struct Left {
    std::uint32_t budget;
    std::uint64_t blocks;
  };

  static std::uint32_t chunk(const EngineView& view, const RequestView& request, std::uint32_t budget) {
    const std::uint32_t tokens = std::min(request.wanted(), budget);
    return view.longest_prefill > 0 ? std::min(tokens, view.longest_prefill) : tokens;
  }

  static void admit(const EngineView& view, Left left, StepDecision& step) {
    std::vector<std::uint32_t> queue(view.waiting.size());
    std::iota(queue.begin(), queue.end(), 0U);
    std::stable_sort(queue.begin(), queue.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return view.waiting[a].wanted() < view.waiting[b].wanted(); });
    for (const std::uint32_t i : queue) {
      if (left.budget == 0 || view.running.size() + step.admit.size() == view.max_sequences) return;
      const std::uint32_t tokens = chunk(view, view.waiting[i], left.budget);
      const std::uint64_t more = view.more_blocks(view.waiting[i], std::uint64_t{view.waiting[i].computed} + tokens);
      if (more > left.blocks) return;
      left.blocks -= more;
      left.budget -= tokens;
      step.admit.push_back({i, tokens});
    }
  }
};

// What a decision throws names the scheduler.
class NamedScheduler final : public SchedulingPolicy {
 public:
  NamedScheduler(std::shared_ptr<const SchedulingPolicy> inner, std::string name)
      : inner_(std::move(inner)), name_(std::move(name)), who_("the scheduler " + name_) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override {
    return core::guarded(who_, "decide()", [&] { return inner_->decide(view); });
  }

 private:
  std::shared_ptr<const SchedulingPolicy> inner_;
  std::string name_;
  std::string who_;
};

}  // namespace

SchedulerRegistry SchedulerRegistry::builtin() {
  SchedulerRegistry registry;
  registry.add({"shortest_first", "those that run first, then those that wait, the shortest prompt first",
                [] { return std::make_shared<ShortestFirst>(); }});
  return registry;
}

void SchedulerRegistry::add(SchedulerFactory factory) {
  run::add_name("scheduler", "Scheduler", std::move(factory), factories_);
}

const SchedulerFactory& SchedulerRegistry::find(std::string_view name) const {
  return run::find_name("scheduler", name, factories_);
}

std::shared_ptr<const SchedulingPolicy> SchedulerRegistry::make(std::string_view name) const {
  const SchedulerFactory& factory = find(name);
  const std::string who = "the scheduler " + factory.name;
  std::shared_ptr<const SchedulingPolicy> policy = core::guarded(who, "SchedulerFactory::make", factory.make);
  if (policy == nullptr) throw ConfigError(who, "SchedulerFactory::make returned no scheduler");
  return std::make_shared<NamedScheduler>(std::move(policy), factory.name);
}

}  // namespace photonrail
