#include "control_plane/plan_sequencer.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::control_plane {

using fabric::OpticalRail;

void PlanSequencer::take(Decision decision, std::vector<Issued>& issued) {
  if (decision.keeps()) return;
  rail_.undrain();
  steps_.assign(std::make_move_iterator(decision.steps.begin()), std::make_move_iterator(decision.steps.end()));
  ready_ = engine_.now();
  last_.reset();
  begun_ = false;
  timetable_ = std::move(decision.timetable);
  taken_ = engine_.now();
  slot_ = -1;
  unused_slots_ = 0;
  proceed(issued);
}

void PlanSequencer::forget() {
  steps_.clear();
  ready_ = {};
  last_.reset();
  timetable_.reset();
}

void PlanSequencer::proceed(std::vector<Issued>& issued) {
  advance(issued);
  if (timetable_) rotate(issued);
}

// Steps are carried out in their order, each when the circuits of the one before can be used. kDrained steps wait until no
// byte moves on what they darken, and keep further operations off it meanwhile.
void PlanSequencer::advance(std::vector<Issued>& issued) {
  while (!steps_.empty() && !last_ && ready_ <= engine_.now()) {
    const Step& step = steps_.front();
    // A step is not over while operations wait for those of its circuits that a switch has no room for yet.
    if (begun_ && rail_.mesh() != nullptr && rail_.mesh()->is_behind()) return;
    if (step.when == When::kAt && step.at > engine_.now()) return;
    if (step.when == When::kDrained && rail_.disturbs(step.plan)) {
      rail_.drain(step.plan);
      return;
    }
    carry_out(step.plan, step.preempt, std::nullopt, issued);
    begun_ = true;
    steps_.pop_front();
  }
}

// Steps that are not carried out yet do not wait for it.
void PlanSequencer::restore(std::vector<Issued>& issued) {
  if (timetable_) return;
  const CircuitPlan plan = rail_.restorable();
  if (plan.connect.empty()) return;
  const bool drained = rail_.drains();
  const OpticalRail::Terms terms{.before = messages_.command(id_), .after = messages_.acknowledgement(id_), .again = true};
  if (const std::optional<OpticalRail::Command> command = rail_.apply(plan, terms)) {
    issued.push_back({*command, engine_.now()});
  }
  if (drained) advance(issued);
}

std::optional<Time> PlanSequencer::next(bool awaited) const {
  std::optional<Time> at;
  if (!steps_.empty() && last_) {
    at.reset();  // done() will tell
  } else if (!steps_.empty() && ready_ > engine_.now()) {
    at = ready_;
  } else if (!steps_.empty() && steps_.front().when == When::kAt) {
    at = steps_.front().at;
  }
  // When no bytes moved over its circuits for a whole turn and no operation waits for one, nothing is lost by standing
  // still until one does: see rotate(). One that waits may have lost its slot to a switch that was slower than usual; after
  // so many turns in vain it waits for something else, such as the repair of a port.
  const std::size_t turns = awaited ? kTurnsInVain : 1;
  if (timetable_ && unused_slots_ <= turns * timetable_->rounds.size()) {
    const Time turn = timetable_->start + timetable_->slot * (slot_ + 1);
    at = at ? std::min(*at, turn) : turn;
  }
  return at;
}

// Goes over to the round of the present slot. After a time of standing still the circuits are those that the switch would
// have by now: the round before, whose time to switch is over, and the present one, which began with its slot.
void PlanSequencer::rotate(std::vector<Issued>& issued) {
  if (engine_.now() < timetable_->start) return;
  const std::int64_t slot = (engine_.now() - timetable_->start) / timetable_->slot;
  const bool begun = rail_.holds().uses() != uses_seen_;
  uses_seen_ = rail_.holds().uses();
  if (begun) unused_slots_ = 0;
  if (slot == slot_) return;
  // A circuit is in use while bytes move over it: they may stand still for another reason, such as a link inside a server.
  const Bytes left = rail_.holds().bytes_left();
  const bool used = begun || left != left_seen_;
  left_seen_ = left;
  const std::size_t unused = used ? 0 : unused_slots_ + 1;
  if (slot_ >= 0 && slot > slot_ + 1) turn(slot - 1, issued);
  turn(slot, issued);
  slot_ = slot;
  unused_slots_ = unused;  // what lost its circuit by the turn itself is no reason to go on
}

void PlanSequencer::turn(std::int64_t slot, std::vector<Issued>& issued) {
  const auto round = static_cast<std::size_t>(slot) % timetable_->rounds.size();
  const Time begin = std::max(taken_, timetable_->start + timetable_->slot * slot);
  carry_out(timetable_->rounds[round], true, begin, issued);
}

// `since`: of a timetable.
void PlanSequencer::carry_out(const CircuitPlan& plan, bool preempt, std::optional<Time> since,
                              std::vector<Issued>& issued) {
  const OpticalRail::Terms terms{messages_.command(id_), messages_.acknowledgement(id_), preempt, since};
  const std::optional<OpticalRail::Command> command = rail_.apply(plan, terms);
  if (!command) return;
  const Time decided = since.value_or(engine_.now());
  issued.push_back({*command, decided, since.has_value()});
  if (!command->usable) {
    last_ = command->id;
    return;
  }
  ready_ = std::max(ready_, *command->usable);
}

void PlanSequencer::done(std::uint32_t command) {
  if (last_ == command) last_.reset();
}

}  // namespace photonrail::control_plane
