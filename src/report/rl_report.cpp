#include "report/rl_report.hpp"

#include "photonrail/report.hpp"
#include "report/output.hpp"
#include "report/text.hpp"
#include "run/rl_steps.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

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

double rate(double tokens, double seconds, std::uint32_t ranks) {
  return seconds > 0.0 && ranks > 0 ? tokens / seconds / ranks : 0.0;
}

/// Tokens that went through each phase for each second of it and each GPU that it has: responses in generation, prompts too
/// in the others. By the sums or means of steps.
struct Rates {
  double generation = 0.0;
  double log_probabilities = 0.0;
  double training = 0.0;
};

Rates rates(const RlResult& rl, const std::function<double(double (*)(const RlStep&))>& of) {
  const double responses = of([](const RlStep& s) { return s.tokens.responses; });
  const double all = responses + of([](const RlStep& s) { return s.tokens.prompts; });
  return {rate(responses, of([](const RlStep& s) { return to_seconds(s.generation); }), rl.ranks.generation),
          rate(all, of([](const RlStep& s) { return to_seconds(s.log_probabilities); }), rl.ranks.training),
          rate(all, of([](const RlStep& s) { return to_seconds(s.training); }), rl.ranks.training)};
}

Rates mean_rates(const RlResult& rl) {
  return rates(rl, [&](auto of) { return mean_of(rl, of); });
}

constexpr auto kRates = outputs<Rates>(
    {key<&Rates::generation>("generation_tokens_per_s_gpu", "Of responses, by the time and the GPUs of the phase."),
     key<&Rates::log_probabilities>("log_probabilities_tokens_per_s_gpu", "With prompts, likewise."),
     key<&Rates::training>("training_tokens_per_s_gpu", "With prompts, likewise.")});

double mean_seconds(const RlResult& rl, Duration RlStep::*part) {
  return mean_of(rl, [&](const RlStep& s) { return to_seconds(s.*part); });
}

double mean_tokens(const RlResult& rl) {
  return mean_of(rl, [](const RlStep& s) { return s.tokens.responses; });
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
  const Rates mean = mean_rates(rl);
  for (const auto& [phase, of] :
       {std::pair("  in generation", mean.generation), std::pair("  in log-probabilities", mean.log_probabilities),
        std::pair("  in training", mean.training)}) {
    if (of > 0.0) lines.emplace_back(phase, number("%.4g", of));
  }
}

template <Duration RlStep::*Part>
double mean_time(const RlResult& rl) {
  return mean_seconds(rl, Part);
}

/// Means over the middle steps: plain numbers, so that sweeps have them in their table.
constexpr auto kMean = outputs<RlResult>(
    {key<mean_time<&RlStep::step>>("step_s", "As in `steps`."),
     key<mean_time<&RlStep::generation>>("generation_s", "As in `steps`."),
     key<mean_time<&RlStep::log_probabilities>>("log_probabilities_s", "As in `steps`."),
     key<mean_time<&RlStep::training>>("training_s", "As in `steps`."),
     key<mean_time<&RlStep::refit>>("refit_s", "As in `steps`."),
     key<mean_time<&RlStep::refit_announced>>("refit_announced_s", "As in `steps`."),
     key<mean_time<&RlStep::offload>>("offload_s", "As in `steps`."),
     key<mean_time<&RlStep::reload>>("reload_s", "As in `steps`."),
     key<mean_time<&RlStep::tail>>("tail_s", "As in `steps`."),
     key<[](const RlResult& rl) { return rate(mean_tokens(rl), mean_seconds(rl, &RlStep::step), rl.ranks.all); }>(
         "response_tokens_per_s_gpu", "Of responses, by the mean step."),
     key<[](const RlResult& rl) { return mean_of(rl, [](const RlStep& s) { return s.slot_use; }); }>("slot_use",
                                                                                                     "As in `steps`."),
     key<[](const RlResult& rl) { return mean_of(rl, [](const RlStep& s) { return s.staleness; }); }>("staleness",
                                                                                                      "In versions."),
     with_keys_of<kRates, mean_rates>()});

/// A step with the GPUs of the job.
struct StepOfJob {
  RlStep step;
  double tokens_per_s_gpu = 0.0;
  Rates rates{};
};

template <auto Part>
auto of_step(const StepOfJob& of) {
  return of.step.*Part;
}

constexpr auto kStep = outputs<StepOfJob>(
    {key<of_step<&RlStep::step>>(
         "step_s", "From the end of the step before. The phases that follow may overlap those of the next step."),
     key<of_step<&RlStep::generation>>("generation_s", "Of responses."),
     key<of_step<&RlStep::log_probabilities>>("log_probabilities_s", "Of all models that give some."),
     key<of_step<&RlStep::training>>("training_s", "Of the policy, and of the critic if there is one."),
     key<of_step<&RlStep::refit>>("refit_s", "New weights go to the engines."),
     key<of_step<&RlStep::refit_announced>>("refit_announced_s",
                                            "Under a policy that provisions: so long before it began all of its ranks had "
                                            "asked for its circuits."),
     key<of_step<&RlStep::offload>>("offload_s", "On shared GPUs: room is made for training."),
     key<of_step<&RlStep::reload>>("reload_s", "What was there comes back."),
     key<[](const StepOfJob& of) { return of.step.tokens.responses; }>("response_tokens", "Of all samples."),
     key<&StepOfJob::tokens_per_s_gpu>("tokens_per_s_gpu", "Of responses, by the step."),
     key<[](const StepOfJob& of) { return of.step.tokens.longest; }>("longest_response", "Tokens."),
     key<of_step<&RlStep::tail>>("tail_s", "After nine tenths of responses."),
     key<of_step<&RlStep::last_engine>>("last_engine", "Which completed the last sample."),
     key<of_step<&RlStep::slot_use>>("slot_use", "Mean time of a response over `generation_s`."),
     key<of_step<&RlStep::staleness>>("staleness_mean", "Versions."),
     key<[](const StepOfJob& of) { return of.step.stale.most; }>("staleness_most", "Versions."),
     key<[](const StepOfJob& of) { return of.step.stale.dropped; }>("dropped",
                                                                    "Samples that were too old, and made again."),
     key<of_step<&RlStep::optimizer_steps>>("optimizer_steps", "Of policy and critic."),
     with_keys_of<kRates, &StepOfJob::rates>()});

std::vector<StepOfJob> steps_of(const RlResult& rl) {
  std::vector<StepOfJob> steps;
  for (const RlStep& step : rl.steps) {
    steps.push_back({step, rate(step.tokens.responses, to_seconds(step.step), rl.ranks.all),
                     rates(rl, [&](auto of) { return of(step); })});
  }
  return steps;
}

constexpr auto kKv = outputs<RlResult>(
    {key<&RlResult::prompt_tokens>("prompt_tokens", "Contexts that engines took, after tool calls too."),
     key<&RlResult::cached_tokens>("cached_tokens", "Of these."), key<&RlResult::preemptions>("preemptions", "Of samples."),
     key<&RlResult::recomputed_tokens>("recomputed_tokens", "Whose KV was lost."),
     key<&RlResult::swapped_bytes>("swapped_bytes", "Of all GPUs both ways, of samples that waited for tools."),
     key<&RlResult::offloaded_bytes>("offloaded_bytes", "Of all GPUs both ways.")});

constexpr auto kTools = outputs<RlResult>(
    {key<&RlResult::tool_calls>("calls", "How many."), key<&RlResult::tool_hits>("hits", "From the cache."),
     key<[](const RlResult& rl) { return share_of(rl.tool_hits, rl.tool_calls); }>("hit_share", "Of calls."),
     key<hit_shares>("hit_share_by_depth", "By calls before it."),
     key<&RlResult::tool_wait>("engine_wait_s", "Of engines that stood for tools, summed up.")});

constexpr auto kRl = outputs<RlResult>(
    {key<&RlResult::samples>("samples", "Of a step."),
     part<[](const RlResult& rl) { return written<kMean>(rl); }>("mean", kKeysOf<kMean>,
                                                                 "Over all steps but the first and last of three or more."),
     objects<kStep, steps_of>("steps", "Each of them."),
     key<&RlResult::staleness>("staleness", "Samples by the versions that they were old."),
     key<&RlResult::made_again>("made_again", "Samples that were lost with an engine."),
     part<[](const RlResult& rl) { return written<kKv>(rl); }>("kv", kKeysOf<kKv>, "Of engines."),
     part<[](const RlResult& rl) { return written<kTools>(rl); }>("tools", kKeysOf<kTools>, "Calls of tools.")});

}  // namespace

const fields::Section kRlKeys = kKeysOf<kRl>;

Json rl_json(const RlResult& rl) { return written<kRl>(rl); }

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
