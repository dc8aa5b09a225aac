#include "collective/shifts.hpp"

namespace photonrail::collective {

namespace {

/// Some members of an all-to-all whose sends are all equal, in one round or in a round for each shift.
class FoldedShiftsPlan final : public UniformPlan {
 public:
  FoldedShiftsPlan(const PlanTotals& totals, Member everybody, Bytes part)
      : UniformPlan(totals), everybody_(everybody), part_(part) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Member from = i % members();
    const std::uint32_t shift = i / members() + 1;
    return {.from = from, .to = receiver(from, shift), .bytes = part_, .round = rounds() > 1 ? shift - 1 : 0};
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t sender_next = std::uint64_t{arrived} + members();
    if (totals_.waits == 0 || sender_next >= totals_.sends) return;
    const Member from = arrived % members();
    const Member to = receiver(from, arrived / members() + 1) % members();
    out.push_back(static_cast<SendIndex>(sender_next));
    out.push_back(static_cast<SendIndex>(sender_next - from + to));
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> all;
    const bool one_round = rounds() == 1;
    for (Member m = 0; m < members(); ++m) {
      if (!one_round) all.emplace_back(m, receiver(m, round + 1));
      for (Member to = 0; one_round && to < everybody_; ++to) {
        if (to != m) all.emplace_back(m, to);
      }
    }
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return (everybody_ - 1) / rounds();
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override {
    return (everybody_ - 1) / rounds();
  }

 private:
  [[nodiscard]] Member receiver(Member from, std::uint32_t shift) const { return (from + shift) % everybody_; }

  Member everybody_;
  Bytes part_;
};

}  // namespace

std::unique_ptr<const SendPlan> Shifts::folded(PlanTotals totals, Member period) const {
  if (size_.count % n_ != 0) return nullptr;  // some members get a byte more
  const Member fold = n_ / period;
  totals.members = period;
  totals.sends /= fold;
  totals.initial /= fold;
  totals.wire = Bytes{totals.wire.count / fold};
  return std::make_unique<FoldedShiftsPlan>(totals, n_, Bytes{size_.count / n_});
}

}  // namespace photonrail::collective
