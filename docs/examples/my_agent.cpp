// An agent and a scheduler of one's own as a plug-in: `photonrail --plugin ./libmine.so run my_agent.json`.
#include "adaptive_batch.hpp"

#include <photonrail/plugin.hpp>

/// One request at a time, whole.
class OneAtATime : public pr::SchedulingPolicy {
 public:
  std::string name() const override { return "one_at_a_time"; }
  pr::StepDecision decide(const pr::EngineView& view) const override {
    const std::uint32_t most = view.longest_prefill > 0 ? view.longest_prefill : view.token_budget;
    if (!view.running.empty()) return {{}, {{0, std::min(view.running[0].wanted(), most)}}, {}};
    const pr::RequestView& next = view.waiting[0];
    const std::uint32_t tokens = std::min(next.wanted(), most);
    const bool fits = view.more_blocks(next, next.computed + tokens) <= view.free_blocks;
    if (!fits) return {};  // others' KV that was sent here is in the way, and will go
    return {{}, {}, {{0, tokens}}};
  }
};

PHOTONRAIL_PLUGIN(known) {
  known.schedulers.add({"one_at_a_time", "one request after another", [] { return std::make_shared<OneAtATime>(); }});
  pr::AgentFactory agent{"adaptive_batch", "the next batch follows from the time of the last step", {}};
  agent.parameters = {pr::ControllerParameter::count("samples", 100, 1, 1'000'000, "In all."),
                      pr::ControllerParameter::duration("target", 20ms, "Of a step.")};
  agent.make = [](const pr::AgentSpec& spec, std::size_t, std::uint64_t) {
    return std::make_unique<AdaptiveBatch>(spec.parameters.count("samples"), spec.parameters.duration("target"));
  };
  known.agents.add(agent);
}
