// What the process does about failures once they are detected.
#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "studies/goodput/process/process.hpp"

#include <algorithm>

namespace photonrail::goodput {

namespace {

bool applies(const RecoveryOption& option, std::string_view source, bool slow) {
  if (slow && !option.for_slow) return false;
  return option.sources.empty() || std::find(option.sources.begin(), option.sources.end(), source) != option.sources.end();
}

double mean_of(const std::vector<Stage>& stages) {
  double sum = 0.0;
  for (const Stage& stage : stages) sum += stage.time.mean();
  return sum;
}

constexpr std::string_view kTraceName = "trace";

}  // namespace

// Whether something that the job needs is down, so that a restart alone does not help.
bool Process::is_blocked(const Pending& pending) const {
  if (pending.server != ServerPool::kNoPlace && pool_.is_active(pending.server) && pool_.is_down(pending.server))
    return true;
  if (down_[pending.source][pending.part] == 0) return false;
  if (degrades(pending.source)) return !parts_.steps.of(configuration()).has_value();
  return pending.server == ServerPool::kNoPlace && servers_of(pending.source, pending.part).empty();
}

bool Process::is_possible(const RecoveryOption& option, const Pending& pending) const {
  const FailureSource* kind = kind_of(pending.source);
  if (!applies(option, kind == nullptr ? kTraceName : std::string_view(kind->name), pending.slow)) return false;
  const bool part_down = down_[pending.source][pending.part] != 0 && degrades(pending.source);
  const bool at_place = pending.server != ServerPool::kNoPlace && pool_.is_active(pending.server) &&
                        (pool_.is_down(pending.server) || part_down);
  const std::uint32_t place = at_place ? pool_.place_of(pending.server) : 0;
  switch (option.action) {
    case RecoveryAction::kRestart:
      return !pending.slow && !is_blocked(pending);
    case RecoveryAction::kSwapInRack:
      return at_place && pool_.idle_in_rack(place) > 0;
    case RecoveryAction::kSwap:
      return at_place && pool_.idle() > 0;
    case RecoveryAction::kMoveRack:
      return at_place && pool_.idle_rack(place).has_value();
    case RecoveryAction::kDropReplica:
      return at_place && pool_.can_drop(place);
    case RecoveryAction::kWait:
      return !pending.slow;
  }
  return false;
}

std::optional<std::size_t> Process::choose(const Pending& pending) const {
  std::vector<OptionView> options;
  for (const RecoveryOption& option : parts_.spec.recovery) {
    options.push_back({option.action, option.rollback, is_possible(option, pending), mean_of(option.stages)});
  }
  const FailureSource* kind = kind_of(pending.source);
  RecoveryView view;
  view.now = now_.at;
  view.source = kind == nullptr ? kTraceName : std::string_view(kind->name);
  view.effect = kind == nullptr ? FailureEffect::kStop : kind->effect;
  view.server_down = is_blocked(pending);
  view.repair_s = kind == nullptr ? pending.repair_s : kind->repair.mean();
  view.work_at_risk_s = ledger_.at_risk().seconds();
  if (pending.server != ServerPool::kNoPlace && pool_.is_active(pending.server)) {
    view.spares_in_rack = pool_.idle_in_rack(pool_.place_of(pending.server));
  }
  view.spares_elsewhere = pool_.idle() - view.spares_in_rack;
  view.all_replicas = parts_.spec.job.replicas;
  view.replicas = view.all_replicas - pool_.dropped();
  view.options = options;
  const auto chosen = parts_.recovery.decide(view);
  if (!chosen && pending.slow) return chosen;
  if (!chosen || *chosen >= options.size() || !options[*chosen].possible) {
    throw core::FieldError(
        core::field("reliability.policy"),
        "the policy " + parts_.spec.policy + " chose no possible option for a failure of " + std::string(view.source));
  }
  return chosen;
}

void Process::carry_out(Pending& pending, std::size_t option) {
  pending.option = option;
  record(now_.at, 'o', option, pending.server);
  const RecoveryAction action = parts_.spec.recovery[option].action;
  if (action == RecoveryAction::kRestart || action == RecoveryAction::kWait) return;
  const std::uint32_t place = pool_.place_of(pending.server);
  // A server that leaves the job for a part that degrades it is down until the repair: no spare.
  if (const auto degraded = std::find(degraded_.begin(), degraded_.end(), std::pair(pending.source, pending.part));
      degraded != degraded_.end()) {
    degraded_.erase(degraded);
    pool_.take_down(pending.server);
  }
  if (action == RecoveryAction::kDropReplica) {
    pool_.drop(place);
    ++result_.drops;
    return;
  }
  if (action == RecoveryAction::kSwapInRack) pool_.swap_in_rack(place);
  if (action == RecoveryAction::kSwap) pool_.swap(place, parts_.placement);
  if (action == RecoveryAction::kMoveRack) pool_.move_rack(place);
  ++result_.swaps;
}

// The stages of several failures run side by side: the longest decides.
void Process::decide_all() {
  bool waits = false;
  for (Pending& pending : pending_) {
    if (pending.option) continue;
    const auto option = choose(pending);
    if (!option) continue;  // a slow server that is left in the job
    if (parts_.spec.recovery[*option].action == RecoveryAction::kWait && is_blocked(pending)) {
      waits = true;
    } else {
      carry_out(pending, *option);
    }
  }
  const std::uint32_t source = pending_.empty() ? now_.source : pending_.back().source;
  if (waits) {
    if (now_.state != State::kWaiting) enter(State::kWaiting, {}, source);
    return;
  }
  LongTime longest{};
  bool rolls_back = false;
  for (const Pending& pending : pending_) {
    if (!pending.option) continue;
    const RecoveryOption& option = parts_.spec.recovery[*pending.option];
    longest = std::max(longest, draw_stages(option.stages));
    rolls_back = rolls_back || option.rollback == Rollback::kCheckpoint;
  }
  if (rolls_back) result_.sources[source].cost += ledger_.roll_back();
  enter(State::kRecovering, now_.at + longest, source);
}

LongTime Process::draw_stages(const std::vector<Stage>& stages) {
  LongTime sum{};
  for (const Stage& stage : stages) sum += stage.time.draw(stages_);
  return sum;
}

}  // namespace photonrail::goodput
