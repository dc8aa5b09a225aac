#include "photonrail/result.hpp"

#include "execution/mean.hpp"
#include "run/rl_steps.hpp"

#include <algorithm>
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
  return {mean(ranks, &RankTime::compute),
          mean(ranks, &RankTime::exposed_communication),
          mean(ranks, &RankTime::reconfiguration_wait),
          mean(ranks, &RankTime::peer_wait),
          mean(ranks, &RankTime::detection),
          mean(ranks, &RankTime::idle)};
}

std::optional<Duration> RunResult::steady_iteration() const {
  if (iterations.size() < 2) return std::nullopt;
  Duration sum{};
  for (std::size_t i = 1; i < iterations.size(); ++i) sum += iterations[i];
  return sum / static_cast<std::int64_t>(iterations.size() - 1);
}

Duration RunResult::step_time() const {
  if (rl && !rl->steps.empty()) {
    Duration sum{};
    for (const RlStep& step : run::middle_steps(*rl)) sum += step.step;
    return sum / static_cast<std::int64_t>(run::middle_steps(*rl).size());
  }
  return steady_iteration().value_or(iterations.empty() ? makespan : iterations.front());
}

namespace {

// Returns the time of the step that stands for the run, in seconds.
double step_seconds(const RunResult& result) {
  if (result.iterations.empty()) return 0.0;
  return to_seconds(result.steady_iteration().value_or(result.iterations.front()));
}

}  // namespace

std::optional<double> RunResult::tokens_per_s() const {
  const double step = step_seconds(*this);
  if (!work || step <= 0.0) return std::nullopt;
  return work->tokens / step;
}

std::optional<double> RunResult::mfu() const {
  const double step = step_seconds(*this);
  if (!work || step <= 0.0 || peak_tflops <= 0.0) return std::nullopt;
  return work->flops / (step * peak_tflops * 1e12);
}

std::optional<double> RunResult::peak_memory_bytes() const {
  std::optional<double> most;
  for (const StageMemory& stage : memory) most = std::max(most.value_or(0.0), stage.total());
  for (const RunResult& job : jobs) {
    if (const auto of_job = job.peak_memory_bytes()) most = std::max(most.value_or(0.0), *of_job);
  }
  return most;
}

double RunResult::slowdown() const {
  if (!alone || *alone == Duration::zero()) return 1.0;
  return static_cast<double>(makespan.count()) / static_cast<double>(alone->count());
}

std::optional<double> ReconfigurationSummary::hidden_share() const {
  if (total == LongTime{}) return std::nullopt;
  return 1.0 - exposed.picoseconds() / total.picoseconds();
}

}  // namespace photonrail
