#include "collective/round_index.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::collective {

RoundIndex::RoundIndex(const SendList& sends, std::uint32_t rounds, Member members) {
  Member receivers = members;
  for (std::size_t i = 0; i < sends.size(); ++i) receivers = std::max(receivers, sends.to(i) + 1);
  std::vector<std::uint32_t> order;
  sort_by(order, sends.size(), receivers, [&](std::size_t i) { return sends.to(i); });
  sort_by(order, sends.size(), members, [&](std::size_t i) { return sends.from(i); });
  sort_by(order, sends.size(), rounds, [&](std::size_t i) { return sends.round(i); });
  first_pair_.assign(rounds + std::size_t{1}, 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint32_t i = order[k];
    const bool again = k > 0 && sends.round(order[k - 1]) == sends.round(i) && pairs_.back().from == sends.from(i) &&
                       pairs_.back().to == sends.to(i);
    if (!again) {
      pairs_.push_back({sends.from(i), sends.to(i), 0});
      ++first_pair_[sends.round(i) + std::size_t{1}];
    }
    ++pairs_.back().sends;
  }
  std::partial_sum(first_pair_.begin(), first_pair_.end(), first_pair_.begin());
  count_arrivals(members);
}

void RoundIndex::count_arrivals(Member members) {
  std::vector<std::uint32_t> of(members);
  std::vector<Member> met;
  first_arrivals_.push_back(0);
  for (std::size_t round = 0; round + 1 < first_pair_.size(); ++round) {
    for (std::uint32_t p = first_pair_[round]; p < first_pair_[round + 1]; ++p) {
      const Member to = pairs_[p].to % members;
      if (of[to] == 0) met.push_back(to);
      of[to] += pairs_[p].sends;
    }
    std::sort(met.begin(), met.end());
    for (const Member to : met) arrivals_.push_back({to, std::exchange(of[to], 0)});
    met.clear();
    first_arrivals_.push_back(static_cast<std::uint32_t>(arrivals_.size()));
  }
}

std::vector<MemberPair> RoundIndex::pairs(std::uint32_t round) const {
  std::vector<MemberPair> used;
  for (std::uint32_t p = first_pair_[round]; p < first_pair_[round + std::size_t{1}]; ++p) {
    if (pairs_[p].from != pairs_[p].to) used.emplace_back(pairs_[p].from, pairs_[p].to);
  }
  return used;
}

std::uint32_t RoundIndex::sends_from(Member member, std::uint32_t round) const {
  const auto end = pairs_.begin() + first_pair_[round + std::size_t{1}];
  auto at = std::lower_bound(pairs_.begin() + first_pair_[round], end, member,
                             [](const Pair& pair, Member m) { return pair.from < m; });
  std::uint32_t sum = 0;
  for (; at != end && at->from == member; ++at) sum += at->sends;
  return sum;
}

std::uint32_t RoundIndex::sends_to(Member member, std::uint32_t round) const {
  const auto end = arrivals_.begin() + first_arrivals_[round + std::size_t{1}];
  const auto at = std::lower_bound(arrivals_.begin() + first_arrivals_[round], end, member,
                                   [](const Arrivals& of, Member m) { return of.to < m; });
  return at != end && at->to == member ? at->sends : 0;
}

}  // namespace photonrail::collective
