#include "rl/recorder.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::rl {

Recorder::Recorder(const RlSpec& spec) : stands_since_(spec.generation.engines, Time::never()) {
  result_.ranks = {spec.ranks(), spec.generation.ranks(), spec.training.ranks()};
  prompt_ = spec.prompts.tokens;
  result_.samples = spec.mode.batch;
}

// The step before has no refit of its own where its batch is followed by another at once.
void Recorder::close(Time now) {
  if (!open_) return;
  open_ = false;
  result_.steps.back().step = now - ended_;
  ended_ = now;
}

void Recorder::takes(const TakenBatch& batch, const Rollouts& rollouts, Time now) {
  close(trained_);
  open_ = true;
  taken_ = now;
  RlStep& step = result_.steps.emplace_back();
  std::vector<Time> ends;
  Time begun = Time::never();
  Time last{};
  double in_slots = 0.0;
  for (const std::uint64_t sample : batch.samples) {
    const Rollout& rollout = rollouts.of(sample);
    begun = std::min(begun, rollout.begun);
    ends.push_back(rollout.completed);
    in_slots += to_seconds(rollout.completed - rollout.begun);
    step.tokens.responses += rollout.total;
    step.tokens.prompts += prompt_;
    step.tokens.longest = std::max(step.tokens.longest, rollout.total);
    if (rollout.completed >= last) step.last_engine = rollout.engine;
    last = std::max(last, rollout.completed);
  }
  const auto most = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() * 9 / 10);
  std::nth_element(ends.begin(), most, ends.end());
  step.generation = last - begun;
  step.tail = last - *most;
  step.slot_use = in_slots / static_cast<double>(ends.size()) / std::max(1e-12, to_seconds(step.generation));
  step.stale.dropped = batch.dropped;
  for (const std::uint32_t versions : batch.staleness) {
    if (result_.staleness.size() <= versions) result_.staleness.resize(versions + 1);
    ++result_.staleness[versions];
    step.stale.most = std::max(step.stale.most, versions);
  }
  step.staleness = static_cast<double>(std::accumulate(batch.staleness.begin(), batch.staleness.end(), std::uint64_t{0})) /
                   static_cast<double>(batch.samples.size());
}

void Recorder::training_begins(Time now) {
  if (training_ != Time::never()) return;
  RlStep& step = result_.steps.back();
  step.log_probabilities = now - taken_ - step.offload;
  training_ = now;
}

void Recorder::training_ends(Time now) {
  result_.steps.back().training = now - training_;
  training_ = Time::never();
  trained_ = now;
}

void Recorder::refit_begins(Time now) {
  refit_ = now;
  known_ = announced_ == Time::never() ? Duration{} : now - announced_;
  announced_ = Time::never();
}

void Recorder::refit_ends(Time now) {
  result_.steps.back().refit = now - refit_;
  result_.steps.back().refit_announced = known_;
  close(now);
}

void Recorder::engine(std::uint32_t engine, bool runs, bool waits_for_tools, Time now) {
  Time& since = stands_since_[engine];
  if (since != Time::never()) result_.tool_wait += now - since;
  since = !runs && waits_for_tools ? now : Time::never();
}

}  // namespace photonrail::rl
