#include "studies/plan/pipeline_path.hpp"

#include "photonrail/error.hpp"
#include "workload/pipeline/order.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace photonrail::plan {

namespace {

using workload::PipelineAction;

constexpr std::size_t kMaxActions = 4'000'000;  // that are kept, 24 bytes each
constexpr Duration kNotYet{-1};

/// Walks all stages as far as their inputs allow, in turn.
class Walk {
 public:
  Walk(const PipelineShape& shape, const StageOrders& orders, const std::vector<StagePasses>& stages, Duration switching)
      : shape_(shape),
        orders_(orders),
        stages_(stages),
        switching_(switching),
        at_(stages.size()),
        sent_(shape, kNotYet),
        there_(shape, kNotYet) {}

  Duration step_of_first() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t s = 0; s < at_.size(); ++s) {
        while (at_[s].next < orders_[s].size() && act(s, orders_[s][at_[s].next])) {
          ++at_[s].next;
          moved = true;
        }
      }
    }
    PHOTONRAIL_CHECK(at_[0].next == orders_[0].size());
    return at_[0].last_began + stages_[0].last;
  }

 private:
  /// Whom a stage's NIC receives from: of two stages there is one other.
  enum Sender : std::size_t { kBefore, kBehind, kInside };
  [[nodiscard]] Sender sender(PassKind made) const {
    return made == PassKind::kForward || shape_.stages == 2 ? kBefore : kBehind;
  }

  struct Stage {
    std::size_t next = 0;
    Duration computed{};                                          // the last computation so far
    Duration result{};                                            // of the last pass
    Duration last_began{};                                        // the first computation of the last pass
    std::array<Duration, 3> received{kNotYet, kNotYet, kNotYet};  // what passes waited for, by sender
  };

  // A message leaves once its receiver asks for it, which is when the pass before has its result.
  bool act(std::uint32_t s, const PipelineAction& action) {
    const PipelineStep& step = action.step;
    if (action.kind == PipelineAction::Kind::kPass) return pass(s, step);
    const std::uint32_t from = shape_.virtual_stage({action.peer, step.chunk});
    const Duration sent = sent_.at(step.kind, from, step.micro_batch);
    if (sent == kNotYet) return false;
    Duration& leaves = there_.at(step.kind, from, step.micro_batch);
    leaves = std::max(sent, at_[s].result);
    if (switching_ == Duration{} || !crosses(s, step.kind)) return true;
    for (const Sender other : {kBefore, kBehind, kInside}) {
      const Duration end = at_[s].received[other];
      if (other != sender(step.kind) && end != kNotYet) leaves = std::max(leaves, end + switching_);
    }
    return true;
  }

  [[nodiscard]] bool crosses(std::uint32_t s, PassKind made) const {
    return stages_[s].crosses[made == PassKind::kForward ? 0 : 1];
  }

  bool pass(std::uint32_t s, const PipelineStep& step) {
    Stage& at = at_[s];
    const PassPath& path = stages_[s].chunks[step.chunk][static_cast<std::size_t>(step.kind)];
    Duration begins = std::max(at.computed, s == 0 ? stages_[0].before : Duration{});
    Duration message = kNotYet;
    if (const auto input = step.kind == PassKind::kBackwardWeight ? std::nullopt : workload::input_of(shape_, s, step)) {
      const Duration there = there_.at(input->kind, input->virtual_stage, step.micro_batch);
      if (there != kNotYet) {
        message = there + path.hop;
        if (crosses(s, input->kind)) at.received[sender(input->kind)] = message;
      }
    }
    const bool waits = message != kNotYet;
    if (waits) begins = std::max(begins, message + path.before);
    at.last_began = begins;
    at.computed = std::max(begins + path.core, waits ? message + path.through : Duration{});
    if (path.inner >= Duration{})
      at.received[kInside] = std::max(begins + path.inner, waits ? message + path.through_inner : Duration{});
    if (step.kind == PassKind::kBackwardWeight) return true;
    at.result = at.computed + path.after;
    sent_.at(step.kind, shape_.virtual_stage({s, step.chunk}), step.micro_batch) = at.result;
    return true;
  }

  const PipelineShape& shape_;
  const StageOrders& orders_;
  const std::vector<StagePasses>& stages_;
  const Duration switching_;
  std::vector<Stage> at_;
  workload::PassTable<Duration> sent_;   // results, by the pass that made them
  workload::PassTable<Duration> there_;  // the same, when they leave for another stage
};

}  // namespace

std::shared_ptr<const StageOrders> PipelineOrders::of(const PipelineShape& shape) {
  const Key key{static_cast<std::uint32_t>(shape.schedule), shape.stages, shape.chunks, shape.micro_batches};
  {
    const std::scoped_lock lock(mutex_);
    const auto at = known_.find(key);
    if (at != known_.end()) return at->second;
  }
  auto made = std::make_shared<StageOrders>(workload::pipeline_actions(shape));
  std::size_t actions = 0;
  for (auto& stage : *made) {
    stage.erase(std::remove_if(stage.begin(), stage.end(),
                               [](const PipelineAction& action) { return action.kind == PipelineAction::Kind::kSend; }),
                stage.end());
    actions += stage.size();
  }
  const std::scoped_lock lock(mutex_);
  if (actions_ + actions > kMaxActions) {
    known_.clear();
    actions_ = 0;
  }
  if (known_.emplace(key, made).second) actions_ += actions;
  return made;
}

Duration pipeline_path(const PipelineShape& shape, const StageOrders& orders, const std::vector<StagePasses>& stages,
                       Duration switching) {
  return Walk(shape, orders, stages, switching).step_of_first();
}

}  // namespace photonrail::plan
