// One training rank, member 0, collects the weights piece by piece and passes each on to every rank that needs it. Its NIC
// carries one copy of the model inwards and one for each engine outwards: what goes to another server enters it on the
// root's rail, and goes on inside the server.
#include "collective/refit/writers.hpp"

namespace photonrail::collective {

namespace {

constexpr Member kFunnelRoot = 0;

/// The holder that is nearest to the root: in its server, else on its rail, else the first.
Member nearest_holder(const WeightShard& shard, const RefitPlaces& places) {
  Member best = shard.holders.front();
  const auto rank = [&](Member m) {
    if (m == kFunnelRoot) return 0;
    if (places.server(m) == places.server(kFunnelRoot)) return 1;
    return places.rail(m) == places.rail(kFunnelRoot) ? 2 : 3;
  };
  for (const Member m : shard.holders) best = rank(m) < rank(best) ? m : best;
  return best;
}

}  // namespace

RefitPlan plan_funnel(std::vector<WeightShard> shards, const RefitPlaces& places, Bytes piece) {
  RefitPlan refit;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const std::uint64_t pieces = pieces_of(shards[s].bytes, piece);
    for (std::uint64_t p = 0; p < pieces; ++p) refit.chunks.push_back({share(shards[s].bytes, pieces, p), s});
  }
  const auto members = static_cast<Member>([&] {
    std::size_t count = 0;
    for (const auto& server : places.servers()) count += server.size();
    return count;
  }());
  SendPlanBuilder plan(members, static_cast<std::uint32_t>(refit.chunks.size()));
  for (std::uint32_t c = 0; c < refit.chunks.size(); ++c) {
    const WeightShard& shard = shards[refit.chunks[c].shard];
    const auto send = [&](Member from, Member to, const std::vector<SendIndex>& after) {
      return plan.add({.from = from, .to = to, .bytes = refit.chunks[c].bytes, .first_chunk = c}, after);
    };
    const Member source = nearest_holder(shard, places);
    std::vector<SendIndex> here;
    if (source != kFunnelRoot) here.push_back(send(source, kFunnelRoot, {}));
    for (const Member needer : shard.needers) {
      if (needer == kFunnelRoot || holds(shard, needer)) continue;
      const std::uint32_t server = places.server(needer);
      const Member door = server == places.server(kFunnelRoot) ? needer : places.at(server, places.rail(kFunnelRoot));
      const SendIndex arrived = send(kFunnelRoot, door, here);
      if (door != needer) send(door, needer, {arrived});
    }
  }
  refit.plan = std::move(plan).build();
  refit.shards = std::move(shards);
  return refit;
}

}  // namespace photonrail::collective
