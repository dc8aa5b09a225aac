#include "photonrail/result.hpp"

#include <span>

namespace photonrail {

namespace {

// Quotients and remainders apart: the sum over a million ranks would not fit into 64 bits.
Duration mean(std::span<const RankTime> ranks, Duration RankTime::*part) {
  const auto count = static_cast<std::int64_t>(ranks.size());
  std::int64_t whole = 0;
  std::int64_t rest = 0;
  for (const RankTime& rank : ranks) {
    whole += (rank.*part).count() / count;
    rest += (rank.*part).count() % count;
  }
  return Duration{whole + rest / count};
}

}  // namespace

RankTime RunResult::mean_rank_time() const {
  if (ranks.empty()) return {};
  return {mean(ranks, &RankTime::compute), mean(ranks, &RankTime::exposed_communication),
          mean(ranks, &RankTime::reconfiguration_wait), mean(ranks, &RankTime::peer_wait)};
}

double ReconfigurationSummary::hidden_share() const {
  if (total == Duration::zero()) return 1.0;
  return 1.0 - static_cast<double>(exposed.count()) / static_cast<double>(total.count());
}

}  // namespace photonrail
