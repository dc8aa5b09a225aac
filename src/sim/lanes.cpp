#include "sim/lanes.hpp"

#include <algorithm>

namespace photonrail {

template <class Visit>
void Lanes::each_lane(const Operation& op, Visit&& visit) {
  if (per_communicator_) {
    visit(lanes_[op.key.communicator.index()]);
    return;
  }
  const Member members = op.communicator->point_to_point ? 1 : op.members();
  for (Member m = 0; m < members; ++m) {
    if (!op.starts_without(m)) visit(lanes_[op.rank(m).index()]);
  }
}

void Lanes::enqueue(OpId id, const Operation& op) {
  const Ready ready{op.key.iteration, *std::min_element(op.tasks.begin(), op.tasks.end()), op.sequence, id};
  each_lane(op, [&](Lane& lane) { lane.waiting.insert(ready); });
  candidates_.insert(ready);
}

bool Lanes::take(const Ready& candidate, Operation& op) {
  bool free = true;
  each_lane(op, [&](Lane& lane) { free = free && !lane.busy; });
  if (!free) return false;
  each_lane(op, [&](Lane& lane) {
    lane.busy = true;
    lane.waiting.erase(candidate);
    op.cause = later(op.cause, lane.freed);
  });
  return true;
}

void Lanes::free(Lane& lane, Cause cause) {
  lane.busy = false;
  lane.freed = cause;
  if (lane.waiting.empty()) return;
  if (per_communicator_) {
    candidates_.insert(*lane.waiting.begin());  // the others want the same lane, and come later
  } else {
    candidates_.insert(lane.waiting.begin(), lane.waiting.end());
  }
}

void Lanes::leave(const Operation& op, Member member, bool last, Cause cause) {
  if (per_communicator_) {
    if (last) free(lanes_[op.key.communicator.index()], cause);
  } else if (op.starts_without(member)) {
    return;
  } else if (!op.communicator->point_to_point || member == 0) {
    free(lanes_[op.rank(member).index()], cause);
  }
}

std::vector<Lanes::Ready> Lanes::candidates() {
  std::vector<Ready> list(candidates_.begin(), candidates_.end());
  candidates_.clear();
  return list;
}

}  // namespace photonrail
