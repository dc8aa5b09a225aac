// The part of Network that solves levels.
//
// A capacity is at rest when its bound flows, all at its level, take what the flows that are bound elsewhere leave of its
// rate; none of those is faster than the level. Capacities that are not are solved one by one, the lowest level first, as
// progressive filling would fill them: what is below is final, what is above adapts. A capacity that is solved changes what
// it leaves to those that its bound flows cross, and takes over the flows that would be faster; those capacities are solved
// in their turn, until all are at rest. Work is done for the flows whose rate changes, and a few operations for each.
#include "network/network.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::network {

namespace {

constexpr double kSlack = 1e-12;       // of a capacity or a level: closer than this is equal
constexpr std::uint32_t kAfresh = 64;  // after so many visits what is left is summed up again

bool clearly_above(double a, double b) { return a > b + kSlack * b; }

}  // namespace

void Network::touch(CapacityId id) {
  enqueue_candidate(id);
  if (settle_scheduled_) return;
  settle_scheduled_ = true;
  engine_.schedule(engine_.now(), engine::Phase::kSettle, engine::Action::to<&Network::settle>(*this));
}

void Network::enqueue_candidate(CapacityId id) {
  Share& share = shares_[id];
  if (share.queued) return;
  share.queued = true;
  candidates_.push_back({solving_ ? std::min(share.level, least_level(id)) : 0.0, id});
  if (solving_) std::push_heap(candidates_.begin(), candidates_.end());
}

void Network::settle(std::uint64_t) {
  settle_scheduled_ = false;
  solving_ = true;
  for (Candidate& candidate : candidates_) {
    candidate.level = std::min(shares_[candidate.capacity].level, least_level(candidate.capacity));
  }
  std::make_heap(candidates_.begin(), candidates_.end());
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end());
    const Candidate candidate = candidates_.back();
    candidates_.pop_back();
    shares_[candidate.capacity].queued = false;
    visit(candidate.capacity, candidate.level);
  }
  solving_ = false;
  opened_ = false;
  for (const CapacityId id : visited_) shares_[id].visits = 0;
  visited_.clear();
  update_agenda();
}

bool Network::at_rest(CapacityId id) const {
  const Share& share = shares_[id];
  const Capacity& capacity = capacities_[id];
  if (share.open > 0) return false;
  if (capacity.bound.empty()) return share.left >= -kSlack * capacity.rate && share.level == kUnlimited;
  const double taken = static_cast<double>(capacity.bound.size()) * share.level;
  return std::abs(share.left - taken) <= kSlack * capacity.rate && !clearly_above(share.fastest, share.level);
}

// A lower bound on the level of the capacity once it limits a flow.
double Network::least_level(CapacityId id) const {
  const Share& share = shares_[id];
  const Capacity& capacity = capacities_[id];
  if (capacity.rate <= 0.0) return 0.0;
  const std::size_t sharing = capacity.bound.size() + share.open;
  if (sharing > 0) return std::max(0.0, share.left) / static_cast<double>(sharing);
  return capacity.others.empty() ? kUnlimited : capacity.rate / static_cast<double>(capacity.others.size());
}

void Network::visit(CapacityId id, double key) {
  if (at_rest(id)) return;
  Share& share = shares_[id];
  const Capacity& capacity = capacities_[id];
  if (capacity.bound.empty() && share.open == 0 && share.left >= -kSlack * capacity.rate) {
    share.level = kUnlimited;
    return;
  }
  double level = least_level(id);
  // The flows that came to rest below have left it more than when it was put among the candidates: others come first.
  const double turn = std::min(share.level, level);
  if (clearly_above(turn, key) && !candidates_.empty() && candidates_.front().level < turn) {
    enqueue_candidate(id);
    return;
  }
  if (share.visits == 0) visited_.push_back(id);
  if (share.visits < 255) ++share.visits;
  if (share.visits > most_visits_ && !opened_) {
    opened_ = true;
    open_component(id);
    return;
  }
  joiners_.clear();
  if (share.open > 0 || clearly_above(share.fastest, level) || ++share.since_summed > kAfresh) level = solve(id, level);
  set_level(id, level);
  for (const Joiner& joiner : joiners_) rebind(joiner.slot);
  flows_solved_ += joiners_.size();
}

// The level at which the flows of the capacity take all of its rate. Those that are bound elsewhere and would be faster
// join the bound ones, and leave what they have to them; from a level that is too low, it rises until no flow has joined
// too early.
double Network::solve(CapacityId id, double level) {
  gather(id, level);
  Share& share = shares_[id];
  for (;;) {
    double left = share.left;
    for (const Joiner& joiner : joiners_) {
      if (joiner.rate != kUnlimited) left += joiner.rate;
    }
    const std::size_t sharing = capacities_[id].bound.size() + joiners_.size();
    if (sharing == 0) return kUnlimited;
    level = capacities_[id].rate > 0.0 ? std::max(0.0, left) / static_cast<double>(sharing) : 0.0;
    const auto stays = [&](const Joiner& joiner) {
      if (clearly_above(joiner.rate, level)) return false;
      share.fastest = std::max(share.fastest, joiner.rate);
      return true;
    };
    if (std::erase_if(joiners_, stays) == 0) return level;
  }
}

// Finds the flows that are bound elsewhere and faster than `level`, and what the others leave, without an old error.
void Network::gather(CapacityId id, double level) {
  Share& share = shares_[id];
  const Capacity& capacity = capacities_[id];
  share.since_summed = 0;
  share.fastest = 0.0;
  share.left = capacity.rate;
  for (const Other& other : capacity.others) {
    const double rate = other.bottleneck == kNone ? kUnlimited : shares_[other.bottleneck].level;
    if (rate != kUnlimited) share.left -= rate;
    if (clearly_above(rate, level)) {
      joiners_.push_back({rate, other.slot});
    } else {
      share.fastest = std::max(share.fastest, rate);
    }
  }
}

// All bound flows get the level, and those that are bound at another capacity from now on go there.
void Network::set_level(CapacityId id, double level) {
  advance(id);
  stir(id);
  Share& share = shares_[id];
  const double more = level - share.level;
  share.level = level;
  const std::vector<Bound>& bound = capacities_[id].bound;
  if (bound.empty()) return;
  flows_solved_ += bound.size();
  const double limit = level * (1.0 - kSlack);
  leavers_.clear();
  Share* const shares = shares_.data();
  // Returns the level of the capacity, where a flow that crosses it has become faster by `more`.
  const auto pass_on = [&](CapacityId crossed) {
    Share& other = shares[crossed];
    other.left -= more;
    other.fastest = std::max(other.fastest, level);
    if (!other.queued && other.upset()) enqueue_candidate(crossed);
    return other.level;
  };
  for (const Bound& b : bound) {
    double least = kUnlimited;
    if (b.other != kNone) {
      least = pass_on(b.other);
    } else {
      for (const Hop& hop : hops_of(flows_[hops_[b.slot].flow])) {
        if (hop.capacity != id) least = std::min(least, pass_on(hop.capacity));
      }
    }
    if (least < limit) leavers_.push_back(b.slot);
  }
  for (const Slot slot : leavers_) rebind(slowest(flows_[hops_[slot].flow]));
  if (!leavers_.empty()) enqueue_candidate(id);
}

// The hop with the least level.
Network::Slot Network::slowest(const Flow& flow) const {
  Slot best = flow.first_hop;
  for (Slot slot = best + 1; slot < flow.first_hop + flow.hops; ++slot) {
    if (shares_[hops_[slot].capacity].level < shares_[hops_[best].capacity].level) best = slot;
  }
  return best;
}

// Takes their bottleneck from all flows that share a capacity with a flow that shares ... with one of this capacity.
void Network::open_component(CapacityId id) {
  std::vector<CapacityId> component{id};
  for (std::size_t next = 0; next < component.size(); ++next) {
    const CapacityId here = component[next];
    const auto open_all = [&](const auto& flows) {
      for (const auto& entry : flows) {
        const Flow& flow = flows_[hops_[entry.slot].flow];
        if (flow.bottleneck == kNone) continue;
        for (const Hop& hop : hops_of(flow)) component.push_back(hop.capacity);
      }
    };
    open_all(capacities_[here].bound);
    open_all(capacities_[here].others);
    while (!capacities_[here].bound.empty()) open(flows_[hops_[capacities_[here].bound.front().slot].flow]);
    shares_[here].level = kUnlimited;
    enqueue_candidate(here);
  }
}

// Takes its bottleneck from a flow.
void Network::open(Flow& flow) {
  const Slot from = flow.bottleneck;
  const double rate = shares_[hops_[from].capacity].level;
  flow.remaining = remaining(from);
  flow.bottleneck = kNone;
  unbind(from);
  add_other(from, kNone);
  for (Slot slot = flow.first_hop; slot < flow.first_hop + flow.hops; ++slot) {
    const CapacityId id = hops_[slot].capacity;
    ++shares_[id].open;
    if (slot == from) continue;
    capacities_[id].others[hops_[slot].position].bottleneck = kNone;
    shares_[id].left += rate;
  }
}

}  // namespace photonrail::network
