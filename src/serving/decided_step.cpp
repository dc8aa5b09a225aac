// Steps that a policy of the user decides: what it is shown, and what its decision must keep.
#include "photonrail/error.hpp"
#include "photonrail/workload/scheduling.hpp"
#include "serving/scheduler.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::serving {

namespace {

[[noreturn]] void refuse_decision(const SchedulingPolicy& policy, const std::string& what) {
  throw ConfigError("", "the scheduler " + policy.name() + " " + what);
}

// Each request once, and no more tokens than it wants; returns the tokens of all.
std::uint64_t checked_tokens(const SchedulingPolicy& policy, std::span<const RequestView> requests,
                             const std::vector<StepDecision::Share>& shares, std::vector<bool> taken, const char* which) {
  std::uint64_t sum = 0;
  for (const StepDecision::Share& share : shares) {
    const std::string name = std::string(which) + " request " + std::to_string(share.request);
    if (share.request >= requests.size() || taken[share.request])
      refuse_decision(policy, "names " + name + " twice, or there is none");
    taken[share.request] = true;
    if (share.tokens == 0 || share.tokens > requests[share.request].wanted()) {
      refuse_decision(policy, "gives " + name + " " + std::to_string(share.tokens) + " tokens of the " +
                                  std::to_string(requests[share.request].wanted()) + " that it wants");
    }
    sum += share.tokens;
  }
  return sum;
}

void check_decision(const SchedulingPolicy& policy, const EngineView& view, const StepDecision& decision) {
  std::vector<bool> preempted(view.running.size());
  for (const std::uint32_t index : decision.preempt) {
    if (index >= view.running.size() || preempted[index])
      refuse_decision(policy, "preempts running request " + std::to_string(index) + " twice, or there is none");
    preempted[index] = true;
  }
  const std::uint64_t tokens =
      checked_tokens(policy, view.running, decision.run, preempted, "running") +
      checked_tokens(policy, view.waiting, decision.admit, std::vector<bool>(view.waiting.size()), "waiting");
  if (tokens > view.token_budget) {
    refuse_decision(policy, "gives a step " + std::to_string(tokens) + " tokens, and its budget is " +
                                std::to_string(view.token_budget));
  }
  if (view.running.size() - decision.preempt.size() + decision.admit.size() > view.max_sequences)
    refuse_decision(policy, "lets more than " + std::to_string(view.max_sequences) + " requests run at once");
  if (tokens == 0 && view.running.size() > decision.preempt.size())
    refuse_decision(policy, "computes nothing, though something runs");
}

}  // namespace

std::vector<RequestView> Scheduler::shown(bool of_running) const {
  std::vector<RequestView> views;
  const auto show = [&](const Known& known, std::uint32_t reached, std::uint32_t computed) {
    const Request& request = known.request;
    views.push_back({request.prompt, reached - request.prompt, request.output, computed, known.held.count, request.priority,
                     known.again});
  };
  if (of_running) {
    for (const Running& running : running_) show(known_[running.slot], running.reached, running.computed);
    return views;
  }
  for (const Place& place : waiting_) {
    const Known& known = known_[std::get<Slot>(place)];
    const bool has = known.held.count > 0 || known.swapped;
    show(known, known.reached,
         has ? known.computed
             : blocks_.hits(known.request.contents(), (known.reached - 1) / spec_.block_tokens) * spec_.block_tokens);
  }
  return views;
}

// Steps of the policy until one computes something, or nothing can run. Of waiting requests whose KV was delivered the last
// gives its blocks up where they are in the way.
void Scheduler::next_decided() {
  std::size_t before = 0;
  do {
    before = step_.preempted.size();
    const std::vector<RequestView> running = shown(true);
    const std::vector<RequestView> waiting = shown(false);
    const EngineView view{running,
                          waiting,
                          blocks_.free(),
                          blocks_.total(),
                          spec_.block_tokens,
                          spec_.token_budget,
                          spec_.max_sequences,
                          spec_.long_prefill};
    StepDecision decision = spec_.policy->decide(view);
    check_decision(*spec_.policy, view, decision);
    carry_out(decision);
  } while (step_.empty() && (step_.preempted.size() > before || (running_.empty() && give_up_delivered(false))));
}

void Scheduler::carry_out(StepDecision& decision) {
  budget_ = spec_.token_budget;
  std::vector<Slot> runs;  // by their places in the view
  std::vector<Slot> waits;
  for (Running& each : running_) {
    each.now = 0;
    runs.push_back(each.slot);
  }
  for (const Place& place : waiting_) waits.push_back(std::get<Slot>(place));
  std::sort(decision.preempt.begin(), decision.preempt.end(), std::greater<>());
  for (const std::uint32_t index : decision.preempt) preempt(index);
  for (const StepDecision::Share& share : decision.run) {
    Running& each =
        *std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.slot == runs[share.request]; });
    const std::uint64_t tokens = std::uint64_t{each.computed} + share.tokens;
    const auto blocks = static_cast<std::uint32_t>((tokens + spec_.block_tokens - 1) / spec_.block_tokens);
    if (!blocks_.grow(known_[each.slot].held, blocks))
      refuse_decision(*spec_.policy,
                      "gives running request " + std::to_string(share.request) + " blocks that are not free");
    each.capacity = known_[each.slot].held.count * spec_.block_tokens;
    count(each, share.tokens, 1);
    fill(each);
  }
  for (const StepDecision::Share& share : decision.admit) {
    if (!admit(waits[share.request], share.tokens))
      refuse_decision(*spec_.policy, "admits waiting request " + std::to_string(share.request) + " without free blocks");
  }
}

}  // namespace photonrail::serving
