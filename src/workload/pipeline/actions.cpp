// The order of sends and receives among the passes, found by running all stages with blocking messages.
#include "workload/pipeline/actions.hpp"
#include "photonrail/error.hpp"
#include "photonrail/workload/pipeline.hpp"
#include "workload/pipeline/order.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

/// Describes how much a message may upset the order that its receiver would choose.
enum class Patience : std::uint8_t {
  kInOrder,        ///< the receiver has sent what it has, and needs the message for its next pass
  kReceivesFirst,  ///< the receiver needs it for its next pass
  kReceivesEarly   ///< any time
};

class BlockingRun {
 public:
  explicit BlockingRun(const PipelineShape& shape) : shape_(shape), received_(shape, false), stages_(shape.stages) {
    for (std::uint32_t s = 0; s < shape.stages; ++s) stages_[s].steps = pipeline_steps(shape, s);
  }

  std::vector<std::vector<PipelineAction>> actions() {
    while (run_in_order() || give_way(Patience::kReceivesFirst) || give_way(Patience::kReceivesEarly)) {
    }
    std::vector<std::vector<PipelineAction>> result;
    for (Stage& stage : stages_) {
      PHOTONRAIL_CHECK(stage.next == stage.steps.size() && !stage.sends);
      result.push_back(std::move(stage.actions));
    }
    return result;
  }

 private:
  struct Stage {
    std::vector<PipelineStep> steps;
    std::size_t next = 0;
    bool sends = false;  // the pass before `next` has a result for another stage
    std::vector<PipelineAction> actions;
  };

  bool run_in_order() {
    bool moved = false;
    for (std::uint32_t s = 0; s < shape_.stages; ++s) {
      while (pass(s) || send(s, Patience::kInOrder)) moved = true;
    }
    return moved;
  }

  /// Lets one message through whose receiver would rather wait. Even stages send first, so that of two neighbours that
  /// exchange the odd one gives way.
  bool give_way(Patience patience) {
    for (const std::uint32_t parity : {0u, 1u}) {
      for (std::uint32_t s = parity; s < shape_.stages; s += 2) {
        if (send(s, patience)) return true;
      }
    }
    return false;
  }

  bool pass(std::uint32_t s) {
    Stage& stage = stages_[s];
    if (stage.sends || stage.next == stage.steps.size()) return false;
    const PipelineStep& step = stage.steps[stage.next];
    if (needs_message(s)) return false;
    stage.actions.push_back({PipelineAction::Kind::kPass, step, s});
    ++stage.next;
    stage.sends = receiver(s, step) != s;
    return true;
  }

  bool send(std::uint32_t s, Patience patience) {
    Stage& from = stages_[s];
    if (!from.sends) return false;
    const PipelineStep step = from.steps[from.next - 1];
    const std::uint32_t peer = receiver(s, step);
    Stage& to = stages_[peer];
    if (patience == Patience::kInOrder && to.sends) return false;
    if (patience != Patience::kReceivesEarly && !is_next_input(s, step, peer)) return false;
    from.sends = false;
    from.actions.push_back({PipelineAction::Kind::kSend, step, peer});
    to.actions.push_back({PipelineAction::Kind::kReceive, step, s});
    received_.at(step.kind, shape_.virtual_stage({s, step.chunk}), step.micro_batch) = true;
    return true;
  }

  /// The stage that waits for the result of a pass; `s` itself when no other does.
  [[nodiscard]] std::uint32_t receiver(std::uint32_t s, const PipelineStep& step) const {
    const std::uint32_t here = shape_.virtual_stage({s, step.chunk});
    const bool forward = step.kind == PassKind::kForward;
    if (step.kind == PassKind::kBackwardWeight) return s;
    if (here == (forward ? shape_.virtual_stages() - 1 : 0)) return s;
    return shape_.place(forward ? here + 1 : here - 1, step.micro_batch).stage;
  }

  /// Returns true when the stage's next pass waits for a message that has not come.
  [[nodiscard]] bool needs_message(std::uint32_t s) {
    const PipelineStep& step = stages_[s].steps[stages_[s].next];
    const auto input = input_of(shape_, s, step);
    if (!input || shape_.place(input->virtual_stage, step.micro_batch).stage == s) return false;
    return !received_.at(input->kind, input->virtual_stage, step.micro_batch);
  }

  [[nodiscard]] bool is_next_input(std::uint32_t from, const PipelineStep& made, std::uint32_t to) {
    const Stage& stage = stages_[to];
    if (stage.next == stage.steps.size()) return false;
    const PipelineStep& step = stage.steps[stage.next];
    const auto input = input_of(shape_, to, step);
    return input && step.micro_batch == made.micro_batch &&
           input->virtual_stage == shape_.virtual_stage({from, made.chunk}) &&
           (input->kind == PassKind::kForward) == (made.kind == PassKind::kForward);
  }

  const PipelineShape& shape_;
  PassTable<char> received_;  // by the pass that made it
  std::vector<Stage> stages_;
};

}  // namespace

std::vector<std::vector<PipelineAction>> pipeline_actions(const PipelineShape& shape) {
  return BlockingRun(shape).actions();
}

}  // namespace photonrail::workload
