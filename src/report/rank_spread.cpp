#include "report/rank_spread.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace photonrail::report {

using json::Json;

bool has_detection(const RunResult& result) {
  return std::any_of(result.ranks.begin(), result.ranks.end(),
                     [](const RankTime& rank) { return rank.detection > Duration{}; });
}

bool has_idle(const RunResult& result) {
  return std::any_of(result.ranks.begin(), result.ranks.end(), [](const RankTime& rank) { return rank.idle > Duration{}; });
}

Json rank_spread_json(const RunResult& result) {
  Json spread = Json::object();
  if (result.ranks.empty()) return spread;
  constexpr std::array<std::pair<const char*, Duration RankTime::*>, 6> kParts{
      {{"compute", &RankTime::compute},
       {"exposed_communication", &RankTime::exposed_communication},
       {"reconfiguration_wait", &RankTime::reconfiguration_wait},
       {"peer_wait", &RankTime::peer_wait},
       {"detection", &RankTime::detection},
       {"idle", &RankTime::idle}}};
  const bool detection = has_detection(result);
  const bool idle = has_idle(result);
  for (const auto& [name, part] : kParts) {
    if (part == &RankTime::detection && !detection) continue;
    if (part == &RankTime::idle && !idle) continue;
    std::vector<Duration> times;
    times.reserve(result.ranks.size());
    for (const RankTime& rank : result.ranks) times.push_back(rank.*part);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::nth_element(times.begin(), middle, times.end());
    spread[name] = {{"least", to_seconds(*std::min_element(times.begin(), middle + 1))},
                    {"median", to_seconds(*middle)},
                    {"most", to_seconds(*std::max_element(middle, times.end()))}};
  }
  return spread;
}

}  // namespace photonrail::report
