#include "collective/matched_rounds.hpp"

#include <algorithm>

namespace photonrail::collective {

void MatchedRounds::add(const Send& send) {
  std::vector<SendIndex> after = last_[send.from];
  after.insert(after.end(), last_[send.to].begin(), last_[send.to].end());
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  const SendIndex i = builder_.add(send, after);
  for (const Member member : {send.from, send.to}) {
    now_[member].push_back(i);
    active_.push_back(member);
  }
}

void MatchedRounds::end_round() {
  for (const Member member : active_) {
    if (now_[member].empty()) continue;
    last_[member] = std::move(now_[member]);
    now_[member].clear();
  }
  active_.clear();
}

}  // namespace photonrail::collective
