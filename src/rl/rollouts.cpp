#include "rl/rollouts.hpp"

#include <algorithm>

namespace photonrail::rl {

// The number of calls is geometric; they are spread over the response evenly at random.
void Rollouts::begin(std::uint32_t engine, std::uint32_t version, Time now) {
  Rollout& rollout = all_.emplace_back();
  rollout.engine = engine;
  rollout.version = version;
  rollout.begun = now;
  const std::uint64_t room = most_ - spec_.prompts.tokens;
  rollout.total = static_cast<std::uint32_t>(std::min<std::uint64_t>(lengths_.draw(length_draws_), room));
  if (!spec_.tools || rollout.total < 2) return;
  const double again = spec_.tools->calls / (1.0 + spec_.tools->calls);
  while (call_draws_.uniform() < again) {
    rollout.calls.push_back(1 + static_cast<std::uint32_t>(call_draws_.below(rollout.total - 1)));
  }
  std::sort(rollout.calls.begin(), rollout.calls.end());
  rollout.calls.erase(std::unique(rollout.calls.begin(), rollout.calls.end()), rollout.calls.end());
  while (!rollout.calls.empty() && rollout.total + std::uint64_t{result_tokens()} * rollout.calls.size() > room) {
    rollout.calls.pop_back();
  }
}

void Rollouts::again(std::uint64_t sample, std::uint32_t engine, std::uint32_t version) {
  Rollout& rollout = all_[sample];
  rollout.engine = engine;
  rollout.version = version;
  rollout.done = rollout.results = 0;
  rollout.answer_due = Time::never();
}

std::uint32_t Rollouts::context(std::uint64_t sample) const {
  const Rollout& rollout = all_[sample];
  return spec_.prompts.tokens + rollout.done + rollout.results * result_tokens();
}

// Prefixes that other weights computed are no longer found: no run has 2^24 versions.
Stretch Rollouts::stretch(std::uint64_t sample) const {
  const Rollout& rollout = all_[sample];
  const std::uint32_t stop = rollout.results < rollout.calls.size() ? rollout.calls[rollout.results] : rollout.total;
  return {.sample = sample,
          .prefix = prompt(sample) << 24 | rollout.version,
          .prompt = spec_.prompts.tokens,
          .context = context(sample),
          .tokens = stop - rollout.done};
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
