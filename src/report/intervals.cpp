#include "report/intervals.hpp"

#include <algorithm>

namespace photonrail::report {

void Intervals::add(Time from, Time to) {
  if (from == to) return;
  while (!list_.empty() && list_.back().to >= from) {
    from = std::min(from, list_.back().from);
    list_.pop_back();
  }
  list_.push_back({from, to});
}

Duration Intervals::length(Time from, Time to) const {
  auto at = std::partition_point(list_.begin(), list_.end(), [&](const Interval& i) { return i.to <= from; });
  Duration sum{};
  for (; at != list_.end() && at->from < to; ++at) sum += std::min(at->to, to) - std::max(at->from, from);
  return sum;
}

Duration length(const Intervals& set) {
  Duration sum{};
  for (const Interval& i : set.list()) sum += i.to - i.from;
  return sum;
}

Duration overlap(const Intervals& a, const Intervals& b) {
  Duration sum{};
  auto other = b.list().begin();
  for (const Interval& i : a.list()) {
    while (other != b.list().end() && other->to <= i.from) ++other;
    for (auto at = other; at != b.list().end() && at->from < i.to; ++at) {
      sum += std::min(at->to, i.to) - std::max(at->from, i.from);
    }
  }
  return sum;
}

}  // namespace photonrail::report
