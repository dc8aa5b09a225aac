// Every engine rank takes each of its shards once, from the holder whose NIC has least to send so far. A message to another
// server leaves through the NIC on the receiver's rail, whichever rank of the server holds the weights.
#include "collective/refit/writers.hpp"
#include "collective/steps.hpp"

#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace photonrail::collective {

namespace {

using NicKey = std::pair<std::uint32_t, std::uint32_t>;  // server, rail

struct ShardedPair {
  Member from = 0;
  Member to = 0;
  Bytes bytes{};
  std::vector<ChunkRun> runs;
  std::uint32_t round = 0;
};

/// Shards by the pair that exchanges them, larger shards first.
std::map<MemberPair, std::vector<std::size_t>> choose_holders(const std::vector<WeightShard>& shards,
                                                              const RefitPlaces& places) {
  std::vector<std::size_t> order(shards.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shards[a].bytes > shards[b].bytes; });
  std::map<NicKey, std::int64_t> sent;
  std::map<MemberPair, std::vector<std::size_t>> chosen;
  for (const std::size_t s : order) {
    for (const Member to : shards[s].needers) {
      if (holds(shards[s], to)) continue;
      const auto load = [&](Member from) {
        const bool near = places.server(from) == places.server(to);
        const std::int64_t queued = near ? -1 : sent[{places.server(from), places.rail(to)}];
        return std::tuple{queued, places.rail(from) != places.rail(to), from};
      };
      const Member from = *std::min_element(shards[s].holders.begin(), shards[s].holders.end(),
                                            [&](Member a, Member b) { return load(a) < load(b); });
      if (places.server(from) != places.server(to)) sent[{places.server(from), places.rail(to)}] += shards[s].bytes.count;
      chosen[{from, to}].push_back(s);
    }
  }
  return chosen;
}

// The first round in which both NICs are free, larger messages first.
void number_rounds(std::vector<ShardedPair>& pairs, const RefitPlaces& places) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> used;
  for (ShardedPair& pair : pairs) {
    if (places.server(pair.from) == places.server(pair.to)) continue;
    auto& transmit = used[{true, places.server(pair.from), places.rail(pair.to)}];
    auto& receive = used[{false, places.server(pair.to), places.rail(pair.to)}];
    while (transmit.contains(pair.round) || receive.contains(pair.round)) ++pair.round;
    transmit.insert(pair.round);
    receive.insert(pair.round);
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.round < b.round; });
}

}  // namespace

RefitPlan plan_sharded(std::vector<WeightShard> shards, const RefitPlaces& places, bool matchings) {
  RefitPlan refit;
  for (std::size_t s = 0; s < shards.size(); ++s) refit.chunks.push_back({shards[s].bytes, s});
  std::vector<ShardedPair> pairs;
  for (auto& [members, chosen] : choose_holders(shards, places)) {
    ShardedPair& pair = pairs.emplace_back();
    pair.from = members.first;
    pair.to = members.second;
    std::sort(chosen.begin(), chosen.end());
    for (const std::size_t s : chosen) {
      pair.bytes += shards[s].bytes;
      append_chunk(pair.runs, static_cast<std::uint32_t>(s));
    }
  }
  if (matchings) number_rounds(pairs, places);
  std::size_t members = 0;
  for (const auto& server : places.servers()) members += server.size();
  SendPlanBuilder plan(static_cast<Member>(members), static_cast<std::uint32_t>(shards.size()));
  for (const ShardedPair& pair : pairs) {
    const Send send{.from = pair.from,
                    .to = pair.to,
                    .bytes = pair.bytes,
                    .first_chunk = pair.runs[0].first,
                    .chunks = pair.runs[0].count,
                    .round = pair.round};
    plan.add(send, {}, {pair.runs.begin() + 1, pair.runs.end()});
  }
  refit.plan = std::move(plan).build();
  refit.shards = std::move(shards);
  return refit;
}

}  // namespace photonrail::collective
