#include "report/rl_report.hpp"

#include "photonrail/report.hpp"
#include "report/text.hpp"
#include "run/rl_steps.hpp"

#include <algorithm>

namespace photonrail::report {

namespace {

using json::Json;
using run::middle_steps;

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

template <class Of>
double mean_of(const RlResult& rl, Of of) {
  double sum = 0.0;
  for (const RlStep& step : middle_steps(rl)) sum += of(step);
  return sum / static_cast<double>(std::max<std::size_t>(1, middle_steps(rl).size()));
}

/// Returns means over the middle steps: plain numbers, so that sweeps have them in their table.
Json mean_json(const RlResult& rl) {
  const auto seconds = [&](Duration RlStep::*part) {
    return mean_of(rl, [&](const RlStep& s) { return to_seconds(s.*part); });
  };
  const double step = seconds(&RlStep::step);
  const double tokens = mean_of(rl, [](const RlStep& s) { return s.response_tokens; });
  return Json{{"step_s", step},
              {"generation_s", seconds(&RlStep::generation)},
              {"log_probabilities_s", seconds(&RlStep::log_probabilities)},
              {"training_s", seconds(&RlStep::training)},
              {"refit_s", seconds(&RlStep::refit)},
              {"offload_s", seconds(&RlStep::offload)},
              {"reload_s", seconds(&RlStep::reload)},
              {"tail_s", seconds(&RlStep::tail)},
              {"response_tokens_per_s_gpu", step > 0.0 ? tokens / step / rl.ranks : 0.0},
              {"slot_use", mean_of(rl, [](const RlStep& s) { return s.slot_use; })},
              {"staleness", mean_of(rl, [](const RlStep& s) { return s.staleness; })}};
}

}  // namespace

Json rl_json(const RlResult& rl) {
  Json steps = Json::array();
  for (const RlStep& step : rl.steps) {
    const double seconds = to_seconds(step.step);
    steps.push_back(Json{{"step_s", seconds},
                         {"generation_s", to_seconds(step.generation)},
                         {"log_probabilities_s", to_seconds(step.log_probabilities)},
                         {"training_s", to_seconds(step.training)},
                         {"refit_s", to_seconds(step.refit)},
                         {"offload_s", to_seconds(step.offload)},
                         {"reload_s", to_seconds(step.reload)},
                         {"response_tokens", step.response_tokens},
                         {"tokens_per_s_gpu", seconds > 0.0 ? step.response_tokens / seconds / rl.ranks : 0.0},
                         {"longest_response", step.longest},
                         {"tail_s", to_seconds(step.tail)},
                         {"last_engine", step.last_engine},
                         {"slot_use", step.slot_use},
                         {"staleness_mean", step.staleness},
                         {"staleness_most", step.stale.most},
                         {"dropped", step.stale.dropped},
                         {"optimizer_steps", step.optimizer_steps}});
  }
  Json staleness = Json::array();
  for (const std::uint64_t samples : rl.staleness) staleness.push_back(samples);
  Json depths = Json::array();
  for (const auto& [calls, hits] : rl.hits_by_depth) depths.push_back(share_of(hits, calls));
  return Json{{"samples", rl.samples},
              {"mean", mean_json(rl)},
              {"steps", std::move(steps)},
              {"staleness", std::move(staleness)},
              {"made_again", rl.made_again},
              {"kv", Json{{"prompt_tokens", rl.prompt_tokens},
                          {"cached_tokens", rl.cached_tokens},
                          {"preemptions", rl.preemptions},
                          {"recomputed_tokens", rl.recomputed_tokens},
                          {"swapped_bytes", rl.swapped_bytes},
                          {"offloaded_bytes", rl.offloaded_bytes}}},
              {"tools", Json{{"calls", rl.tool_calls},
                             {"hits", rl.tool_hits},
                             {"hit_share", share_of(rl.tool_hits, rl.tool_calls)},
                             {"hit_share_by_depth", std::move(depths)},
                             {"engine_wait_s", to_seconds(rl.tool_wait)}}}};
}

std::vector<std::pair<std::string, std::string>> rl_lines(const RlResult& rl) {
  const auto time = [&](Duration RlStep::*part) {
    return to_text(
        round_up_picoseconds(mean_of(rl, [&](const RlStep& s) { return static_cast<double>((s.*part).count()); })));
  };
  const double seconds = mean_of(rl, [](const RlStep& s) { return to_seconds(s.step); });
  const double tokens = mean_of(rl, [](const RlStep& s) { return s.response_tokens; });
  std::vector<std::pair<std::string, std::string>> lines{
      {"step of reinforcement", time(&RlStep::step)},
      {"  generation", time(&RlStep::generation)},
      {"    its last tenth", time(&RlStep::tail)},
      {"  log-probabilities", time(&RlStep::log_probabilities)},
      {"  training", time(&RlStep::training)},
      {"  refit", time(&RlStep::refit)},
      {"response tokens/s/GPU", number("%.4g", seconds > 0.0 ? tokens / seconds / rl.ranks : 0.0)},
      {"staleness, versions", number("%.3g", mean_of(rl, [](const RlStep& s) { return s.staleness; }))}};
  if (rl.offloaded_bytes > 0.0) {
    lines.insert(lines.begin() + 6, {{"  to hosts", time(&RlStep::offload)}, {"  back from hosts", time(&RlStep::reload)}});
  }
  if (rl.tool_calls == 0) return lines;
  lines.emplace_back("tool calls from the cache", number("%.3g %%", 100.0 * share_of(rl.tool_hits, rl.tool_calls)));
  lines.emplace_back("engines waiting for tools", to_text(rl.tool_wait));
  return lines;
}

}  // namespace photonrail::report
