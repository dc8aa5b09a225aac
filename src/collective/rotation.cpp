#include "collective/rotation.hpp"

#include <algorithm>

namespace photonrail::collective {

Rotation::Rotation(const SendPlan& plan) : members_(plan.members()), by_sender_(plan.members()) {
  const SendIndex sends = plan.send_count();
  if (sends == 0 || sends % members_ != 0) return;
  for (Member m = 0; m < members_; ++m) {
    if (plan.starts_without(m)) return;
  }
  for (SendIndex i = 0; i < sends; ++i) {
    const Send send = plan.send(i);
    if (send.from == send.to) return;
    sender_.push_back(send.from);
    ordinal_.push_back(static_cast<std::uint32_t>(by_sender_[send.from].size()));
    by_sender_[send.from].push_back(i);
  }
  unchanged_ = same_for_all(plan);
}

bool Rotation::same_for_all(const SendPlan& plan) const {
  const std::vector<SendIndex>& first = by_sender_.front();
  for (const std::vector<SendIndex>& sends : by_sender_) {
    if (sends.size() != first.size()) return false;
  }
  for (std::size_t k = 0; k < first.size(); ++k) {
    const std::vector<Released> wanted = released(plan, first[k]);
    for (Member m = 1; m < members_; ++m) {
      const SendIndex other = by_sender_[m][k];
      if (!same(plan, first[k], other) || released(plan, other) != wanted) return false;
    }
  }
  return true;
}

bool Rotation::same(const SendPlan& plan, SendIndex a, SendIndex b) const {
  const Send x = plan.send(a);
  const Send y = plan.send(b);
  return (x.to + y.from) % members_ == (y.to + x.from) % members_ && x.bytes == y.bytes && x.round == y.round &&
         x.reduce == y.reduce && plan.waits_for(a) == plan.waits_for(b);
}

std::vector<Rotation::Released> Rotation::released(const SendPlan& plan, SendIndex i) const {
  std::vector<SendIndex> sends;
  plan.released_by(i, sends);
  std::vector<Released> relative;
  for (const SendIndex j : sends) relative.push_back({(sender_[j] + members_ - sender_[i]) % members_, ordinal_[j]});
  std::sort(relative.begin(), relative.end());
  return relative;
}

}  // namespace photonrail::collective
