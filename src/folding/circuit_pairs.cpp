#include "folding/circuit_pairs.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace photonrail::folding {

const std::vector<MemberPair>& CircuitPairs::of(CommunicatorId c) {
  const auto [entry, fresh] = of_type_.try_emplace(classes_.groups()[c.index()].type);
  if (!fresh) return entry->second;
  std::set<MemberPair> all;
  for (const CollectiveCall& call : calls_.calls(c)) {
    const std::unique_ptr<const SendPlan> plan = layouts_.expand(call, c);
    for (std::uint32_t round = 0; round < plan->rounds(); ++round) {
      const std::vector<MemberPair> pairs = plan->pairs(round);
      check_matching(c, pairs);
      all.insert(pairs.begin(), pairs.end());
    }
  }
  entry->second.assign(all.begin(), all.end());
  return entry->second;
}

void CircuitPairs::check_matching(CommunicatorId c, const std::vector<MemberPair>& pairs) {
  const std::span<const RankId> members = job_.graph.communicators()[c.index()].members;
  std::vector<std::pair<RankId, RankId>> ends;
  for (const auto& [from, to] : pairs) {
    const RankId sender = layouts_.sender(members[from], members[to]);
    if (sender != members[to]) ends.emplace_back(sender, members[to]);
  }
  const auto matches = [&ends] {
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    const auto twice = [](const auto& a, const auto& b) { return a.first == b.first; };
    return std::adjacent_find(ends.begin(), ends.end(), twice) == ends.end();
  };
  bool matching = matches();
  for (auto& [from, to] : ends) std::swap(from, to);
  matching = matches() && matching;
  if (!matching) problem_ = "an operation wants circuits from one GPU to several at once";
}

}  // namespace photonrail::folding
