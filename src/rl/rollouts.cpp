#include "rl/rollouts.hpp"

#include <algorithm>

namespace photonrail::rl {

// The number of calls is geometric; they are spread over the response evenly at random.
void Rollouts::begin(std::uint32_t engine, Time now) {
  Rollout& rollout = all_.emplace_back();
  rollout.engine = engine;
  rollout.begun = now;
  rollout.total = lengths_.draw(length_draws_);
  if (!spec_.tools || rollout.total < 2) return;
  const double again = spec_.tools->calls / (1.0 + spec_.tools->calls);
  while (call_draws_.uniform() < again) {
    rollout.calls.push_back(1 + static_cast<std::uint32_t>(call_draws_.below(rollout.total - 1)));
  }
  std::sort(rollout.calls.begin(), rollout.calls.end());
  rollout.calls.erase(std::unique(rollout.calls.begin(), rollout.calls.end()), rollout.calls.end());
}

double Rollouts::context(std::uint64_t sample) const {
  const Rollout& rollout = all_[sample];
  return spec_.prompts.tokens + rollout.done + rollout.results * result_tokens();
}

double Rollouts::room(std::uint64_t sample) const {
  const Rollout& rollout = all_[sample];
  return spec_.prompts.tokens + rollout.total + static_cast<double>(rollout.calls.size()) * result_tokens();
}

GenerationRequest Rollouts::stretch(std::uint64_t sample, double fresh) const {
  const Rollout& rollout = all_[sample];
  const std::uint32_t stop = rollout.results < rollout.calls.size() ? rollout.calls[rollout.results] : rollout.total;
  return {.sample = sample, .fresh = fresh, .cached = context(sample), .room = room(sample), .tokens = stop - rollout.done};
}

bool Rollouts::advance(std::uint64_t sample) {
  Rollout& rollout = all_[sample];
  if (rollout.results < rollout.calls.size()) {
    rollout.done = rollout.calls[rollout.results++];
    return false;
  }
  rollout.done = rollout.total;
  return true;
}

}  // namespace photonrail::rl
