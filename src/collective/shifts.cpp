#include "collective/shifts.hpp"

namespace photonrail::collective {

namespace {

/// Some members of an all-to-all whose sends are all equal and leave at once.
class FoldedShiftsPlan final : public UniformPlan {
 public:
  FoldedShiftsPlan(const PlanTotals& totals, Member everybody, Bytes part)
      : UniformPlan(totals), everybody_(everybody), part_(part) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Member from = i % members();
    return {.from = from, .to = (from + i / members() + 1) % everybody_, .bytes = part_};
  }

  void released_by(SendIndex /*arrived*/, std::vector<SendIndex>& /*out*/) const override {}

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    for (Member m = 0; m < members(); ++m) {
      for (Member to = 0; to < everybody_; ++to) {
        if (to != m) all.emplace_back(m, to);
      }
    }
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return everybody_ - 1;
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override { return everybody_ - 1; }

 private:
  Member everybody_;
  Bytes part_;
};

}  // namespace

std::unique_ptr<const SendPlan> Shifts::folded(PlanTotals totals, Member period) const {
  if (size_.count % n_ != 0) return nullptr;  // some members get a byte more
  totals = totals.folded(period);
  return std::make_unique<FoldedShiftsPlan>(totals, n_, Bytes{size_.count / n_});
}

}  // namespace photonrail::collective
