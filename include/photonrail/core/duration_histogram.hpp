// Quantiles of many lengths of time in little memory.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <vector>

namespace photonrail {

/// Lengths of time, counted in buckets of 1/64 of their length at most: quantiles are up to 1.6 % too long, the least and
/// the greatest exact (the idea of DDSketch, Masson et al., VLDB 2019, with integers only).
class DurationHistogram {
 public:
  /// REQUIRES: not negative.
  void add(Duration length, std::uint64_t copies = 1);
  void merge(const DurationHistogram& other);
  /// Adds what was added since it was `before`, so many times.
  void add_growth(const DurationHistogram& before, std::uint64_t times);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The length that the share `p` of all lengths, from 0 to 1, does not exceed. REQUIRES: count() > 0.
  [[nodiscard]] Duration quantile(double p) const;

  friend bool operator==(const DurationHistogram&, const DurationHistogram&) = default;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  Duration least_{};
  Duration greatest_{};
};

}  // namespace photonrail
