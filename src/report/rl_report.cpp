#include "report/rl_report.hpp"

#include "photonrail/report.hpp"
#include "report/text.hpp"
#include "run/rl_steps.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

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

/// Tokens that went through each phase for each second of it and each GPU that it has: responses in generation, prompts too
/// in the others. {key of the phase, rate}.
std::vector<std::pair<std::string, double>> rates(const RlResult& rl,
                                                  const std::function<double(double (*)(const RlStep&))>& of) {
  const auto rate = [](double tokens, double seconds, std::uint32_t ranks) {
    return seconds > 0.0 && ranks > 0 ? tokens / seconds / ranks : 0.0;
  };
  const double responses = of([](const RlStep& s) { return s.tokens.responses; });
  const double all = responses + of([](const RlStep& s) { return s.tokens.prompts; });
  return {
      {"generation", rate(responses, of([](const RlStep& s) { return to_seconds(s.generation); }), rl.ranks.generation)},
      {"log_probabilities",
       rate(all, of([](const RlStep& s) { return to_seconds(s.log_probabilities); }), rl.ranks.training)},
      {"training", rate(all, of([](const RlStep& s) { return to_seconds(s.training); }), rl.ranks.training)}};
}

void add_rates(Json& json, const std::vector<std::pair<std::string, double>>& rates) {
  for (const auto& [phase, rate] : rates) json[phase + "_tokens_per_s_gpu"] = rate;
}

std::vector<std::pair<std::string, double>> mean_rates(const RlResult& rl) {
  return rates(rl, [&](auto of) { return mean_of(rl, of); });
}

/// Returns means over the middle steps: plain numbers, so that sweeps have them in their table.
Json mean_json(const RlResult& rl) {
  const auto seconds = [&](Duration RlStep::*part) {
    return mean_of(rl, [&](const RlStep& s) { return to_seconds(s.*part); });
  };
  const double step = seconds(&RlStep::step);
  const double tokens = mean_of(rl, [](const RlStep& s) { return s.tokens.responses; });
  Json mean{{"step_s", step},
            {"generation_s", seconds(&RlStep::generation)},
            {"log_probabilities_s", seconds(&RlStep::log_probabilities)},
            {"training_s", seconds(&RlStep::training)},
            {"refit_s", seconds(&RlStep::refit)},
            {"refit_announced_s", seconds(&RlStep::refit_announced)},
            {"offload_s", seconds(&RlStep::offload)},
            {"reload_s", seconds(&RlStep::reload)},
            {"tail_s", seconds(&RlStep::tail)},
            {"response_tokens_per_s_gpu", step > 0.0 ? tokens / step / rl.ranks.all : 0.0},
            {"slot_use", mean_of(rl, [](const RlStep& s) { return s.slot_use; })},
            {"staleness", mean_of(rl, [](const RlStep& s) { return s.staleness; })}};
  add_rates(mean, mean_rates(rl));
  return mean;
}

std::vector<double> shares_of(const std::vector<std::uint64_t>& counts) {
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::vector<double> shares;
  for (const std::uint64_t count : counts) shares.push_back(share_of(count, all));
  return shares;
}

std::vector<double> hit_shares(const RlResult& rl) {
  std::vector<double> shares;
  for (const auto& [calls, hits] : rl.hits_by_depth) shares.push_back(share_of(hits, calls));
  return shares;
}

/// Returns the first of them, for a line of the table.
std::string shares_text(const std::vector<double>& shares) {
  constexpr std::size_t kMostShares = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(shares.size(), kMostShares); ++i) {
    text += (i == 0 ? "" : ", ") + number("%.3g %%", 100.0 * shares[i]);
  }
  return shares.size() > kMostShares ? text + ", ..." : text;
}

void add_lines_of_rates(const RlResult& rl, std::vector<std::pair<std::string, std::string>>& lines) {
  for (auto [phase, rate] : mean_rates(rl)) {
    std::replace(phase.begin(), phase.end(), '_', '-');
    if (rate > 0.0) lines.emplace_back("  in " + phase, number("%.4g", rate));
  }
}

}  // namespace

Json rl_json(const RlResult& rl) {
  Json steps = Json::array();
  for (const RlStep& step : rl.steps) {
    const double seconds = to_seconds(step.step);
    Json one{{"step_s", seconds},
             {"generation_s", to_seconds(step.generation)},
             {"log_probabilities_s", to_seconds(step.log_probabilities)},
             {"training_s", to_seconds(step.training)},
             {"refit_s", to_seconds(step.refit)},
             {"refit_announced_s", to_seconds(step.refit_announced)},
             {"offload_s", to_seconds(step.offload)},
             {"reload_s", to_seconds(step.reload)},
             {"response_tokens", step.tokens.responses},
             {"tokens_per_s_gpu", seconds > 0.0 ? step.tokens.responses / seconds / rl.ranks.all : 0.0},
             {"longest_response", step.tokens.longest},
             {"tail_s", to_seconds(step.tail)},
             {"last_engine", step.last_engine},
             {"slot_use", step.slot_use},
             {"staleness_mean", step.staleness},
             {"staleness_most", step.stale.most},
             {"dropped", step.stale.dropped},
             {"optimizer_steps", step.optimizer_steps}};
    add_rates(one, rates(rl, [&](auto of) { return of(step); }));
    steps.push_back(std::move(one));
  }
  Json staleness = Json::array();
  for (const std::uint64_t samples : rl.staleness) staleness.push_back(samples);
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
                             {"hit_share_by_depth", hit_shares(rl)},
                             {"engine_wait_s", to_seconds(rl.tool_wait)}}}};
}

std::vector<std::pair<std::string, std::string>> rl_lines(const RlResult& rl) {
  const auto picoseconds = [&](Duration RlStep::*part) {
    return mean_of(rl, [&](const RlStep& s) { return static_cast<double>((s.*part).count()); });
  };
  const double step = std::max(1.0, picoseconds(&RlStep::step));
  const auto time = [&](Duration RlStep::*part) { return to_text(round_up_picoseconds(picoseconds(part))); };
  const auto phase = [&](Duration RlStep::*part) {
    return time(part) + number(", %.3g %% of it", 100.0 * picoseconds(part) / step);
  };
  const double seconds = mean_of(rl, [](const RlStep& s) { return to_seconds(s.step); });
  const double tokens = mean_of(rl, [](const RlStep& s) { return s.tokens.responses; });
  std::vector<std::pair<std::string, std::string>> lines{
      {"step of reinforcement", time(&RlStep::step)}, {"  generation", phase(&RlStep::generation)},
      {"    its last tenth", time(&RlStep::tail)},    {"  log-probabilities", phase(&RlStep::log_probabilities)},
      {"  training", phase(&RlStep::training)},       {"  refit", phase(&RlStep::refit)}};
  if (rl.offloaded_bytes > 0.0) {
    lines.emplace_back("  to hosts", phase(&RlStep::offload));
    lines.emplace_back("  back from hosts", phase(&RlStep::reload));
  }
  lines.emplace_back("response tokens/s/GPU", number("%.4g", seconds > 0.0 ? tokens / seconds / rl.ranks.all : 0.0));
  add_lines_of_rates(rl, lines);
  lines.emplace_back("staleness, versions", number("%.3g", mean_of(rl, [](const RlStep& s) { return s.staleness; })));
  if (rl.staleness.size() > 1) lines.emplace_back("  samples of 0, 1, ...", shares_text(shares_of(rl.staleness)));
  if (rl.tool_calls == 0) return lines;
  lines.emplace_back("tool calls from the cache", number("%.3g %%", 100.0 * share_of(rl.tool_hits, rl.tool_calls)));
  lines.emplace_back("  1st, 2nd, ... call", shares_text(hit_shares(rl)));
  lines.emplace_back("engines waiting for tools", to_text(rl.tool_wait));
  return lines;
}

}  // namespace photonrail::report
