#include "collective/rotation.hpp"

#include <algorithm>

namespace photonrail::collective {

Rotation::Rotation(const SendPlan& plan, Member shift)
    : members_(plan.members()), shift_(shift), by_sender_(plan.members()) {
  const SendIndex sends = plan.send_count();
  if (sends == 0 || sends % (members_ / shift) != 0) return;
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
  unchanged_ = true;
  for (Member m = 0; m < shift; ++m) unchanged_ = unchanged_ && same_for_all(plan, m);
}

bool Rotation::same_for_all(const SendPlan& plan, Member first) const {
  const std::vector<SendIndex>& sends = by_sender_[first];
  for (Member m = first + shift_; m < members_; m += shift_) {
    if (by_sender_[m].size() != sends.size()) return false;
  }
  for (std::size_t k = 0; k < sends.size(); ++k) {
    const std::vector<Released> wanted = released(plan, sends[k]);
    for (Member m = first + shift_; m < members_; m += shift_) {
      const SendIndex other = by_sender_[m][k];
      if (!same(plan, sends[k], other) || released(plan, other) != wanted) return false;
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
