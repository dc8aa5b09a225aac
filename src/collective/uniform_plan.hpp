// Plans that are formulas share this base: totals in closed form, and one number of arrivals that every send waits for
// which waits at all.
#pragma once

#include "photonrail/collective.hpp"

#include <cstdint>

namespace photonrail::collective {

/// Throws InternalError when `call` breaks what every algorithm requires of it.
void check_call(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);

/// `bytes` sent `times` over. Throws ConfigError when an int64 cannot hold it.
[[nodiscard]] Bytes multiply(Bytes bytes, std::uint64_t times);

/// `share` with the division done once.
class EvenSplit {
 public:
  EvenSplit(Bytes total, std::uint64_t parts)
      : base_(total.count / static_cast<std::int64_t>(parts)),
        larger_(static_cast<std::uint64_t>(total.count % static_cast<std::int64_t>(parts))) {}

  [[nodiscard]] Bytes operator[](std::uint64_t index) const { return {base_ + (index < larger_ ? 1 : 0)}; }

 private:
  std::int64_t base_;
  std::uint64_t larger_;  ///< how many parts have one byte more
};

struct PlanTotals {
  Member members = 2;
  std::uint64_t sends = 1;
  std::uint64_t initial = 1;
  std::uint32_t waits = 0;  ///< of each send that is not initial
  std::uint32_t rounds = 1;
  std::uint64_t chunks = 1;
  Bytes wire{};
  std::uint32_t critical = 1;

  /// The totals of the part of `period` members (SendPlan::folded), which has no numbers for chunks.
  [[nodiscard]] PlanTotals folded(Member period) const {
    const Member fold = members / period;
    PlanTotals part = *this;
    part.members = period;
    part.sends /= fold;
    part.initial /= fold;
    part.wire = Bytes{wire.count / fold};
    return part;
  }
};

class UniformPlan : public SendPlan {
 public:
  /// Throws ConfigError when the chunks or the initial sends outgrow 32 bits.
  explicit UniformPlan(const PlanTotals& totals);

  [[nodiscard]] Member members() const final { return totals_.members; }
  /// Throws ConfigError when there are 2^32 or more: the totals of such a plan are still good.
  [[nodiscard]] SendIndex send_count() const final;
  [[nodiscard]] SendIndex initial_sends() const final { return static_cast<SendIndex>(totals_.initial); }
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override { return i < totals_.initial ? 0 : totals_.waits; }
  [[nodiscard]] std::uint32_t rounds() const final { return totals_.rounds; }
  [[nodiscard]] std::uint32_t most_waits() const final { return totals_.sends > totals_.initial ? totals_.waits : 0; }
  [[nodiscard]] std::uint32_t chunk_count() const final { return static_cast<std::uint32_t>(totals_.chunks); }
  [[nodiscard]] Bytes wire_bytes() const final { return totals_.wire; }
  [[nodiscard]] std::uint32_t critical_sends() const final { return totals_.critical; }

 protected:
  PlanTotals totals_;
};

}  // namespace photonrail::collective
