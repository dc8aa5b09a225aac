#include "studies/goodput/process/process.hpp"

#include "core/fnv1a.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace photonrail::goodput {

namespace {

constexpr double kMaxSteps = 4e18;  // of a history: they are counted in 63 bits
constexpr LongTime kNever = LongTime(Duration{1}).times(std::int64_t{1} << 62).times(1 << 20);  // 150,000 years

Duration healthy_step(StepTimes& steps) {
  const auto step = steps.of(Configuration{});
  if (!step) throw DeadlockError({"the job cannot run on the healthy cluster"});
  if (*step <= Duration{}) throw ConfigError("reliability", "a step takes no time", "a workload that computes or sends");
  return *step;
}

WorkLedger::Plan plan_of(const GoodputSpec& spec, Duration step) {
  return {spec.steps_between_checkpoints(step), LongTime::from_seconds(spec.checkpoint.stall_s),
          LongTime::from_seconds(spec.checkpoint.copy_s), spec.steps};
}

TimeUse use_of(int state) {
  constexpr TimeUse kUses[] = {TimeUse::kProductive, TimeUse::kDetecting, TimeUse::kWaiting, TimeUse::kRecovering,
                               TimeUse::kPlanned};
  return kUses[state];
}

}  // namespace

Process::Process(const ProcessParts& parts, std::uint64_t seed)
    : parts_(parts),
      clock_(parts.spec, seed, LongTime::from_days(parts.spec.days)),
      pool_(parts.spec),
      ledger_(plan_of(parts.spec, healthy_step(parts.steps))),
      stages_(seed, "reliability.stages"),
      healthy_(LongTime(healthy_step(parts.steps))),
      end_(LongTime::from_days(parts.spec.days)) {
  result_.seed = seed;
  result_.hash = core::kFnv1aStart;
  result_.sources.resize(parts.spec.failures.size() + 1);
  for (const FailureSource& source : parts.spec.failures) down_.emplace_back(parts.spec.parts_of(source), 0);
  down_.emplace_back(parts.spec.trace ? parts.spec.servers() : 0, 0);
  if (parts.spec.maintenance.every_d > 0.0) {
    push(LongTime::from_days(parts.spec.maintenance.every_d), Timed::Kind::kMaintenance, {});
  }
}

History Process::run() {
  static_cast<void>(update_speed());
  while (now_.at < end_ && !ledger_.finished()) {
    const auto failure = clock_.next();
    LongTime next = end_;
    if (failure) next = std::min(next, *failure);
    if (!timed_.empty()) next = std::min(next, timed_.top().at);
    pass_until(next);
    if (now_.at < next || now_.at == end_ || ledger_.finished()) continue;
    if (!timed_.empty() && timed_.top().at == now_.at) {  // repairs before failures of the same instant
      const Timed timed = timed_.top();
      timed_.pop();
      on_timed(timed);
    } else {
      fail(clock_.pop());
    }
  }
  report_period();
  ledger_.close();
  result_.books = ledger_.books();
  result_.steps = ledger_.steps();
  result_.wall = now_.at;
  PHOTONRAIL_CHECK(result_.books.total() == result_.wall);
  return result_;
}

// To `t`, or less far when the state of the job changes before that.
void Process::pass_until(LongTime t) {
  if (now_.state == State::kRunning) {
    const bool stops = now_.maintenance || pool_.healthy_dropped().has_value();
    now_.at = ledger_.advance(now_.at, t, stops);
    if (stops && now_.at < t) act_at_boundary();
    return;
  }
  const LongTime to = now_.state == State::kWaiting ? t : std::min(t, now_.until);
  const LongTime length = to - now_.at;
  ledger_.book(use_of(static_cast<int>(now_.state)), length);
  if (now_.state != State::kPlanned) result_.sources[now_.source].cost += length;
  now_.at = to;
  if (now_.state != State::kWaiting && to == now_.until) state_over();
}

// A replica comes back, or maintenance begins, at the end of a step: nothing is lost.
void Process::act_at_boundary() {
  if (ledger_.finished()) return;
  if (now_.maintenance) {
    now_.maintenance = false;
    ledger_.save();
    enter(State::kPlanned, now_.at + parts_.spec.maintenance.lasts.draw(stages_), now_.source);
    return;
  }
  LongTime longest{};
  while (const auto replica = pool_.healthy_dropped()) {
    pool_.rejoin(*replica);
    record(now_.at, 'j', *replica, 0);
  }
  for (const RecoveryOption& option : parts_.spec.recovery) {
    if (option.action == RecoveryAction::kDropReplica) longest = std::max(longest, draw_stages(option.rejoin));
  }
  enter(State::kRecovering, now_.at + longest, now_.source);
}

void Process::state_over() {
  if (now_.state == State::kRecovering || (now_.state == State::kPlanned && pending_.empty())) return resume();
  decide_all();
}

void Process::enter(State state, LongTime until, std::uint32_t source) {
  report_period();
  now_.state = state;
  now_.until = until;
  now_.source = source;
  if (parts_.observer == nullptr) return;
  parts_.observer->places(now_.at, state == State::kRunning, pool_.servers_at(), pool_.down(), pool_.dropped_replicas());
}

void Process::report_period() {
  if (parts_.observer == nullptr) return;
  constexpr Period::State kStates[] = {Period::State::kRunning, Period::State::kDetecting, Period::State::kWaiting,
                                       Period::State::kRecovering, Period::State::kPlanned};
  const auto state = now_.state == State::kRunning && now_.degraded_seen ? Period::State::kDegraded
                                                                         : kStates[static_cast<int>(now_.state)];
  if (now_.at > now_.since) parts_.observer->period({now_.since, now_.at, state, now_.source});
  now_.since = now_.at;
  now_.degraded_seen = now_.slow;
}

void Process::push(LongTime at, Timed::Kind kind, const Failure& failure, std::size_t mark) {
  timed_.push({at, now_.sequence++, kind, failure, mark});
}

void Process::record(LongTime at, std::uint64_t what, std::uint64_t a, std::uint64_t b) {
  const std::string text = at.digits() + ":" + std::to_string(what) + ":" + std::to_string(a) + ":" + std::to_string(b);
  result_.hash = core::fnv1a(text, result_.hash);
}

const FailureSource* Process::kind_of(std::uint32_t source) const {
  return source < parts_.spec.failures.size() ? &parts_.spec.failures[source] : nullptr;
}

bool Process::degrades(std::uint32_t source) const {
  const FailureSource* kind = kind_of(source);
  return kind != nullptr && kind->degradation != Degradation::kNone;
}

std::vector<std::uint32_t> Process::servers_of(std::uint32_t source, std::uint32_t part) const {
  const FailureSource* kind = kind_of(source);
  if (kind == nullptr) return {part};
  if (kind->per_server != 0) return {part / kind->per_server};
  if (kind->servers_per_part != 0) return pool_.group(part, kind->servers_per_part);
  return {};
}

std::uint32_t Process::active_server(std::uint32_t source, std::uint32_t part) const {
  for (const std::uint32_t s : servers_of(source, part)) {
    if (pool_.is_active(s)) return s;
  }
  return ServerPool::kNoPlace;
}

void Process::fail(const Failure& failure) {
  std::uint8_t& down = down_[failure.source][failure.part];
  if (down != 0 && kind_of(failure.source) != nullptr) return;
  ++result_.sources[failure.source].failures;
  record(failure.at, 'f', failure.source, failure.part);
  const FailureSource* kind = kind_of(failure.source);
  const auto effect = kind == nullptr ? FailureEffect::kStop : kind->effect;
  const std::vector<std::uint32_t> servers = servers_of(failure.source, failure.part);
  const bool on_job = servers.empty() || active_server(failure.source, failure.part) != ServerPool::kNoPlace;
  if (effect == FailureEffect::kSilent) {
    if (!on_job) return clock_.renew(failure.source, failure.part, now_.at);
    marks_.push_back(ledger_.durable(now_.at));
    return push(now_.at + failure.detection, Timed::Kind::kSilentFound, failure, marks_.size() - 1);
  }
  if (failure.repair > LongTime{}) {
    ++down;
    push(now_.at + failure.repair, Timed::Kind::kRepaired, failure);
    if (degrades(failure.source)) {
      degraded_.insert(std::upper_bound(degraded_.begin(), degraded_.end(), std::pair(failure.source, failure.part)),
                       {failure.source, failure.part});
    } else {
      for (const std::uint32_t s : servers) pool_.take_down(s);
    }
  } else {
    clock_.renew(failure.source, failure.part, now_.at);
  }
  if (effect == FailureEffect::kSlow) {
    if (!on_job) return;
    push(now_.at + failure.detection, Timed::Kind::kSlowNoticed, failure);
    if (now_.state == State::kRunning && !update_speed())
      stop_job(failure, active_server(failure.source, failure.part), failure.detection, false);
    return;
  }
  if (!on_job) return;
  if (servers.empty()) return stop_job(failure, ServerPool::kNoPlace, failure.detection, false);
  bool first = true;  // one failure, however many servers it takes
  for (const std::uint32_t s : servers) {
    if (!pool_.is_active(s)) continue;
    if (first) {
      stop_job(failure, s, failure.detection, false);
    } else {
      pending_.push_back({failure.source, failure.part, s, failure.repair.seconds(), false, {}});
    }
    first = false;
  }
}

// `server`: kNoPlace for a failure of the whole cluster.
void Process::stop_job(const Failure& failure, std::uint32_t server, LongTime detection, bool slow) {
  ++result_.failures;
  SourceTally& tally = result_.sources[failure.source];
  ++tally.on_job;
  pending_.push_back({failure.source, failure.part, server, failure.repair.seconds(), slow, {}});
  if (now_.state == State::kRunning) {
    ++result_.interruptions;
    tally.cost += ledger_.interrupt(now_.at);
  }
  if (now_.state == State::kRunning || now_.state == State::kRecovering) {
    enter(State::kDetecting, now_.at + detection, failure.source);
  }
}

void Process::on_timed(const Timed& timed) {
  switch (timed.kind) {
    case Timed::Kind::kRepaired:
      return repaired(timed.failure);
    case Timed::Kind::kSilentFound:
      return silent_found(timed);
    case Timed::Kind::kSlowNoticed:
      return slow_noticed(timed.failure);
    case Timed::Kind::kMaintenance:
      now_.maintenance = true;
      return push(now_.at + LongTime::from_days(parts_.spec.maintenance.every_d), Timed::Kind::kMaintenance, {});
  }
}

void Process::repaired(const Failure& failure) {
  --down_[failure.source][failure.part];
  record(now_.at, 'r', failure.source, failure.part);
  clock_.renew(failure.source, failure.part, now_.at);
  const auto degraded = std::find(degraded_.begin(), degraded_.end(), std::pair(failure.source, failure.part));
  if (degraded != degraded_.end()) {
    degraded_.erase(degraded);
  } else {
    for (const std::uint32_t s : servers_of(failure.source, failure.part)) pool_.repair(s);
  }
  fill_dropped();
  if (now_.state == State::kRunning) {
    const bool goes_on = update_speed();
    PHOTONRAIL_CHECK(goes_on || !degraded_.empty());
    if (!goes_on) stop_job(failure, ServerPool::kNoPlace, {}, false);
  } else if (now_.state == State::kWaiting) {
    decide_all();
  }
}

// A spare that came back takes the place of a broken server of a dropped replica, where an option would have done so.
void Process::fill_dropped() {
  for (const std::uint32_t place : pool_.places_to_fill()) {
    for (const RecoveryOption& option : parts_.spec.recovery) {
      if (option.action == RecoveryAction::kSwapInRack && pool_.idle_in_rack(place) > 0) {
        pool_.swap_in_rack(place);
      } else if (option.action == RecoveryAction::kSwap && pool_.idle() > 0) {
        pool_.swap(place, parts_.placement);
      } else {
        continue;
      }
      ++result_.swaps;
      break;
    }
  }
}

// The part is found now: its repair begins, and all results since it failed are lost.
void Process::silent_found(const Timed& timed) {
  const Failure& failure = timed.failure;
  const std::vector<std::uint32_t> servers = servers_of(failure.source, failure.part);
  const bool running = now_.state == State::kRunning;
  if (running) {
    ++result_.interruptions;
    result_.sources[failure.source].cost += ledger_.interrupt(now_.at);
  }
  result_.sources[failure.source].cost += ledger_.roll_back_to(marks_[timed.mark]);
  for (WorkLedger::Mark& mark : marks_) {
    if (mark.steps > marks_[timed.mark].steps) mark = marks_[timed.mark];
  }
  if (failure.repair > LongTime{} && down_[failure.source][failure.part] == 0) {
    ++down_[failure.source][failure.part];
    push(now_.at + failure.repair, Timed::Kind::kRepaired, failure);
    for (const std::uint32_t s : servers) pool_.take_down(s);
  } else {
    clock_.renew(failure.source, failure.part, now_.at);
  }
  ++result_.failures;
  ++result_.sources[failure.source].on_job;
  record(now_.at, 's', failure.source, failure.part);
  const std::size_t before = pending_.size();
  for (const std::uint32_t s : servers) {
    if (pool_.is_active(s)) pending_.push_back({failure.source, failure.part, s, failure.repair.seconds(), false, {}});
  }
  if (pending_.size() == before)
    pending_.push_back({failure.source, failure.part, ServerPool::kNoPlace, failure.repair.seconds(), false, {}});
  if (running || now_.state == State::kRecovering) enter(State::kDetecting, now_.at, failure.source);
}

// The policy may take a slow server out of the job; without an option for it the job goes on.
void Process::slow_noticed(const Failure& failure) {
  if (now_.state != State::kRunning || down_[failure.source][failure.part] == 0) return;
  const std::vector<std::uint32_t> servers = servers_of(failure.source, failure.part);
  if (servers.empty() || !pool_.is_active(servers[0])) return;
  const Pending slow{failure.source, failure.part, servers[0], failure.repair.seconds(), true, {}};
  if (choose(slow)) stop_job(failure, servers[0], {}, true);
}

Configuration Process::configuration() const {
  Configuration all;
  all.dropped = pool_.dropped();
  const std::uint32_t per_replica = parts_.spec.job.servers / parts_.spec.job.replicas;
  for (const auto& [source, part] : degraded_) {
    const std::uint32_t per_server = parts_.spec.failures[source].per_server;
    if (per_server == 0) {
      all.parts.push_back({source, 0, part, 0});
      continue;
    }
    const std::uint32_t server = part / per_server;
    if (!pool_.is_active(server)) continue;
    const std::uint32_t place = pool_.place_of(server);
    all.parts.push_back({source, pool_.replica_of(place), place % per_replica, part % per_server});
  }
  return all.canonical(parts_.spec);
}

bool Process::update_speed() {
  const Configuration now = configuration();
  const auto step = parts_.steps.of(now);
  if (!step) return false;
  const LongTime whole = LongTime(*step);
  if (end_.seconds() / whole.seconds() > kMaxSteps)
    throw ConfigError("reliability.days", "a history has more than 4e18 steps", "a longer step, or a shorter history");
  const std::uint32_t replicas = parts_.spec.job.replicas;
  const LongTime credit =
      LongTime{healthy_.times(replicas - now.dropped)}.scaled(LongTime(Duration{1}), LongTime(Duration{replicas}));
  const bool slow = now.dropped > 0 || !now.parts.empty();
  if (slow != now_.slow) {
    report_period();
    now_.slow = slow;
    now_.degraded_seen = slow;
  }
  ledger_.set_speed({whole, std::min(credit, whole)});
  return true;
}

void Process::resume() {
  pending_.clear();
  enter(State::kRunning, kNever, now_.source);
  if (update_speed()) return;
  const auto [source, part] = degraded_.back();  // only degraded parts keep a job from going on
  pending_.push_back({source, part, active_server(source, part), parts_.spec.failures[source].repair.mean(), false, {}});
  enter(State::kWaiting, kNever, source);
}

}  // namespace photonrail::goodput
