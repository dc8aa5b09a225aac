#include "collective/merged_rounds.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace photonrail::collective {

namespace {

/// The circuits of some rounds, as servers on rails.
class RailCircuits {
 public:
  explicit RailCircuits(std::span<const MemberPlace> places) : places_(places) {}

  [[nodiscard]] bool empty() const { return receiver_.empty(); }

  /// False, with the circuits left in part, when some server would have two of them one way.
  [[nodiscard]] bool add(std::span<const MemberPair> pairs) {
    for (const auto& [from, to] : pairs) {
      const MemberPlace receiver = places_[to];
      if (places_[from].server == receiver.server) continue;
      const MemberPlace sender{places_[from].server, receiver.rail};  // a message changes rails inside its first server
      if (receiver_.try_emplace(sender, receiver).first->second != receiver) return false;
      if (sender_.try_emplace(receiver, sender).first->second != sender) return false;
    }
    return true;
  }

 private:
  std::span<const MemberPlace> places_;
  std::map<MemberPlace, MemberPlace> receiver_;
  std::map<MemberPlace, MemberPlace> sender_;
};

/// Round r stands for the rounds first_[r] .. first_[r + 1] - 1 of the plan.
class MergedRounds final : public SendPlan {
 public:
  MergedRounds(std::unique_ptr<const SendPlan> plan, std::vector<std::uint32_t> first)
      : plan_(std::move(plan)), first_(std::move(first)) {}

  [[nodiscard]] Member members() const override { return plan_->members(); }
  [[nodiscard]] SendIndex send_count() const override { return plan_->send_count(); }
  [[nodiscard]] SendIndex initial_sends() const override { return plan_->initial_sends(); }
  [[nodiscard]] Send send(SendIndex i) const override {
    Send send = plan_->send(i);
    const auto after = std::upper_bound(first_.begin(), first_.end(), send.round);
    send.round = static_cast<std::uint32_t>(after - first_.begin()) - 1;
    return send;
  }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override { plan_->data(i, out); }
  [[nodiscard]] LocalStep step(SendIndex i) const override { return plan_->step(i); }
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override { return plan_->waits_for(i); }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override { plan_->released_by(arrived, out); }

  [[nodiscard]] std::uint32_t rounds() const override { return static_cast<std::uint32_t>(first_.size()) - 1; }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> all;
    for (std::uint32_t r = first_[round]; r < first_[round + 1]; ++r) {
      const std::vector<MemberPair> of_round = plan_->pairs(r);
      all.insert(all.end(), of_round.begin(), of_round.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const override {
    std::uint32_t sum = 0;
    for (std::uint32_t r = first_[round]; r < first_[round + 1]; ++r) sum += plan_->sends_from(member, r);
    return sum;
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    std::uint32_t sum = 0;
    for (std::uint32_t r = first_[round]; r < first_[round + 1]; ++r) sum += plan_->sends_to(member, r);
    return sum;
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    std::unique_ptr<const SendPlan> part = plan_->folded(period);
    return part == nullptr ? nullptr : std::make_unique<MergedRounds>(std::move(part), first_);
  }

  [[nodiscard]] std::uint32_t most_waits() const override { return plan_->most_waits(); }
  [[nodiscard]] std::uint32_t chunk_count() const override { return plan_->chunk_count(); }
  [[nodiscard]] bool starts_without(Member member) const override { return plan_->starts_without(member); }
  [[nodiscard]] Bytes wire_bytes() const override { return plan_->wire_bytes(); }
  [[nodiscard]] std::uint32_t critical_sends() const override { return plan_->critical_sends(); }

 private:
  std::unique_ptr<const SendPlan> plan_;
  std::vector<std::uint32_t> first_;
};

}  // namespace

std::unique_ptr<const SendPlan> merge_rounds(std::unique_ptr<const SendPlan> plan, std::span<const MemberPlace> places) {
  const std::uint32_t rounds = plan->rounds();
  if (rounds < 2) return plan;
  PHOTONRAIL_CHECK(places.size() == plan->members());
  for (Member m = 0; m < plan->members(); ++m) {
    if (plan->starts_without(m)) return plan;  // its first rounds must not wait for the member
  }
  std::vector<std::uint32_t> first;
  RailCircuits lit(places);
  bool open = false;  // the last round may be merged with more
  for (std::uint32_t r = 0; r < rounds; ++r) {
    const std::vector<MemberPair> pairs = plan->pairs(r);
    RailCircuits own(places);
    const bool matching = own.add(pairs);
    if (open && matching && !own.empty()) {
      RailCircuits both = lit;
      if (both.add(pairs)) {
        lit = std::move(both);
        continue;
      }
    }
    first.push_back(r);
    open = matching && !own.empty();
    lit = std::move(own);
  }
  if (first.size() == rounds) return plan;
  first.push_back(rounds);
  return std::make_unique<MergedRounds>(std::move(plan), std::move(first));
}

}  // namespace photonrail::collective
