#include "report/serving_report.hpp"

#include "core/counted.hpp"
#include "cost/ownership.hpp"
#include "photonrail/report.hpp"
#include "photonrail/result.hpp"
#include "report/output.hpp"
#include "report/text.hpp"
#include "serving/requests/metrics.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::report {

namespace {

using json::Json;

constexpr auto kTimes =
    outputs<TimeSummary>({key<&TimeSummary::count>("count", "How many."), key<&TimeSummary::mean>("mean", "Seconds."),
                          key<&TimeSummary::p50>("p50", "Seconds."), key<&TimeSummary::p90>("p90", "Seconds."),
                          key<&TimeSummary::p95>("p95", "Seconds."), key<&TimeSummary::p99>("p99", "Seconds."),
                          key<&TimeSummary::most>("most", "Seconds.")},
                         true);

using Engine = ServingResult::Engine;
constexpr auto kEngineTimes = outputs<Engine>(
    {key<&Engine::prefill>("prefill", "Steps of prompts alone."), key<&Engine::decode>("decode", "Steps of decodes alone."),
     key<&Engine::mixed>("mixed", "Steps of both."),
     key<&Engine::waiting>("waiting", "It had requests and could run none."), key<&Engine::idle>("idle", "It had none."),
     key<&Engine::off>("off", "It had failed, was not started, or loaded its weights.")});

constexpr auto kEngine = outputs<Engine>(
    {key<&Engine::pool>("pool", "Its pool."), key<&Engine::gpus>("gpus", "How many."),
     key<&Engine::steps>("steps", "How many."), key<&Engine::mean_batch>("mean_batch", "Requests of a step."),
     object<kEngineTimes, [](const Engine& e) { return e; }>("time_s", "Seconds that add up to the makespan."),
     key<&Engine::preemptions>("preemptions", "Of requests."),
     key<&Engine::recomputed_tokens>("recomputed_tokens", "After preemptions."),
     key<&Engine::prompt_tokens>("prompt_tokens", "That it computed."),
     key<&Engine::cached_tokens>("cached_tokens", "Of prompts, that it found in its cache."),
     key<[](const Engine& e) { return e.blocks.total; }>("blocks", "Of KV."),
     key<[](const Engine& e) { return e.blocks.most; }>("most_blocks", "Held at once.")});

using Class = ServingResult::Class;
constexpr auto kClass = outputs<Class>(
    {key<&Class::offered>("offered", "Requests."), key<&Class::finished>("finished", "Requests."),
     key<&Class::refused>("refused", "Requests."),
     key<&Class::share>("share", "Of those offered, within the limits of the class."),
     object<kTimes, &Class::ttft>("ttft_s", "Of the class."), object<kTimes, &Class::tpot>("tpot_s", "Of the class.")});

std::optional<ByName<Class>> named_classes(const ServingResult& result) {
  if (result.classes.empty()) return std::nullopt;
  ByName<Class> classes;
  for (const Class& of : result.classes) classes.emplace_back(of.name, of);
  return classes;
}

using RateTrial = ServingResult::RateTrial;
constexpr auto kTrial = outputs<RateTrial>({key<&RateTrial::per_s>("per_s", "Arrivals."),
                                            key<&RateTrial::share>("share", "Of requests that kept the limits."),
                                            key<&RateTrial::unfinished>("unfinished", "Requests.")});

using RateSearch = ServingResult::RateSearch;
constexpr auto kRateSearch =
    outputs<RateSearch>({key<&RateSearch::share>("share", "That is wanted."),
                         object<kTrial, &RateSearch::greatest>("greatest", "The greatest rate that has it, if one does."),
                         object<kTrial, &RateSearch::beyond>("beyond", "The least rate above it that does not."),
                         objects<kTrial, &RateSearch::trials>("trials", "In the order in which they ran.")});

std::string fleet_text(const ServingResult& result) {
  std::string text;
  if (result.failures > 0) {
    text += "  " + core::counted(result.failures, "engine") + " failed, " + core::counted(result.restarts, "request") +
            " began again\n";
  }
  if (result.started + result.stopped > 0) {
    text += "  " + core::counted(result.started, "engine") + " started, " + std::to_string(result.stopped) + " stopped; " +
            to_text(Bytes{static_cast<std::int64_t>(result.weight_bytes)}) + " of weights, mean start " +
            to_text(result.start.mean) + "\n";
  }
  if (result.moves > 0) {
    text += "  " + core::counted(result.moves, "move") + " of preempted KV, " +
            to_text(Bytes{static_cast<std::int64_t>(result.move_bytes)}) + ": mean " + to_text(result.move.mean) + "\n";
  }
  for (const ServingResult::Class& of : result.classes) {
    text += "  class " + of.name + ": " + std::to_string(of.finished) + " finished of " + std::to_string(of.offered);
    if (of.refused > 0) text += ", " + std::to_string(of.refused) + " refused";
    text += number(", %.1f %% within its limits", 100.0 * of.share) + ", TTFT p99 " + to_text(of.ttft.p99) + "\n";
  }
  return text;
}

std::string rate_search_text(const ServingResult::RateSearch& search) {
  const auto of = [](const ServingResult::RateTrial& trial) {
    return number("%.4g/s", trial.per_s) + number(" (%.1f %%", 100.0 * trial.share) +
           (trial.unfinished > 0 ? ", " + core::counted(trial.unfinished, "request") + " unfinished)" : ")");
  };
  std::string text = number("  greatest rate at which %.4g %% of requests keep the limits: ", 100.0 * search.share);
  if (search.greatest) {
    text += of(*search.greatest);
    text += search.beyond ? "; not at " + of(*search.beyond) : "; no rate that was tried is too great";
  } else {
    text += "none of those that were tried" + (search.beyond ? ", down to " + of(*search.beyond) : std::string());
  }
  return text + "; " + core::counted(search.trials.size(), "run") + "\n";
}

std::string row_of(const std::string& name, const TimeSummary& times) {
  std::string line = "  " + pad_right(name, 14);
  for (const Duration time : {times.mean, times.p50, times.p90, times.p95, times.p99, times.most}) {
    line += pad_left(times.count == 0 ? "-" : to_text(time), 10);
  }
  return line + "\n";
}

// Counts all engines of a pool together.
struct PoolShare {
  std::string name;
  std::size_t engines = 0;
  double busy[6] = {};
  double batch = 0.0;
  double steps = 0.0;
  std::uint64_t preemptions = 0;
  double held = 0.0;
  double cached = 0.0;
  double prompt = 0.0;
};

std::vector<PoolShare> pools_of(const ServingResult& result) {
  std::vector<PoolShare> pools;
  const double whole = std::max(to_seconds(result.makespan), 1e-12);
  for (const ServingResult::Engine& engine : result.engines) {
    if (pools.empty() || pools.back().name != engine.pool) pools.push_back({engine.pool});
    PoolShare& pool = pools.back();
    ++pool.engines;
    const Duration times[] = {engine.prefill, engine.decode, engine.mixed, engine.waiting, engine.idle, engine.off};
    for (std::size_t i = 0; i < 6; ++i) pool.busy[i] += to_seconds(times[i]) / whole;
    pool.batch += engine.mean_batch * static_cast<double>(engine.steps);
    pool.steps += static_cast<double>(engine.steps);
    pool.preemptions += engine.preemptions;
    pool.held = std::max(pool.held, static_cast<double>(engine.blocks.most) /
                                        static_cast<double>(std::max<std::uint64_t>(engine.blocks.total, 1)));
    pool.cached += static_cast<double>(engine.cached_tokens);
    pool.prompt += static_cast<double>(engine.prompt_tokens);
  }
  return pools;
}

std::string ms(Time time) { return time == Time::never() ? "" : number("%.6f", to_seconds(time) * 1e3); }

constexpr auto kRequests = outputs<ServingResult>(
    {key<&ServingResult::offered>("offered", "In all."), key<&ServingResult::finished>("finished", "Of these."),
     key<&ServingResult::refused>("refused", "Of these."), key<&ServingResult::unfinished>("unfinished", "Of these."),
     key<&ServingResult::warm_up>("warm_up", "Whose times do not count.")});

ByName<TimeSummary> named_parts(const ServingResult& result) {
  ByName<TimeSummary> parts;
  for (int p = 0; p < kTtftPartCount; ++p) parts.emplace_back(name(static_cast<TtftPart>(p)), result.parts[p]);
  return parts;
}

using Slo = ServingResult::Slo;
constexpr auto kSlo = outputs<Slo>({key<&Slo::ttft>("ttft_s", "The limit, if there is one."),
                                    key<&Slo::tpot>("tpot_s", "The limit, if there is one."),
                                    key<&Slo::share>("share", "Of requests that kept both."),
                                    key<&Slo::per_s>("goodput_per_s", "Such requests, until the last answer begins.")});

/// Transfers of a kind.
struct Moved {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  TimeSummary time{};
  std::optional<std::uint64_t> found{};
};
constexpr auto kMoved = outputs<Moved>({key<&Moved::count>("count", "How many."), key<&Moved::bytes>("bytes", "Of all."),
                                        object<kTimes, &Moved::time>("time_s", "Of one.")});
constexpr auto kTransferred =
    outputs<Moved>({key<&Moved::count>("count", "How many."), key<&Moved::bytes>("bytes", "Of all."),
                    key<&Moved::found>("found_bytes", "That decode engines had, not sent."),
                    object<kTimes, &Moved::time>("time_s", "Of one.")});

std::optional<Moved> moved(const ServingResult& r) {
  return r.moves > 0 ? std::optional(Moved{r.moves, r.move_bytes, r.move}) : std::nullopt;
}
std::optional<Moved> transferred(const ServingResult& r) {
  return r.transfers > 0 ? std::optional(Moved{r.transfers, r.transfer_bytes, r.transfer, r.found_bytes}) : std::nullopt;
}

constexpr auto kFleet = outputs<ServingResult>(
    {key<&ServingResult::failures>("failures", "Of engines."),
     key<&ServingResult::restarts>("restarted_requests", "Because their engine failed."),
     key<&ServingResult::started>("started", "Engines."), key<&ServingResult::stopped>("stopped", "Engines."),
     key<&ServingResult::weight_bytes>("weight_bytes", "That engines which started loaded from others."),
     object<kTimes, &ServingResult::start>("start_s", "Until an engine that was started takes requests.")});

std::optional<Json> fleet_json(const ServingResult& result) {
  const bool changed = result.failures + result.started + result.stopped != 0;
  return changed ? std::optional(written<kFleet>(result)) : std::nullopt;
}

constexpr auto kServing = outputs<ServingResult>(
    {part<[](const ServingResult& r) { return written<kRequests>(r); }>("requests", kKeysOf<kRequests>, "How many."),
     key<&ServingResult::prompt_tokens>("prompt_tokens", "Of finished requests."),
     key<&ServingResult::output_tokens>("output_tokens", "Of finished requests."),
     key<&ServingResult::output_tokens_per_s>("output_tokens_per_s", "Over the makespan."),
     key<&ServingResult::steady_output_tokens_per_s>("steady_output_tokens_per_s",
                                                     "Until the last answer begins: what costs are by."),
     key<&ServingResult::requests_per_s>("requests_per_s", "Over the makespan."),
     key<&ServingResult::exact>("exact_percentiles", "Else they are up to 1.6 % too long, as those of `itl_s` always are."),
     object<kTimes, &ServingResult::ttft>("ttft_s", "Time to the first token."),
     object<kTimes, &ServingResult::tpot>("tpot_s", "Time of a token after the first."),
     object<kTimes, &ServingResult::itl>("itl_s", "Between two tokens."),
     object<kTimes, &ServingResult::e2e>("e2e_s", "From arrival to the last token."),
     objects_by_name<kTimes, named_parts>("ttft_parts_s", "Parts of the time to the first token."),
     object<kSlo, &ServingResult::slo>("slo", "Where there are limits."),
     object<kRateSearch, &ServingResult::rate_search>("rate_search", "Where the greatest rate was searched for."),
     object<kTransferred, transferred>("transfers", "Of KV between engines."),
     object<kMoved, moved>("moves", "Of preempted KV."),
     objects_by_name<kClass, named_classes>("classes", "Of requests, where there are some."),
     part<fleet_json>("fleet", kKeysOf<kFleet>, "Where engines failed, started or stopped."),
     objects<kEngine, &ServingResult::engines>("engines", "Each of them.")});

}  // namespace

const fields::Section kServingKeys = kKeysOf<kServing>;

Json serving_json(const ServingResult& result) { return written<kServing>(result); }

std::string serving_text(const ServingResult& result) {
  std::string text = core::counted(result.finished, "request") + " finished of " + std::to_string(result.offered);
  if (result.refused > 0) text += ", " + std::to_string(result.refused) + " refused";
  if (result.unfinished > 0) {
    text += ", " + std::to_string(result.unfinished) + " UNFINISHED: the times below are of the others, and too short";
  }
  const bool none_counts = result.finished > 0 && result.finished == result.offered && result.e2e.count == 0;
  if (none_counts) text += ", NONE after the warm-up, so that there are no times";
  text += number("; %.4g requests/s", result.requests_per_s()) +
          number(", %.4g output tokens/s", result.output_tokens_per_s()) +
          number(", %.4g while requests came\n", result.steady_output_tokens_per_s);
  text += "  " + pad_right("", 14);
  for (const char* head : {"mean", "p50", "p90", "p95", "p99", "most"}) text += pad_left(head, 10);
  text += "\n" + row_of("TTFT", result.ttft) + row_of("TPOT", result.tpot) + row_of("ITL", result.itl) +
          row_of("E2E", result.e2e);
  for (int p = 0; p < kTtftPartCount; ++p) {
    if (result.parts[p].most > Duration{}) {
      std::string part(name(static_cast<TtftPart>(p)));
      std::replace(part.begin(), part.end(), '_', ' ');
      text += row_of("  " + part, result.parts[p]);
    }
  }
  if (result.slo && !none_counts) {
    text += "  goodput " + number("%.4g requests/s", result.slo->per_s) +
            number(", %.1f %% of what was offered", 100.0 * result.slo->share);
    if (result.slo->ttft) text += ", TTFT <= " + to_text(*result.slo->ttft);
    if (result.slo->tpot) text += ", TPOT <= " + to_text(*result.slo->tpot);
    text += result.unfinished > 0 ? "; unfinished requests count as outside\n" : "\n";
  }
  if (result.rate_search) text += rate_search_text(*result.rate_search);
  text += fleet_text(result);
  for (const PoolShare& pool : pools_of(result)) {
    text += "  " + pool.name + ", " + core::counted(pool.engines, "engine") + ":";
    const char* names[] = {"prefill", "decode", "mixed", "waiting", "idle", "off"};
    if (result.makespan == Duration{}) text += " no time passed";
    for (std::size_t i = 0; i < 6; ++i) {
      if (pool.busy[i] > 0.0)
        text += number(" %.1f %% ", 100.0 * pool.busy[i] / static_cast<double>(pool.engines)) + names[i];
    }
    text += number("; batch %.1f", pool.batch / std::max(pool.steps, 1.0)) +
            number(", at most %.0f %% of its blocks", 100.0 * pool.held);
    if (pool.cached > 0.0)
      text += number(", %.1f %% of prompts cached", 100.0 * pool.cached / std::max(pool.cached + pool.prompt, 1.0));
    if (pool.preemptions > 0) text += ", " + core::counted(pool.preemptions, "preemption");
    text += "\n";
  }
  if (result.transfers > 0) {
    text += "  " + core::counted(result.transfers, "KV transfer") + ", " +
            to_text(Bytes{static_cast<std::int64_t>(result.transfer_bytes)});
    if (result.found_bytes > 0)
      text += " beside " + to_text(Bytes{static_cast<std::int64_t>(result.found_bytes)}) + " that were there";
    if (result.transfer.count > 0)
      text += ": mean " + to_text(result.transfer.mean) + ", p99 " + to_text(result.transfer.p99);
    text += "\n";
  }
  return text;
}

std::optional<double> kwh_per_million_tokens(const RunResult& result) {
  const double seconds = to_seconds(result.makespan);
  if (!result.serving || !(result.serving->steady_output_tokens_per_s > 0.0) || !(seconds > 0.0)) return std::nullopt;
  if (!result.cost || !result.cost->gpu_energy_per_step_j) return std::nullopt;
  const double joules = *result.cost->gpu_energy_per_step_j + result.cost->network_energy_per_step_j;
  return cost::kwh_per_million_tokens(joules / seconds, result.serving->steady_output_tokens_per_s);
}

std::string energy_of_tokens_text(const RunResult& result) {
  const auto kwh = kwh_per_million_tokens(result);
  return kwh ? number("  10^6 output tokens take %.4g kWh of GPUs and network\n", *kwh) : "";
}

std::string requests_csv(const ServingResult& result) {
  std::string text =
      "number,arrival_ms,class,restarts,prompt_tokens,output_tokens,cached_tokens,preemptions,prefill_engine,decode_engine,"
      "scheduled_ms,"
      "prefilled_ms,sent_ms,delivered_ms,decoding_ms,first_ms,last_ms,ttft_ms,tpot_ms,e2e_ms,longest_gap_ms";
  for (int p = 0; p < kTtftPartCount; ++p) text += ",part_" + std::string(name(static_cast<TtftPart>(p))) + "_ms";
  text += "\n";
  for (const ServedRequest& r : result.requests) {
    text += std::to_string(r.number) + "," + ms(r.arrival);
    text += "," + (result.classes.empty() ? std::string() : result.classes[r.request_class].name) + "," +
            std::to_string(r.restarts);
    for (const std::uint32_t n : {r.prompt, r.output, r.cached, r.preemptions, r.prefill_engine, r.decode_engine}) {
      text += "," + std::to_string(n);
    }
    for (const Time time : {r.scheduled, r.prefilled, r.sent, r.delivered, r.decoding, r.first, r.last})
      text += "," + ms(time);
    const double tpot = r.output > 1 ? to_seconds(r.last - r.first) * 1e3 / (r.output - 1.0) : 0.0;
    text += number(",%.6f", to_seconds(r.first - r.arrival) * 1e3) + (r.output > 1 ? number(",%.6f", tpot) : ",") +
            number(",%.6f", to_seconds(r.last - r.arrival) * 1e3) + number(",%.6f", to_seconds(r.longest_gap) * 1e3);
    for (const Duration part : serving::ttft_parts(r)) text += number(",%.6f", to_seconds(part) * 1e3);
    text += "\n";
  }
  return text;
}

}  // namespace photonrail::report
