// A set of instants as disjoint intervals.
#pragma once

#include "photonrail/units.hpp"

#include <vector>

namespace photonrail::report {

struct Interval {
  Time from{};
  Time to{};
};

/// Ascending and disjoint.
class Intervals {
 public:
  /// REQUIRES: `to` is not less than in any call before, and from <= to.
  void add(Time from, Time to);
  /// How much of [from, to) is in the set.
  [[nodiscard]] Duration length(Time from, Time to) const;
  [[nodiscard]] const std::vector<Interval>& list() const { return list_; }

 private:
  std::vector<Interval> list_;
};

[[nodiscard]] Duration length(const Intervals& set);
/// How long both hold.
[[nodiscard]] Duration overlap(const Intervals& a, const Intervals& b);

}  // namespace photonrail::report
