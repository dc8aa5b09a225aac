#include "photonrail/error.hpp"
#include "photonrail/workload/pipeline.hpp"
#include "workload/pipeline/order.hpp"

#include <algorithm>

namespace photonrail {

using workload::input_of;
using workload::PassTable;

namespace {

class Player {
 public:
  Player(const PipelineShape& shape, const std::vector<PassTimes>& times)
      : shape_(shape), times_(times), done_(shape, Time{Duration{-1}}), steps_(shape.stages), next_(shape.stages, 0) {
    PHOTONRAIL_CHECK(times.size() == 1 || times.size() == shape.virtual_stages());
    for (std::uint32_t s = 0; s < shape.stages; ++s) steps_[s] = pipeline_steps(shape, s);
    result_.stages.resize(shape.stages);
  }

  PipelineTimeline play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t s = 0; s < shape_.stages; ++s) {
        while (advance(s)) moved = true;
      }
    }
    for (std::uint32_t s = 0; s < shape_.stages; ++s) PHOTONRAIL_CHECK(next_[s] == steps_[s].size());
    return std::move(result_);
  }

 private:
  /// Runs the stage's next pass, or pair of passes, when its inputs are known; false when it cannot.
  bool advance(std::uint32_t stage) {
    if (next_[stage] == steps_[stage].size()) return false;
    const PipelineStep& step = steps_[stage][next_[stage]];
    const std::vector<PlayedPass>& before = result_.stages[stage];
    const Time free = before.empty() ? Time{} : before.back().end;
    const Time ready = input_ready(stage, step);
    if (ready < Time{}) return false;
    const Time start = std::max(free, ready);
    const auto overlapped = times_of(stage, step).overlapped;
    if (!step.overlaps_next || !overlapped) {
      record(stage, start, start + alone(stage, step));
      return true;
    }
    const Time other = input_ready(stage, steps_[stage][next_[stage] + 1]);
    if (other < Time{}) return false;
    const Time together = std::max(start, other);
    record(stage, together, together + *overlapped);
    record(stage, together, together + *overlapped);
    return true;
  }

  /// When the pass's input is there; before 0 when that is not known yet.
  [[nodiscard]] Time input_ready(std::uint32_t stage, const PipelineStep& step) {
    const auto input = input_of(shape_, stage, step);
    return input ? done_.at(input->kind, input->virtual_stage, step.micro_batch) : Time{};
  }

  void record(std::uint32_t stage, Time start, Time end) {
    const PipelineStep& step = steps_[stage][next_[stage]++];
    result_.stages[stage].push_back({step, start, end});
    if (step.kind == PassKind::kBackwardWeight) return;
    done_.at(step.kind, shape_.virtual_stage({stage, step.chunk}), step.micro_batch) = end;
  }

  [[nodiscard]] Duration alone(std::uint32_t stage, const PipelineStep& step) const {
    const PassTimes& times = times_of(stage, step);
    switch (step.kind) {
      case PassKind::kForward:
        return times.forward;
      case PassKind::kBackwardInput:
        return times.backward_input;
      case PassKind::kBackwardWeight:
        return times.backward_weight;
      default:
        return times.backward_input + times.backward_weight;
    }
  }
  [[nodiscard]] const PassTimes& times_of(std::uint32_t stage, const PipelineStep& step) const {
    return times_.size() == 1 ? times_.front() : times_[shape_.virtual_stage({stage, step.chunk})];
  }

  const PipelineShape& shape_;
  const std::vector<PassTimes>& times_;
  PassTable<Time> done_;
  std::vector<std::vector<PipelineStep>> steps_;
  std::vector<std::size_t> next_;  // of each stage's steps
  PipelineTimeline result_;
};

/// Passes that overlap count once.
Duration busy(const std::vector<PlayedPass>& passes) {
  Duration sum{};
  Time until{};
  for (const PlayedPass& pass : passes) {
    sum += pass.end - std::max(pass.start, until);
    until = pass.end;
  }
  return sum;
}

}  // namespace

PipelineTimeline simulate_pipeline(const PipelineShape& shape, const std::vector<PassTimes>& times) {
  return Player(shape, times).play();
}

Duration PipelineTimeline::makespan() const {
  Time last{};
  for (const auto& passes : stages) {
    if (!passes.empty()) last = std::max(last, passes.back().end);
  }
  return last.since_start();
}

Duration PipelineTimeline::idle(std::uint32_t stage) const { return makespan() - busy(stages.at(stage)); }

Duration PipelineTimeline::bubble(std::uint32_t stage) const {
  const std::vector<PlayedPass>& passes = stages.at(stage);
  return passes.empty() ? Duration{} : passes.back().end - passes.front().start - busy(passes);
}

}  // namespace photonrail
