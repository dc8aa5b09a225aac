// A scheduler of one's own for engines that serve requests: a pure function from queue and blocks to a step.
//
//     class ShortestFirst : public SchedulingPolicy { ... StepDecision decide(const EngineView& view) const override; };
//     Scenario scenario = with_scheduler(read_scenario("served.json"), std::make_shared<ShortestFirst>());
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace photonrail {

struct Scenario;

/// A request of an engine.
struct RequestView {
  std::uint32_t prompt = 1;
  std::uint32_t generated = 0;  ///< tokens that it has got
  std::uint32_t output = 1;     ///< ... and gets in all
  std::uint32_t computed = 0;   ///< tokens whose KV is there; of one that waits, that it would find
  std::uint32_t blocks = 0;     ///< that it holds
  std::uint32_t shared = 0;     ///< ... and other requests too, as those of a common prefix
  std::int32_t priority = 0;    ///< less is sooner
  bool preempted = false;       ///< it has run before

  /// The tokens that it has and has not computed: it gets one more in the step that computes the last of them.
  [[nodiscard]] std::uint32_t wanted() const { return prompt + generated - computed; }
  /// The blocks that its preemption frees. A shared one is free once the last of those who hold it is preempted.
  [[nodiscard]] std::uint32_t frees() const { return blocks - shared; }
};

struct EngineView {
  std::span<const RequestView> running;  ///< in the order of their admission
  std::span<const RequestView> waiting;  ///< in the order of EngineSpec: preempted ones first, then as they came
  std::uint64_t free_blocks = 0;
  std::uint64_t total_blocks = 0;
  std::uint32_t block_tokens = 16;
  std::uint32_t token_budget = 8192;  ///< of a step
  std::uint32_t max_sequences = 256;  ///< that run at once
  std::uint32_t longest_prefill = 0;  ///< greatest chunk of one request; 0: the budget

  /// Blocks that a request needs beyond those that it has, for so many tokens in all.
  [[nodiscard]] std::uint64_t more_blocks(const RequestView& request, std::uint64_t tokens) const {
    const std::uint64_t all = (tokens + block_tokens - 1) / block_tokens;
    return all > request.blocks ? all - request.blocks : 0;
  }
};

/// What an engine does next, by the places of requests in the view. Carried out in this order.
struct StepDecision {
  struct Share {
    std::uint32_t request = 0;
    std::uint32_t tokens = 1;  ///< that it computes, from 1 to RequestView::wanted()
  };
  std::vector<std::uint32_t> preempt{};  ///< of those that run: they lose their blocks, and wait before all others
  std::vector<Share> run{};              ///< of the others that run
  std::vector<Share> admit{};            ///< of those that wait
};

class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// The same view must have the same decision. The run ends with ConfigError, which names the policy, where a decision
  /// names a request twice, or more tokens than are wanted or than the budget, more requests than run at once, needs more
  /// blocks than are free, or computes nothing though something runs.
  [[nodiscard]] virtual StepDecision decide(const EngineView& view) const = 0;
};

/// The scenario, whose engines are scheduled by the policy. Throws ConfigError where it serves no requests, or engines have
/// what a policy does not decide: drafts, slices, an order or an admission of their own.
[[nodiscard]] Scenario with_scheduler(const Scenario& scenario, std::shared_ptr<const SchedulingPolicy> policy);

}  // namespace photonrail
