#include "collective/written_plan.hpp"

#include <utility>
#include <vector>

namespace photonrail::collective {

namespace {

constexpr SendIndex kMaxWrittenSends = 1U << 16;  // some 4 MB

class WrittenPlan final : public SendPlan {
 public:
  explicit WrittenPlan(std::unique_ptr<const SendPlan> plan)
      : plan_(std::move(plan)), members_(plan_->members()), initial_(plan_->initial_sends()), waits_(plan_->most_waits()) {
    const SendIndex sends = plan_->send_count();
    sends_.reserve(sends);
    first_released_.reserve(sends + std::size_t{1});
    for (SendIndex i = 0; i < sends; ++i) {
      sends_.push_back(plan_->send(i));
      if (waits_ > 1) waits_for_.push_back(plan_->waits_for(i));
      plan_->released_by(i, released_);
      first_released_.push_back(released_.size());
    }
    for (std::uint32_t round = 0; round < plan_->rounds(); ++round) {
      pairs_.push_back(plan_->pairs(round));
      for (Member m = 0; m < members_; ++m) {
        ends_.emplace_back(plan_->sends_from(m, round), plan_->sends_to(m, round));
      }
    }
  }

  [[nodiscard]] Member members() const override { return members_; }
  [[nodiscard]] SendIndex send_count() const override { return static_cast<SendIndex>(sends_.size()); }
  [[nodiscard]] SendIndex initial_sends() const override { return initial_; }
  [[nodiscard]] Send send(SendIndex i) const override { return sends_[i]; }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override { plan_->data(i, out); }
  [[nodiscard]] LocalStep step(SendIndex i) const override { return plan_->step(i); }
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override {
    return waits_ > 1 ? waits_for_[i] : plan_->waits_for(i);
  }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    for (std::size_t at = first_released_[arrived]; at < first_released_[arrived + std::size_t{1}]; ++at)
      out.push_back(released_[at]);
  }
  [[nodiscard]] std::uint32_t rounds() const override { return static_cast<std::uint32_t>(pairs_.size()); }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override { return pairs_[round]; }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const override {
    return ends_[std::size_t{round} * members_ + member].first;
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    return ends_[std::size_t{round} * members_ + member].second;
  }
  [[nodiscard]] std::uint32_t most_waits() const override { return waits_; }
  [[nodiscard]] std::uint32_t chunk_count() const override { return plan_->chunk_count(); }
  [[nodiscard]] bool starts_without(Member member) const override { return plan_->starts_without(member); }
  [[nodiscard]] Bytes wire_bytes() const override { return plan_->wire_bytes(); }
  [[nodiscard]] std::uint32_t critical_sends() const override { return plan_->critical_sends(); }
  [[nodiscard]] std::unique_ptr<const SendPlan> stream() const override { return plan_->stream(); }
  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override { return plan_->folded(period); }

 private:
  std::unique_ptr<const SendPlan> plan_;
  Member members_;
  SendIndex initial_;
  std::uint32_t waits_;
  std::vector<Send> sends_;
  std::vector<std::uint32_t> waits_for_;
  std::vector<SendIndex> released_;
  std::vector<std::size_t> first_released_{0};
  std::vector<std::vector<MemberPair>> pairs_;                 // by round
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;  // by round and member: sends from it, and to it
};

}  // namespace

std::unique_ptr<const SendPlan> written_out(std::unique_ptr<const SendPlan> plan) {
  if (plan->rounds() < 2 || plan->send_count() > kMaxWrittenSends) return plan;
  return std::make_unique<WrittenPlan>(std::move(plan));
}

}  // namespace photonrail::collective
