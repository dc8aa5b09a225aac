#include "network/epoch_flows.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::network {

namespace {

constexpr double kLeastLeft = 1e-6;   // of a rate
constexpr double kMostLonger = 10.0;  // than the accuracy times the age of a flow
// A flow's end is off by about the length of its epoch times what changes of its rate in it. Where so much less changes
// that this stays below a tenth of the accuracy times the age, an epoch may be longer.
constexpr double kShareOfAccuracy = 0.3;

}  // namespace

void EpochFlows::begin() {
  const auto most = static_cast<std::size_t>(accuracy_ * static_cast<double>(parts_.solver.flows()));
  if (most < kLeastFlows) return;
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  const std::size_t before = ends_.size();
  while (ends_.size() - before < most && take_next()) {
  }
  if (ends_.size() == before) return;
  ++epochs_;
  flows_ += ends_.size() - before;
  reserve(before);
  std::inplace_merge(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(before), ends_.end(),
                     [](const End& a, const End& b) { return a.at < b.at; });
  schedule_next_end();
}

// Takes the flow that ends next from the solver, unless it ends too late.
bool EpochFlows::take_next() {
  const CapacityId id = parts_.agenda.first();
  if (id == kNone) return false;
  const double level = parts_.solver.level(id);
  const Time now = parts_.engine.now();
  const Time at = std::max(now, parts_.lists.first_end(id, level));
  const HopSlot slot = parts_.lists.bound(id).front().slot;
  const FlowId flow_id = parts_.flows.hop(slot).flow;
  Flow& flow = parts_.flows[flow_id];
  const auto age = static_cast<double>((now - flow.begin).count());
  if (static_cast<double>((at - now).count()) > longest(id, level) * age) return false;
  flow.remaining = parts_.lists.unsent(slot, level);
  parts_.solver.remove(flow_id);
  parts_.agenda.set(id, parts_.lists.bound(id).empty() ? Time::never() : parts_.lists.first_end(id, level));
  flow.state = FlowState::kEnding;
  flow.bottleneck = kNone;
  ends_.push_back({at, flow_id, flow.begin});
  flow.begin = now;
  flow.left_at = at;
  return true;
}

// Returns how much later than now a bound flow of the capacity may end, as a share of its age. When it has ended, the level
// there is higher by what it frees, and by what those before it in the epoch and those that ended in this instant have
// freed, over what all bound flows have.
double EpochFlows::longest(CapacityId id, double level) const {
  const double have = level * static_cast<double>(parts_.lists.bound(id).size());
  const double freed = std::max(0.0, parts_.solver.unused(id));
  return accuracy_ * std::clamp(kShareOfAccuracy * have / (freed + level), 1.0, most_longer_);
}

// The new flows, those from ends_[first] on, get what they have left at an even rate until the end of the epoch. So does
// what an epoch before has reserved and not yet sent.
void EpochFlows::reserve(std::size_t first) {
  const Time last = with_share_.empty() ? ends_.back().at : std::max(end_, ends_.back().at);
  if (last <= parts_.engine.now()) return;
  take_reserved();
  for (std::size_t i = first; i < ends_.size(); ++i) {
    const Flow& flow = parts_.flows[ends_[i].flow];
    for (const Hop& hop : parts_.flows.hops_of(flow)) {
      if (scratch_[hop.capacity] == 0.0 && reserved_[hop.capacity] == 0.0) with_share_.push_back(hop.capacity);
      scratch_[hop.capacity] += flow.remaining;
    }
  }
  spread(last);
}

// Into scratch_: the bytes of each capacity that are reserved and not yet sent.
void EpochFlows::take_reserved() {
  const auto rest = static_cast<double>((end_ - parts_.engine.now()).count());
  for (const CapacityId id : with_share_) scratch_[id] = reserved_[id] * rest;
}

// Reserves the bytes in scratch_ at an even rate.
void EpochFlows::spread(Time until) {
  const auto length = static_cast<double>((until - parts_.engine.now()).count());
  for (const CapacityId id : with_share_) set_reserved(id, std::max(0.0, std::exchange(scratch_[id], 0.0)) / length);
  end_ = until;
  parts_.engine.cancel(end_event_);
  end_event_ = parts_.engine.schedule(end_, engine::Phase::kFinish, engine::Action::to<&EpochFlows::end>(*this));
}

void EpochFlows::set_reserved(CapacityId id, double rate) {
  // A rest that rounding leaves of a rate that is reserved as a whole would send nothing before the end of time.
  const double left = parts_.rates[id] - rate;
  const double available = left > kLeastLeft * parts_.rates[id] ? left : 0.0;
  parts_.solver.change_rate(id, available - std::exchange(parts_.available[id], available));
  reserved_[id] = rate;
}

void EpochFlows::release() {
  parts_.engine.cancel(end_event_);
  end_event_ = {};
  for (const CapacityId id : with_share_) set_reserved(id, 0.0);
  with_share_.clear();
}

// The next epoch begins at once: the solver, which has work now anyhow, has it once.
void EpochFlows::end(std::uint64_t) {
  release();
  most_longer_ = std::exchange(arrived_, false) ? 1.0 : kMostLonger;
  begin();
}

void EpochFlows::schedule_next_end() {
  parts_.engine.cancel(next_event_);
  next_event_ = {};
  if (next_ < ends_.size()) next_event_ = parts_.engine.schedule(ends_[next_].at, engine::Phase::kFinish, departure_);
}

void EpochFlows::take_ended(std::vector<FlowId>& leaving) {
  for (; next_ < ends_.size() && ends_[next_].at <= parts_.engine.now(); ++next_) leaving.push_back(ends_[next_].flow);
  schedule_next_end();
}

void EpochFlows::arrive(const Flow& flow) {
  arrived_ = true;
  if (most_longer_ == 1.0) return;
  most_longer_ = 1.0;
  const auto path = parts_.flows.hops_of(flow);
  if (std::any_of(path.begin(), path.end(), [this](const Hop& hop) { return !none_on(hop.capacity); })) give_back();
}

// The flows of the epoch go back to the solver. They are ahead of the even rate at which their bytes are reserved: what is
// reserved for bytes that count as sent stays so, for longer, so that it takes little from what arrives.
void EpochFlows::give_back() {
  constexpr std::int64_t kLonger = 4;
  const Duration rest = end_ - parts_.engine.now();
  if (with_share_.empty() || rest <= Duration{}) return;
  take_reserved();
  for (; next_ < ends_.size(); ++next_) {
    Flow& flow = parts_.flows[ends_[next_].flow];
    flow.remaining = unsent(flow);
    flow.begin = ends_[next_].came;
    for (const Hop& hop : parts_.flows.hops_of(flow)) scratch_[hop.capacity] -= flow.remaining;
    parts_.solver.add(ends_[next_].flow);
  }
  spread(parts_.engine.now() + Duration{kLonger * rest.count()});
  schedule_next_end();
}

void EpochFlows::dissolve() {
  give_back();
  release();
}

double EpochFlows::rate(const Flow& flow) const {
  const auto length = static_cast<double>((flow.left_at - flow.begin).count());
  return length > 0.0 ? flow.remaining / length : 0.0;
}

double EpochFlows::unsent(const Flow& flow) const {
  return rate(flow) * static_cast<double>((flow.left_at - parts_.engine.now()).count());
}

}  // namespace photonrail::network
