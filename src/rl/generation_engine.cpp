#include "rl/generation_engine.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::rl {

// In the order of coming. One that does not fit keeps those behind it waiting.
void GenerationEngine::admit() {
  while (!waiting_.empty() && running_.size() < limits_.sequences) {
    const GenerationRequest& next = waiting_.front();
    const bool alone = running_.empty() && kept_ == 0.0;
    if (!alone && room_ + kept_ + next.room > limits_.kv_tokens) return;
    running_.push({steps_ + next.tokens, next.sample, next.room, next.cached + next.tokens});
    room_ += next.room;
    cached_ += next.cached;
    fresh_ += next.fresh;
    waiting_.pop_front();
  }
}

void GenerationEngine::recompute() { fresh_ += cached_; }

std::optional<Duration> GenerationEngine::begin_run() {
  PHOTONRAIL_CHECK(!open_);
  admit();
  if (running_.empty()) return std::nullopt;
  open_ = true;
  run_steps_ = running_.top().stop - steps_;
  if (limits_.longest_run > 0) run_steps_ = std::min<std::uint64_t>(run_steps_, limits_.longest_run);
  // Each step reads one token more of every sequence. The cost is linear in what is read, or nearly so: the trapezoid's
  // sum.
  const auto sequences = static_cast<double>(running_.size());
  const double last = cached_ + sequences * static_cast<double>(run_steps_ - 1);
  const double step = (cost_->decode(sequences, cached_) + cost_->decode(sequences, last)) / 2.0;
  const double prefill = fresh_ > 0.0 ? cost_->prefill(fresh_) : 0.0;
  fresh_ = 0.0;
  const double time = prefill + step * static_cast<double>(run_steps_);
  slot_time_ += time * sequences;
  return round_up_picoseconds(time);
}

std::vector<std::uint64_t> GenerationEngine::end_run() {
  PHOTONRAIL_CHECK(open_);
  open_ = false;
  steps_ += run_steps_;
  const auto made = static_cast<double>(run_steps_) * static_cast<double>(running_.size());
  generated_ += made;
  cached_ += made;
  std::vector<std::uint64_t> done;
  while (!running_.empty() && running_.top().stop == steps_) {
    done.push_back(running_.top().sample);
    room_ -= running_.top().room;
    cached_ -= running_.top().cached_at_stop;
    running_.pop();
  }
  if (running_.empty()) cached_ = room_ = 0.0;
  return done;
}

}  // namespace photonrail::rl
