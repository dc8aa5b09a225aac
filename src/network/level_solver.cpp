#include "network/level_solver.hpp"

#include "network/level_check.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace photonrail::network {

namespace {

constexpr double kSlack = 1e-12;               // of a capacity or a level: closer than this is equal
constexpr std::uint32_t kMaxSinceSummed = 64;  // after so many visits what is left is summed up again

bool clearly_above(double a, double b) { return a > b + kSlack * b; }

// visit() and pass_on_each() are the inner loops of a solve, each called at one place. GCC takes them for too large to be
// inlined at -O2, and as calls they cost 4 % of its instructions (tests/bench, max_min): hence always_inline.

}  // namespace

// A new flow is bound nowhere: it counts as open on each capacity of its path until one of them takes it. Only these
// capacities are visited at first, so that a solve costs in proportion to what a change reaches.
void LevelSolver::add(FlowId id) {
  Flow& flow = parts_.flows[id];
  flow.state = FlowState::kShared;
  flow.bottleneck = kNone;
  ++flows_;
  for (HopSlot slot = flow.first_hop; slot < flow.first_hop + flow.hops; ++slot) {
    const CapacityId capacity = parts_.flows.hop(slot).capacity;
    parts_.lists.add_other(slot, kNone);
    ++shares_[capacity].open;
    touch(capacity);
  }
}

// The departing flow gives its rate back to the capacities that it crosses. Its own capacity has kept the rate as its level
// times the number of its flows, which shrinks by itself.
void LevelSolver::remove(FlowId id) {
  const Flow& flow = parts_.flows[id];
  const double rate = shares_[parts_.flows.hop(flow.bottleneck).capacity].level;
  unbind(flow.bottleneck);
  --flows_;
  for (HopSlot slot = flow.first_hop; slot < flow.first_hop + flow.hops; ++slot) {
    const CapacityId capacity = parts_.flows.hop(slot).capacity;
    if (slot != flow.bottleneck) {
      parts_.lists.drop_other(slot);
      shares_[capacity].left += rate;
    }
    if (shares_[capacity].level != kUnlimited) touch(capacity);
  }
}

void LevelSolver::change_rate(CapacityId id, double more) {
  shares_[id].left += more;
  if (!parts_.lists.empty(id)) touch(id);
}

void LevelSolver::touch(CapacityId id) {
  enqueue(id);
  if (settle_scheduled_) return;
  settle_scheduled_ = true;
  parts_.engine.schedule(parts_.engine.now(), engine::Phase::kSettle,
                         engine::Action::to<&LevelSolver::settle_event>(*this));
}

// Before a solve the candidates are a plain list, since keys would be out of date when it begins; during it they are a heap
// by the level at which the capacity would come to rest.
inline void LevelSolver::enqueue(CapacityId id) {
  Share& share = shares_[id];
  if (share.queued) return;
  share.queued = true;
  if (solving_) {
    engine::heap_push(candidates_, {std::min(share.level, least_level(id)), id});
  } else {
    candidates_.push_back({0.0, id});
  }
}

void LevelSolver::settle() {
  settle_scheduled_ = false;
  solving_ = true;
  fill_above_ = work_before_filling();
  for (LevelCandidate& candidate : candidates_) {
    candidate.level = std::min(shares_[candidate.capacity].level, least_level(candidate.capacity));
  }
  std::sort(candidates_.begin(), candidates_.end());
  // From the lowest level up, as progressive filling would freeze flows: a capacity that has come to rest is upset again
  // only by one that is slower, so that most capacities are visited once.
  while (!candidates_.empty()) {
    const LevelCandidate candidate = candidates_.front();
    engine::heap_pop(candidates_);
    shares_[candidate.capacity].queued = false;
    visit(candidate.capacity, candidate.level);
  }
  solving_ = false;
  for (const CapacityId id : visited_) shares_[id].visits = 0;
  visited_.clear();
  parts_.agenda.update([this](CapacityId id) {
    return parts_.lists.bound(id).empty() ? Time::never() : parts_.lists.first_end(id, shares_[id].level);
  });
#ifdef PHOTONRAIL_CHECK_LEVELS
  std::vector<double> levels;
  for (const Share& share : shares_) levels.push_back(share.level);
  check_levels(parts_.flows, parts_.lists, parts_.rates, levels);
#endif
}

// Filling goes through all flows. Those of long paths cost it so much that it is kept for what comes to no rest otherwise.
std::uint64_t LevelSolver::work_before_filling() const {
  if (flows_ < least_crowd_ || !parts_.lists.only_pairs()) return ~std::uint64_t{0};
  const bool many = 2 * candidates_.size() >= shares_.size();
  return flows_solved_ + (many ? 0 : flows_);
}

// The two conditions of max-min fairness at a capacity: its flows take all of it, and no flow that crosses it and is bound
// elsewhere is faster than those that are bound here (Bertsekas and Gallager, Data Networks, 6.5.2).
inline bool LevelSolver::at_rest(CapacityId id) const {
  const Share& share = shares_[id];
  if (share.open > 0) return false;
  if (parts_.lists.bound(id).empty()) return share.left >= -kSlack * parts_.rates[id] && share.level == kUnlimited;
  const double taken = static_cast<double>(parts_.lists.bound(id).size()) * share.level;
  return std::abs(share.left - taken) <= kSlack * parts_.rates[id] && !clearly_above(share.fastest, share.level);
}

// A lower bound on the level of the capacity once it limits a flow.
inline double LevelSolver::least_level(CapacityId id) const {
  const Share& share = shares_[id];
  if (parts_.rates[id] <= 0.0) return 0.0;
  const std::size_t sharing = parts_.lists.bound(id).size() + share.open;
  if (sharing > 0) return std::max(0.0, share.left) / static_cast<double>(sharing);
  return parts_.lists.others(id).empty() ? kUnlimited
                                         : parts_.rates[id] / static_cast<double>(parts_.lists.others(id).size());
}

[[gnu::always_inline]] inline void LevelSolver::visit(CapacityId id, double key) {
  if (at_rest(id)) return;
  Share& share = shares_[id];
  if (parts_.lists.bound(id).empty() && share.open == 0 && share.left >= -kSlack * parts_.rates[id]) {
    share.level = kUnlimited;
    return;
  }
  double level = least_level(id);
  // The flows that came to rest below have left it more than when it was put among the candidates: others come first. Equal
  // turns go by number, so that the order on a rail is the same whatever goes on on others.
  const LevelCandidate turn{std::min(share.level, level), id};
  if (clearly_above(turn.level, key) && !candidates_.empty() && candidates_.front() < turn) {
    share.queued = true;
    engine::heap_push(candidates_, turn);
    return;
  }
  // A capacity that is visited so often passes its flows to and fro with others. Filling is exact and ends, so it takes
  // over.
  if (share.visits == 0) visited_.push_back(id);
  ++share.visits;
  if (share.visits > max_visits_ || flows_solved_ >= fill_above_) return fill();
  joiners_.clear();
  if (share.open > 0 || clearly_above(share.fastest, level) || ++share.since_summed > kMaxSinceSummed)
    level = solve(id, level);
  set_level(id, level);
  for (const Joiner& joiner : joiners_) rebind(joiner.slot);
  flows_solved_ += joiners_.size();
}

// The level at which the flows of the capacity take all of its rate. Those that are bound elsewhere and would be faster
// join the bound ones, and leave what they have to them; from a level that is too low, it rises until no flow has joined
// too early.
double LevelSolver::solve(CapacityId id, double level) {
  // Each round the level can only rise, because joiners that leave are slower than the level, and they are finitely many.
  gather(id, level);
  Share& share = shares_[id];
  for (;;) {
    double left = share.left;
    for (const Joiner& joiner : joiners_) {
      if (joiner.rate != kUnlimited) left += joiner.rate;
    }
    const std::size_t sharing = parts_.lists.bound(id).size() + joiners_.size();
    if (sharing == 0) return kUnlimited;
    level = parts_.rates[id] > 0.0 ? std::max(0.0, left) / static_cast<double>(sharing) : 0.0;
    const auto stays = [&](const Joiner& joiner) {
      if (clearly_above(joiner.rate, level)) return false;
      share.fastest = std::max(share.fastest, joiner.rate);
      return true;
    };
    if (std::erase_if(joiners_, stays) == 0) return level;
  }
}

// Finds the flows that are bound elsewhere and faster than `level`, and what the others leave, without an old error.
void LevelSolver::gather(CapacityId id, double level) {
  const Share* const shares = shares_.data();
  double left = parts_.rates[id];
  double fastest = 0.0;
  for (const CrossingFlow& other : parts_.lists.others(id)) {
    const double rate = other.bottleneck == kNone ? kUnlimited : shares[other.bottleneck].level;
    if (rate != kUnlimited) left -= rate;
    if (clearly_above(rate, level)) {
      joiners_.push_back({rate, other.slot});
    } else {
      fastest = std::max(fastest, rate);
    }
  }
  Share& share = shares_[id];
  share.left = left;
  share.fastest = fastest;
  share.since_summed = 0;
}

// All bound flows get the level, and those that are bound at another capacity from now on go there.
void LevelSolver::set_level(CapacityId id, double level) {
  parts_.lists.advance(id, shares_[id].level);
  parts_.agenda.mark(id);
  Share& share = shares_[id];
  // Counters of served bytes are brought up to now under the old level before it changes.
  const Change change{id, level, level - share.level};
  share.level = level;
  const std::vector<BoundFlow>& bound = parts_.lists.bound(id);
  if (bound.empty()) return;
  flows_solved_ += bound.size();
  leavers_.clear();
  if (const CrossingCounts* const crossings = parts_.lists.crossings(id)) {
    pass_on_counted(change, *crossings);
  } else {
    pass_on_each(change);
  }
  for (const HopSlot slot : leavers_) {
    const Flow& flow = parts_.flows[parts_.flows.hop(slot).flow];
    if (flow.bottleneck == slot) rebind(slowest(flow));  // else it was found twice
  }
  if (!leavers_.empty()) enqueue(id);
}

// Flows that cross the capacity have become faster, by `more` in all. Returns its level.
inline double LevelSolver::take(Share* shares, CapacityId crossed, double level, double more) {
  Share& other = shares[crossed];
  other.left -= more;
  other.fastest = std::max(other.fastest, level);
  if (!other.queued && other.upset()) enqueue(crossed);
  return other.level;
}

// Tells the capacities that the bound flows cross, and finds the flows for which one of these is slower.
[[gnu::always_inline]] inline void LevelSolver::pass_on_each(const Change& change) {
  const auto [capacity, level, more] = change;
  const double limit = level * (1.0 - kSlack);
  Share* const shares = shares_.data();
  for (const BoundFlow& b : parts_.lists.bound(capacity)) {
    double least = kUnlimited;
    if (b.other != kNone) {
      least = take(shares, b.other, level, more);
    } else {
      for (const Hop& hop : parts_.flows.hops_of(parts_.flows[parts_.flows.hop(b.slot).flow])) {
        if (hop.capacity != capacity) least = std::min(least, take(shares, hop.capacity, level, more));
      }
    }
    if (least < limit) leavers_.push_back(b.slot);
  }
}

// The same with one step for each capacity, and for each flow that crosses a slower one.
void LevelSolver::pass_on_counted(const Change& change, const CrossingCounts& crossings) {
  const auto [capacity, level, more] = change;
  const double limit = level * (1.0 - kSlack);
  Share* const shares = shares_.data();
  slower_.clear();
  crossings.for_each([&, level = level, more = more](CapacityId crossed, std::uint32_t flows) {
    // One that rises to this level by itself, in its turn, need not take them.
    if (take(shares, crossed, level, more * flows) < limit && least_level(crossed) < limit) slower_.push_back(crossed);
  });
  std::sort(slower_.begin(), slower_.end());  // the table has them in an order that numbers elsewhere change
  for (const CapacityId crossed : slower_) {
    for (const CrossingFlow& flow : parts_.lists.others(crossed)) {
      if (flow.bottleneck == capacity) leavers_.push_back(parts_.flows[parts_.flows.hop(flow.slot).flow].bottleneck);
    }
  }
  if (parts_.lists.pairs(capacity) == 0) return;
  for (const BoundFlow& b : parts_.lists.bound(capacity)) {
    if (b.other != kNone && take(shares, b.other, level, more) < limit) leavers_.push_back(b.slot);
  }
}

// The hop with the least level.
HopSlot LevelSolver::slowest(const Flow& flow) const {
  const std::span<const Hop> hops = parts_.flows.hops_of(flow);
  const Share* const shares = shares_.data();
  std::size_t best = 0;
  double least = shares[hops[0].capacity].level;
  for (std::size_t i = 1; i < hops.size(); ++i) {
    const double level = shares[hops[i].capacity].level;
    if (level >= least) continue;
    least = level;
    best = i;
  }
  return flow.first_hop + static_cast<HopSlot>(best);
}

// The hop becomes the bottleneck of its flow in the place of another, or of none.
// All capacities of the path learn of the change: `left` is what a capacity has for the flows that are bound to it, so a
// flow that is bound elsewhere takes its rate off, and one that becomes bound here gives its former rate back.
void LevelSolver::rebind(HopSlot to) {
  FlowTable& flows = parts_.flows;
  CapacityFlows& lists = parts_.lists;
  Share* const shares = shares_.data();
  Flow& flow = flows[flows.hop(to).flow];
  const HopSlot from = flow.bottleneck;
  const CapacityId target = flows.hop(to).capacity;
  const double before = from == kNone ? 0.0 : shares[flows.hop(from).capacity].level;
  const double after = shares[target].level;
  lists.drop_other(to);
  if (from != kNone) {
    flow.remaining = remaining(from);
    unbind(from);
  }
  const HopSlot end = flow.first_hop + flow.hops;
  for (HopSlot slot = flow.first_hop; slot < end; ++slot) {
    const CapacityId id = flows.hop(slot).capacity;
    Share& share = shares[id];
    if (from == kNone) --share.open;
    if (slot == to) {
      share.left += before;
      continue;
    }
    if (slot == from) {
      lists.add_other(slot, target);
      share.left -= after;
    } else {
      lists.set_bottleneck(slot, target);
      share.left += before - after;
    }
    share.fastest = std::max(share.fastest, after);
    if (!share.queued && share.upset()) enqueue(id);
  }
  lists.advance(target, after);
  parts_.agenda.mark(target);
  lists.bind(to, flow.remaining);
}

void LevelSolver::unbind(HopSlot slot) {
  parts_.agenda.mark(parts_.flows.hop(slot).capacity);
  parts_.lists.unbind(slot);
}

// The bytes that a bound flow has left.
double LevelSolver::remaining(HopSlot slot) {
  const CapacityId id = parts_.flows.hop(slot).capacity;
  parts_.lists.advance(id, shares_[id].level);
  return parts_.lists.remaining(slot);
}

// Fills all levels anew. Nothing is left to be solved.
// The visits so far are thrown away, but not the bytes: each capacity counts what it served before its level is replaced.
void LevelSolver::fill() {
  filling_.run();
  for (CapacityId id = 0; id < shares_.size(); ++id) {
    Share& share = shares_[id];
    share.queued = false;
    if (parts_.lists.empty(id)) {
      share.level = kUnlimited;
      continue;
    }
    const ProgressiveFilling::Filled& filled = filling_[id];
    parts_.lists.advance(id, share.level);
    parts_.agenda.mark(id);
    share = {.left = filled.left, .level = filled.level, .fastest = filled.fastest, .visits = share.visits};
  }
  const std::vector<HopSlot>& moved = filling_.moved();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    // Which flows come is known, and they lie far apart.
    if (i + 16 < moved.size()) __builtin_prefetch(&parts_.flows.hop(moved[i + 16]));
    if (i + 8 < moved.size()) __builtin_prefetch(&parts_.flows[parts_.flows.hop(moved[i + 8]).flow].bottleneck);
    move(moved[i]);
  }
  flows_solved_ += flows_;
  candidates_.clear();
}

// The hop becomes the bottleneck of its flow, where all shares know of it.
void LevelSolver::move(HopSlot to) {
  FlowTable& flows = parts_.flows;
  Flow& flow = flows[flows.hop(to).flow];
  const HopSlot from = flow.bottleneck;
  const CapacityId target = flows.hop(to).capacity;
  parts_.lists.drop_other(to);
  if (from != kNone) {
    flow.remaining = parts_.lists.remaining(from);
    parts_.lists.unbind(from);
    parts_.lists.add_other(from, target);
  }
  for (HopSlot slot = flow.first_hop; slot < flow.first_hop + flow.hops; ++slot) {
    if (slot != to && slot != from) parts_.lists.set_bottleneck(slot, target);
  }
  parts_.lists.bind(to, flow.remaining);
}

}  // namespace photonrail::network
