#include "serving/engine/decided_steps.hpp"

#include "photonrail/error.hpp"

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

constexpr std::uint64_t kMostInVain = 100'000;

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

std::vector<RequestView> DecidedSteps::running() const {
  std::vector<RequestView> views;
  for (const Running& running : of_->running_) {
    const Scheduler::Known& known = of_->known_[running.slot];
    const Request& request = known.request;
    views.push_back({request.prompt, running.reached - request.prompt, request.output, running.computed, known.held.count,
                     of_->blocks_.shared(known.held, request.contents(of_->spec_)), request.priority, known.again});
  }
  return views;
}

std::vector<RequestView> DecidedSteps::waiting() const {
  std::vector<RequestView> views;
  const std::uint32_t block = of_->spec_.block_tokens;
  for (const Scheduler::Place& place : of_->waiting_) {
    const Scheduler::Known& known = of_->known_[std::get<Slot>(place)];
    const Request& request = known.request;
    const bool has = known.held.count > 0 || known.swapped;
    const std::uint32_t found =
        has ? 0 : of_->blocks_.hits(request.contents(of_->spec_), (known.reached - 1) / block) * block;
    views.push_back({request.prompt, known.reached - request.prompt, request.output, has ? known.computed : found,
                     known.held.count, of_->blocks_.shared(known.held, request.contents(of_->spec_)), request.priority,
                     known.again});
  }
  return views;
}

// A policy could only preempt it, to compute the same again.
bool DecidedSteps::only_request_lacks_blocks() const {
  if (of_->running_.size() != 1) return false;
  const EngineSpec& spec = of_->spec_;
  const Running& only = of_->running_.front();
  const std::uint32_t tokens = std::min(wanted(spec, only), spec.token_budget);
  return only.computed + tokens > only.capacity + of_->blocks_.free() * spec.block_tokens;
}

// The last of the waiting requests whose KV was delivered gives its blocks up where they are in the way. Where only prompts
// whose KV is to go, or is on its way here, have what the only running request lacks, it waits for them.
void DecidedSteps::next() {
  const EngineSpec& spec = of_->spec_;
  const Step& step = of_->step_;
  std::size_t before = 0;
  do {
    before = step.preempted.size();
    while (only_request_lacks_blocks() && of_->give_up_delivered(true)) continue;
    if (only_request_lacks_blocks() && of_->apart_.count > 0) return;
    const std::vector<RequestView> runs = running();
    const std::vector<RequestView> waits = waiting();
    const EngineView view{runs,
                          waits,
                          of_->blocks_.free(),
                          of_->blocks_.total(),
                          spec.block_tokens,
                          spec.token_budget,
                          spec.max_sequences,
                          spec.long_prefill};
    StepDecision decision = spec.policy->decide(view);
    check_decision(*spec.policy, view, decision);
    carry_out(decision, waits);
  } while (step.empty() && (step.preempted.size() > before || (of_->running_.empty() && of_->give_up_delivered(false))));
}

// A request that finds more than the policy was shown, since others of the step filled what was between, may need more free
// blocks than the policy could know: then it finds no more than that.
void DecidedSteps::carry_out(StepDecision& decision, std::span<const RequestView> waiting) {
  of_->budget_ = of_->spec_.token_budget;
  std::vector<Slot> runs;  // by their places in the view
  std::vector<Slot> waits;
  for (Running& each : of_->running_) {
    each.now = 0;
    runs.push_back(each.slot);
  }
  for (const Scheduler::Place& place : of_->waiting_) waits.push_back(std::get<Slot>(place));
  std::sort(decision.preempt.begin(), decision.preempt.end(), std::greater<>());
  for (const std::uint32_t index : decision.preempt) of_->preempt(index);
  of_->preempted_in_vain_ += decision.preempt.size();
  if (of_->preempted_in_vain_ > kMostInVain)
    refuse_decision(*of_->spec_.policy,
                    "preempts without end: " + std::to_string(kMostInVain) + " times, and no request got a token");
  for (const StepDecision::Share& share : decision.run) {
    run(*std::find_if(of_->running_.begin(), of_->running_.end(),
                      [&](const Running& r) { return r.slot == runs[share.request]; }),
        share.request, share.tokens);
  }
  for (const StepDecision::Share& share : decision.admit) {
    if (!of_->admit(waits[share.request], share.tokens) &&
        !of_->admit(waits[share.request], share.tokens, waiting[share.request].computed)) {
      refuse_decision(*of_->spec_.policy,
                      "admits waiting request " + std::to_string(share.request) + " without free blocks");
    }
  }
}

void DecidedSteps::run(Running& request, std::uint32_t place, std::uint32_t tokens) {
  const std::uint32_t block = of_->spec_.block_tokens;
  const std::uint64_t all = std::uint64_t{request.computed} + tokens;
  HeldBlocks& held = of_->known_[request.slot].held;
  if (!of_->blocks_.grow(held, static_cast<std::uint32_t>((all + block - 1) / block)))
    refuse_decision(*of_->spec_.policy, "gives running request " + std::to_string(place) + " blocks that are not free");
  request.capacity = held.count * block;
  of_->count(request, tokens, 1);
}

}  // namespace photonrail::serving
