#include "photonrail/result.hpp"

#include "execution/mean.hpp"

#include <span>

namespace photonrail {

namespace {

Duration mean(std::span<const RankTime> ranks, Duration RankTime::*part) {
  execution::Mean mean(ranks.size());
  for (const RankTime& rank : ranks) mean.add(rank.*part);
  return mean.value();
}

}  // namespace

RankTime RunResult::mean_rank_time() const {
  if (ranks.empty()) return {};
  return {mean(ranks, &RankTime::compute), mean(ranks, &RankTime::exposed_communication),
          mean(ranks, &RankTime::reconfiguration_wait), mean(ranks, &RankTime::peer_wait)};
}

std::optional<Duration> RunResult::steady_iteration() const {
  if (iterations.size() < 2) return std::nullopt;
  Duration sum{};
  for (std::size_t i = 1; i < iterations.size(); ++i) sum += iterations[i];
  return sum / static_cast<std::int64_t>(iterations.size() - 1);
}

Duration RunResult::step_time() const {
  return steady_iteration().value_or(iterations.empty() ? makespan : iterations.front());
}

double RunResult::slowdown() const {
  if (!alone || *alone == Duration::zero()) return 1.0;
  return static_cast<double>(makespan.count()) / static_cast<double>(alone->count());
}

std::optional<double> ReconfigurationSummary::hidden_share() const {
  if (total == TotalTime{}) return std::nullopt;
  return 1.0 - exposed.picoseconds() / total.picoseconds();
}

}  // namespace photonrail
