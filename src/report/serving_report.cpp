#include "report/serving_report.hpp"

#include "core/counted.hpp"
#include "photonrail/report.hpp"
#include "report/text.hpp"
#include "serving/metrics.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace photonrail::report {

namespace {

using json::Json;

Json summary_json(const TimeSummary& times) {
  return {{"count", times.count},          {"mean", to_seconds(times.mean)}, {"p50", to_seconds(times.p50)},
          {"p90", to_seconds(times.p90)},  {"p95", to_seconds(times.p95)},   {"p99", to_seconds(times.p99)},
          {"most", to_seconds(times.most)}};
}

Json engine_json(const ServingResult::Engine& engine) {
  return {{"pool", engine.pool},
          {"gpus", engine.gpus},
          {"steps", engine.steps},
          {"mean_batch", engine.mean_batch},
          {"time_s",
           {{"prefill", to_seconds(engine.prefill)},
            {"decode", to_seconds(engine.decode)},
            {"mixed", to_seconds(engine.mixed)},
            {"waiting", to_seconds(engine.waiting)},
            {"idle", to_seconds(engine.idle)},
            {"off", to_seconds(engine.off)}}},
          {"preemptions", engine.preemptions},
          {"recomputed_tokens", engine.recomputed_tokens},
          {"prompt_tokens", engine.prompt_tokens},
          {"cached_tokens", engine.cached_tokens},
          {"blocks", engine.blocks.total},
          {"most_blocks", engine.blocks.most}};
}

Json classes_json(const ServingResult& result) {
  Json classes = Json::object();
  for (const ServingResult::Class& of : result.classes) {
    classes[of.name] = {{"offered", of.offered}, {"finished", of.finished},         {"refused", of.refused},
                        {"share", of.share},     {"ttft_s", summary_json(of.ttft)}, {"tpot_s", summary_json(of.tpot)}};
  }
  return classes;
}

// Numbers of engines that failed, started or stopped.
Json fleet_json(const ServingResult& result) {
  return {{"failures", result.failures}, {"restarted_requests", result.restarts}, {"started", result.started},
          {"stopped", result.stopped},   {"weight_bytes", result.weight_bytes},   {"start_s", summary_json(result.start)}};
}

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

Json trial_json(const ServingResult::RateTrial& trial) {
  return {{"per_s", trial.per_s}, {"share", trial.share}, {"unfinished", trial.unfinished}};
}

Json rate_search_json(const ServingResult::RateSearch& search) {
  Json json;
  json["share"] = search.share;
  if (search.greatest) json["greatest"] = trial_json(*search.greatest);
  if (search.beyond) json["beyond"] = trial_json(*search.beyond);
  Json& trials = json["trials"] = Json::array();
  for (const ServingResult::RateTrial& trial : search.trials) trials.push_back(trial_json(trial));
  return json;
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

}  // namespace

Json serving_json(const ServingResult& result) {
  Json json;
  json["requests"] = {{"offered", result.offered},
                      {"finished", result.finished},
                      {"refused", result.refused},
                      {"unfinished", result.unfinished},
                      {"warm_up", result.warm_up}};
  json["prompt_tokens"] = result.prompt_tokens;
  json["output_tokens"] = result.output_tokens;
  json["output_tokens_per_s"] = result.output_tokens_per_s();
  json["requests_per_s"] = result.requests_per_s();
  json["exact_percentiles"] = result.exact;
  json["ttft_s"] = summary_json(result.ttft);
  json["tpot_s"] = summary_json(result.tpot);
  json["itl_s"] = summary_json(result.itl);
  json["e2e_s"] = summary_json(result.e2e);
  Json& parts = json["ttft_parts_s"] = Json::object();
  for (int p = 0; p < kTtftPartCount; ++p) {
    parts[std::string(name(static_cast<TtftPart>(p)))] = summary_json(result.parts[p]);
  }
  if (result.slo) {
    Json& slo = json["slo"] = Json::object();
    if (result.slo->ttft) slo["ttft_s"] = to_seconds(*result.slo->ttft);
    if (result.slo->tpot) slo["tpot_s"] = to_seconds(*result.slo->tpot);
    slo["share"] = result.slo->share;
    slo["goodput_per_s"] = result.slo->per_s;
  }
  if (result.rate_search) json["rate_search"] = rate_search_json(*result.rate_search);
  if (result.transfers > 0) {
    json["transfers"] = {
        {"count", result.transfers}, {"bytes", result.transfer_bytes}, {"time_s", summary_json(result.transfer)}};
  }
  if (result.moves > 0) {
    json["moves"] = {{"count", result.moves}, {"bytes", result.move_bytes}, {"time_s", summary_json(result.move)}};
  }
  if (!result.classes.empty()) json["classes"] = classes_json(result);
  if (result.failures + result.started + result.stopped > 0) json["fleet"] = fleet_json(result);
  Json& engines = json["engines"] = Json::array();
  for (const ServingResult::Engine& engine : result.engines) engines.push_back(engine_json(engine));
  return json;
}

std::string serving_text(const ServingResult& result) {
  std::string text = core::counted(result.finished, "request") + " finished of " + std::to_string(result.offered);
  if (result.refused > 0) text += ", " + std::to_string(result.refused) + " refused";
  if (result.unfinished > 0) {
    text += ", " + std::to_string(result.unfinished) + " UNFINISHED: the times below are of the others, and too short";
  }
  text += number("; %.4g requests/s", result.requests_per_s()) +
          number(", %.4g output tokens/s\n", result.output_tokens_per_s());
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
  if (result.slo) {
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
    if (result.transfer.count > 0)
      text += ": mean " + to_text(result.transfer.mean) + ", p99 " + to_text(result.transfer.p99);
    text += "\n";
  }
  return text;
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
