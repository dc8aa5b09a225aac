#include "execution/lanes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace photonrail::execution {

// Every member of an operation computes the same key from its program, so that ranks agree on an order without a message,
// as runtimes do that negotiate which collective is next (Horovod, PyTorch DDP).
Lanes::Ready Lanes::key(OpId id, const Operation& op) {
  const auto [first, last] = std::minmax_element(op.arrival.tasks().begin(), op.arrival.tasks().end());
  return {op.key.iteration, op.arrival.lane_due(), *first,      *last, op.key.tag,
          op.key.match,     op.dimension(),        op.sequence, id};
}

namespace {

void insert(std::vector<Lanes::Ready>& ascending, const Lanes::Ready& ready) {
  const auto at = std::lower_bound(ascending.begin(), ascending.end(), ready);
  if (at == ascending.end() || *at != ready) ascending.insert(at, ready);
}

bool erase(std::vector<Lanes::Ready>& ascending, const Lanes::Ready& ready) {
  const auto at = std::lower_bound(ascending.begin(), ascending.end(), ready);
  if (at == ascending.end() || *at != ready) return false;
  ascending.erase(at);
  return true;
}

bool is_done(const Operation& op, Member member) { return op.transfer.started && op.transfer.left[member] == 0; }

}  // namespace

template <class Visit>
void Lanes::each_lane(const Operation& op, Visit&& visit) {
  if (per_communicator_) {
    visit(lanes_[op.key.communicator.index()]);
    return;
  }
  const Member members = op.communicator->point_to_point ? 1 : op.members();
  for (Member m = 0; m < members; ++m) {
    if (op.starts_without(m) || is_done(op, m)) continue;  // a done member's lane may be another operation's by now
    visit(lanes_[op.rank(m).index()]);
  }
}

// In a folded run a tie on a lane is reported: the order would then be that of arrival, in which ranks of a class may
// differ. A neighbour in the sorted list is enough to find a tie, since equal keys stand side by side.
void Lanes::check_order(const Lane& lane, const Ready& ready) const {
  const auto after = std::upper_bound(lane.waiting.begin(), lane.waiting.end(), ready);
  const bool tied = (after != lane.waiting.end() && after->same_to_programs(ready)) ||
                    (after != lane.waiting.begin() && std::prev(after)->same_to_programs(ready));
  if (tied) ambiguity_->report("two operations want one lane at one instant, and the programs do not order them");
}

// Communicators of launches come during the run.
void Lanes::enqueue(OpId id, const Operation& op) {
  if (per_communicator_ && op.key.communicator.index() >= lanes_.size()) lanes_.resize(op.key.communicator.index() + 1);
  const Ready ready = key(id, op);
  each_lane(op, [&](Lane& lane) {
    if (ambiguity_ != nullptr && !(per_communicator_ && shares(op))) check_order(lane, ready);
    insert(lane.waiting, ready);
  });
  candidates_.push_back(ready);
}

// All lanes or none: an operation never holds one lane while it waits for another, so that no circle of operations can wait
// for each other's lanes. A lane in use is free for another collective of its communicator where these run together, if no
// operation that waits for it is to start before.
bool Lanes::are_free(const Ready& ready, const Operation& op) {
  bool free = true;
  each_lane(op, [&](Lane& lane) {
    if (lane.users == 0) return;
    const Ready& first = lane.waiting.front();
    const bool turn = first.op == ready.op || ready < first;
    free = free && shares(op) && lane.communicator == op.key.communicator && turn;
  });
  return free;
}

std::optional<CriticalPathTag> Lanes::take(const Ready& candidate, const Operation& op) {
  if (!are_free(candidate, op)) return std::nullopt;
  CriticalPathTag freed;
  const auto same = [&](const Ready& ready) { return ready.op == candidate.op; };
  // An operation that was over at once may have freed the lane since, and named it again.
  std::erase(candidates_, candidate);
  each_lane(op, [&](Lane& lane) {
    ++lane.users;
    lane.communicator = op.key.communicator;
    if (!erase(lane.waiting, candidate)) {  // a member that came since changed the key
      std::erase_if(lane.waiting, same);
      std::erase_if(candidates_, same);
    }
    freed = later_of(freed, lane.freed);
  });
  return freed;
}

// An operation that waits becomes a candidate, not the user: it may still lack another lane. With one lane for each
// communicator only the first can start; with lanes of ranks any may, because the first can be held up by a lane of another
// rank.
void Lanes::free(Lane& lane, CriticalPathTag cause) {
  lane.freed = together_ ? later_of(lane.freed, cause) : cause;
  if (--lane.users > 0 || lane.waiting.empty()) return;
  if (per_communicator_) {
    candidates_.push_back(lane.waiting.front());  // the others want the same lane, and come later
  } else {
    candidates_.insert(candidates_.end(), lane.waiting.begin(), lane.waiting.end());
  }
}

// A lane of a communicator is free when all members are done, one of a rank when that rank is. Of a send the sender alone
// has a lane.
void Lanes::leave(const Operation& op, Member member, bool last, CriticalPathTag cause) {
  if (per_communicator_) {
    if (last) free(lanes_[op.key.communicator.index()], cause);
  } else if (op.starts_without(member)) {
    return;
  } else if (!op.communicator->point_to_point || member == 0) {
    free(lanes_[op.rank(member).index()], cause);
  }
}

// The operation has started and keeps its key, so that it stands in the queue where it stood before.
void Lanes::yield(OpId id, const Operation& op) {
  const Ready ready = key(id, op);
  each_lane(op, [&](Lane& lane) {
    free(lane, lane.freed);
    insert(lane.waiting, ready);
  });
}

// Starting candidates may free lanes and name further candidates, which are for the next call.
const std::vector<Lanes::Ready>& Lanes::candidates() {
  offered_.clear();
  std::swap(offered_, candidates_);
  std::sort(offered_.begin(), offered_.end());
  offered_.erase(std::unique(offered_.begin(), offered_.end()), offered_.end());
  return offered_;
}

}  // namespace photonrail::execution
