#include "control/waiting.hpp"

#include <algorithm>

namespace photonrail::control {

std::vector<WaitingPair> waiting_pairs(const FabricView& view, const Places& places) {
  std::vector<WaitingPair> all;
  for (const CircuitRequest& demand : view.requests) {
    if (!demand.blocking) continue;
    for (std::size_t p = 0; p < demand.pairs.size(); ++p) {
      if (!places.has(demand.pairs[p])) continue;
      all.push_back({demand.pairs[p], p < demand.bytes.size() ? demand.bytes[p] : Bytes{}, demand.complete});
    }
  }
  std::sort(all.begin(), all.end(),
            [&](const WaitingPair& a, const WaitingPair& b) { return places.places(a.pair) < places.places(b.pair); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].pair == all[kept].pair) {
      all[kept].bytes.count += all[i].bytes.count;
      all[kept].since = std::min(all[kept].since, all[i].since);
    } else {
      all[++kept] = all[i];
    }
  }
  all.resize(std::min(all.size(), kept + 1));
  return all;
}

}  // namespace photonrail::control
