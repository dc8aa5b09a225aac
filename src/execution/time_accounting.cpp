#include "execution/time_accounting.hpp"

#include "core/checked.hpp"
#include "execution/mean.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace photonrail::execution {

using core::checked_product;
using core::checked_sum;

namespace {

// An interval that goes on is one with the part of it that was settled before.
void add_interval(std::vector<std::pair<Time, Time>>& log, Time from, Time until) {
  if (!log.empty() && log.back().second == from) {
    log.back().second = until;
  } else {
    log.emplace_back(from, until);
  }
}

std::size_t lowest(std::uint32_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }

}  // namespace

// Windows of equal length are one entry: a job that repeats its step has few lengths.
void merge_equal(std::vector<WindowCount>& windows) {
  if (windows.empty()) return;
  std::sort(windows.begin(), windows.end(), [](const WindowCount& a, const WindowCount& b) { return a.length < b.length; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].length == windows[kept].length) {
      windows[kept].count += windows[i].count;
    } else {
      windows[++kept] = windows[i];
    }
  }
  windows.resize(kept + 1);
  windows.shrink_to_fit();
}

TimeAccounting::TimeAccounting(std::size_t ranks, std::span<const std::uint32_t> class_of_rank, std::size_t uncounted,
                               PeerWaitLog* peer_waits)
    : clocks_(ranks),
      class_of_rank_(class_of_rank),
      copies_(ranks, class_of_rank.empty() ? 1 : 0),
      uncounted_(uncounted),
      peer_waits_(peer_waits) {
  if (peer_waits_ != nullptr) peer_waits_->resize(ranks);
  for (const std::uint32_t c : class_of_rank) ++copies_[c];
}

// ---- the clocks of ranks, and of groups that run as one

bool TimeAccounting::Clock::does_as(const Clock& other) const {
  if (computing != other.computing || blind != other.blind) return false;
  if (running_in != other.running_in || waiting_in != other.waiting_in) return false;
  for (std::uint32_t in = std::uint32_t{running_in} | waiting_in; in != 0; in &= in - 1) {
    const Activity& own = activities[lowest(in)];
    const Activity& of_other = other.activities[lowest(in)];
    if (own.running != of_other.running || own.waiting != of_other.waiting) return false;
  }
  return true;
}

void TimeAccounting::Clock::do_as(const Clock& other) {
  last = other.last;
  computing = other.computing;
  blind = other.blind;
  running_in = other.running_in;
  waiting_in = other.waiting_in;
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    activities[d].running = other.activities[d].running;
    activities[d].waiting = other.activities[d].waiting;
  }
}

void TimeAccounting::Clock::add_times_of(const Clock& other) {
  time.compute += other.time.compute;
  time.exposed_communication += other.time.exposed_communication;
  time.reconfiguration_wait += other.time.reconfiguration_wait;
  time.peer_wait += other.time.peer_wait;
  time.detection += other.time.detection;
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    activities[d].busy += other.activities[d].busy;
    activities[d].exposed += other.activities[d].exposed;
    activities[d].waited += other.activities[d].waited;
  }
}

TimeAccounting::Clock* TimeAccounting::clock_of(const LockstepGroup& group, Time now) {
  if (clocks_[group.first.index()].group == kAlone && !join(group, now)) return nullptr;
  return &pass(group_clocks_[group.index].clock, now);
}

// Ranks that do the same from now on are accounted for by one clock. They may have done different things before: each keeps
// its own sums, to which those of the common clock are added when the group parts.
bool TimeAccounting::join(const LockstepGroup& group, Time now) {
  const Clock& first = settle(group.first, now);
  for (std::uint32_t m = 1; m < group.size; ++m) {
    if (!clocks_[group.rank(m).index()].does_as(first)) return false;
  }
  for (std::uint32_t m = 1; m < group.size; ++m) settle(group.rank(m), now);
  if (group_clocks_.size() <= group.index) group_clocks_.resize(group.index + 1);
  group_clocks_[group.index] = {Clock{}, group};
  group_clocks_[group.index].clock.do_as(first);
  group_clocks_[group.index].clock.last = now;
  for (std::uint32_t m = 0; m < group.size; ++m) clocks_[group.rank(m).index()].group = group.index;
  return true;
}

void TimeAccounting::part(GroupClock& group, Time now) {
  pass(group.clock, now);
  for (std::uint32_t m = 0; m < group.group.size; ++m) {
    Clock& clock = clocks_[group.group.rank(m).index()];
    clock.add_times_of(group.clock);
    clock.do_as(group.clock);
    clock.last = now;
    clock.group = kAlone;
  }
}

TimeAccounting::Clock& TimeAccounting::settle(RankId rank, Time now) {
  Clock& clock = clocks_[rank.index()];
  if (clock.group != kAlone) part(group_clocks_[clock.group], now);
  // The same condition as that of the last use in pass(): intervals must add up to the wait for peers.
  const bool waited = clock.last != now && clock.computing == 0 && clock.running_in == 0 && clock.waiting_in == 0;
  if (peer_waits_ != nullptr && waited) [[unlikely]]
    add_interval((*peer_waits_)[rank.index()], clock.last, now);
  return pass(clock, now);
}

// Every picosecond goes to exactly one use, by rank of the uses: computation hides everything, then waiting for a fault to
// be noticed, communication, circuits, and what is left is waiting for peers. The parts of a rank add up to the makespan.
// Gives the time since the last change to what was done in it.
TimeAccounting::Clock& TimeAccounting::pass(Clock& clock, Time now) {
  const Duration passed = now - clock.last;
  if (passed == Duration{0}) return clock;
  clock.last = now;
  for (std::uint32_t in = clock.running_in; in != 0; in &= in - 1) clock.activities[lowest(in)].busy += passed;
  if (clock.computing > 0) {
    clock.time.compute += passed;
  } else if (clock.running_in != 0 && clock.blind > 0) {
    clock.time.detection += passed;
  } else if (clock.running_in != 0) {
    clock.time.exposed_communication += passed;
    // The innermost dimension: the one that the rank's next computation waits for.
    clock.activities[lowest(clock.running_in)].exposed += passed;
  } else if (clock.waiting_in != 0) {
    clock.time.reconfiguration_wait += passed;
    clock.activities[lowest(clock.waiting_in)].waited += passed;
  } else {
    clock.time.peer_wait += passed;
  }
  return clock;
}

void TimeAccounting::waiting_began(RankId rank, Dimension d, Time now) {
  Clock& clock = settle(rank, now);
  clock.waiting_in = static_cast<std::uint16_t>(clock.waiting_in | bit(d));
  if (clock.at(d).waiting++ == 0) clock.waiting_since[static_cast<std::size_t>(d)] = now;
}

void TimeAccounting::waiting_ended(RankId rank, Dimension d, Time now) {
  Clock& clock = settle(rank, now);
  if (--clock.at(d).waiting > 0) return;
  clock.waiting_in = static_cast<std::uint16_t>(clock.waiting_in & ~bit(d));
  const Time since = clock.waiting_since[static_cast<std::size_t>(d)];
  if (now == since) return;
  circuit_waits_[d].add(now - since, static_cast<std::uint64_t>(copies_[rank.index()]));
}

// A window is the time between the end of a rank's last operation of one dimension on its rail and the first of another:
// what a re-pointing at the boundary of phases may take unseen (arXiv 2602.12521). Overlapping operations leave
// none.
void TimeAccounting::rail_ready(RankId rank, Dimension d, Time now) {
  Clock& clock = clocks_[rank.index()];
  if (clock.rail_used && clock.rail_dimension != d) {
    // Operations that overlap leave nothing between them, which counts as a window of 0.
    const Duration window = clock.rail_operations > 0 ? Duration{0} : now - clock.rail_end;
    windows_[static_cast<std::size_t>(clock.rail_dimension)][static_cast<std::size_t>(d)].add(
        window, static_cast<std::uint64_t>(copies_[rank.index()]));
  }
  clock.rail_used = true;
  clock.rail_dimension = d;
  ++clock.rail_operations;
}

void TimeAccounting::rail_ended(RankId rank, Dimension, Time now) {
  Clock& clock = clocks_[rank.index()];
  --clock.rail_operations;
  clock.rail_end = now;
}

void TimeAccounting::traffic(Dimension d, Bytes wire_bytes, std::uint64_t copies, Bytes rail_bytes) {
  DimensionTraffic& traffic = traffic_[static_cast<std::size_t>(d)];
  const Bytes all = checked_product(wire_bytes, copies);
  all_bytes_ = checked_sum(all_bytes_, all);
  traffic.bytes += all;
  traffic.operations += copies;
  rail_bytes_ += checked_product(rail_bytes, copies);  // at most all of them, which fit
}

Accounts TimeAccounting::finish(Time makespan) {
  Accounts accounts;
  accounts.traffic = traffic_;
  accounts.operation_times = operation_times_;
  accounts.circuit_waits = circuit_waits_;
  accounts.rail_bytes = rail_bytes_;
  for (std::size_t r = 0; r < clocks_.size(); ++r) settle(RankId{r}, makespan);
  const std::size_t ranks = (class_of_rank_.empty() ? clocks_.size() : class_of_rank_.size()) - uncounted_;
  accounts.ranks.reserve(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    accounts.ranks.push_back(clocks_[class_of_rank_.empty() ? r : class_of_rank_[r]].time.rank_time());
  }
  count_windows(accounts);
  if (ranks > 0) mean_traffic(ranks, accounts);
  return accounts;
}

void TrafficMeans::report(DimensionTraffic& traffic) const {
  traffic.busy = busy.value();
  traffic.exposed = exposed.value();
  traffic.reconfiguration_wait = waited.value();
}

void TimeAccounting::WindowTally::add(Duration length, std::uint64_t count) {
  counts.push_back({length, count});
  if (counts.size() < merge_at) return;
  merge_equal(counts);
  merge_at = std::max(merge_at, 2 * counts.size());
}

void TimeAccounting::count_windows(Accounts& accounts) {
  for (std::size_t before = 0; before < kDimensionCount; ++before) {
    for (std::size_t after = 0; after < kDimensionCount; ++after) {
      WindowTally& tally = windows_[before][after];
      if (tally.counts.empty()) continue;
      merge_equal(tally.counts);
      accounts.windows[{static_cast<Dimension>(before), static_cast<Dimension>(after)}] = std::move(tally.counts);
    }
  }
}

// Means are over all ranks: a class counts as often as it has ranks, but for those that have no accounts (hosts of
// storage).
void TimeAccounting::mean_traffic(std::size_t ranks, Accounts& accounts) const {
  std::vector<std::int64_t> counted = copies_;
  for (std::size_t r = ranks; r < ranks + uncounted_; ++r) --counted[class_of_rank_.empty() ? r : class_of_rank_[r]];
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    TrafficMeans& means = accounts.means[d] = {Mean(ranks), Mean(ranks), Mean(ranks)};
    for (std::size_t r = 0; r < clocks_.size(); ++r) {
      const Activity& activity = clocks_[r].activities[d];
      means.busy.add(activity.busy, counted[r]);
      means.exposed.add(activity.exposed, counted[r]);
      means.waited.add(activity.waited, counted[r]);
    }
    means.report(accounts.traffic[d]);
  }
}

}  // namespace photonrail::execution
