#include "studies/plan/outcome.hpp"

#include "config/named_files.hpp"
#include "config/scenario_parts.hpp"
#include "core/fnv1a.hpp"
#include "json/json_reader.hpp"
#include "photonrail/version.hpp"
#include "studies/plan/objective.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <vector>

namespace photonrail::plan {

namespace {

using json::Json;

constexpr std::pair<const char*, std::optional<double> PlannedRun::*> kNumbers[] = {
    {"memory_bytes", &PlannedRun::memory_bytes},
    {"usd", &PlannedRun::usd},
    {"power_w", &PlannedRun::power_w},
    {"energy_j", &PlannedRun::energy_j}};

Json list_of(std::initializer_list<double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(value);
  return list;
}

// The state of the files that the base names under this value.
std::string files_of(Json scenario, const PlanValue& value, const std::filesystem::path& directory) {
  config::apply_overrides(scenario, value.patch);
  return config::scenario_hash(scenario, directory);
}

}  // namespace

Outcome refusal(const Plan& plan, const NetworkBill& bill) {
  const PlanLimits& limits = plan.limits;
  const bool matters =
      limits.usd || limits.power_w || std::any_of(plan.objectives.begin(), plan.objectives.end(), reads_bill);
  const auto rejected = [](const std::string& reason, const std::string& example) {
    return Outcome{Outcome::Kind::kRejected, reason, example, {}};
  };
  if (!bill.problem.empty()) return matters ? rejected("the network has no bill", bill.problem) : Outcome{};
  if (limits.usd && bill.usd > *limits.usd)
    return rejected(kTooDear, "the network costs $" + std::to_string(std::llround(bill.usd)));
  if (limits.power_w && bill.power_w > *limits.power_w)
    return rejected(kTooMuchPower, "the network draws " + std::to_string(std::llround(bill.power_w)) + " W");
  return {};
}

std::string text_of(const Outcome& outcome, std::uint64_t candidate) {
  const PlannedRun& run = outcome.run;
  Json line{{"candidate", candidate}, {"kind", static_cast<std::uint64_t>(outcome.kind)}};
  if (!outcome.reason.empty()) line["reason"] = outcome.reason;
  if (!outcome.example.empty()) line["example"] = outcome.example;
  if (outcome.kind == Outcome::Kind::kDone) {
    line["step_s"] = run.step_s;
    line["makespan_ps"] = run.makespan.count();
    Json mean = Json::array();
    for (const Duration part : {run.mean.compute, run.mean.exposed_communication, run.mean.reconfiguration_wait,
                                run.mean.peer_wait, run.mean.detection})
      mean.push_back(part.count());
    line["mean_ps"] = std::move(mean);
    if (run.productive) line["productive"] = list_of({run.productive->mean, run.productive->low, run.productive->high});
    for (const auto& [key, part] : kNumbers) {
      if (run.*part) line[key] = *(run.*part);
    }
    if (run.served) line["served"] = list_of({run.served->requests_per_s, run.served->tokens_per_s, run.served->share});
    line["gpus"] = run.size.gpus;
    line["tokens"] = run.size.tokens;
  }
  return line.dump();
}

std::pair<std::uint64_t, Outcome> outcome_of(const std::string& text) {
  const Json line = json::parse_json(text, "runs.jsonl");
  json::JsonReader at(line);
  const auto number = [&at](const char* key) {
    const auto value = at.optional(key);
    return value ? std::optional(value->any_number()) : std::nullopt;
  };
  const auto word = [&at](const char* key) {
    const auto value = at.optional(key);
    return value ? value->string() : std::string{};
  };
  Outcome outcome;
  const std::uint64_t candidate = at.child("candidate").json().natural();
  outcome.kind = static_cast<Outcome::Kind>(at.child("kind").count(0, 2));
  outcome.reason = word("reason");
  outcome.example = word("example");
  if (outcome.kind != Outcome::Kind::kDone) return {candidate, outcome};
  PlannedRun& run = outcome.run;
  run.step_s = *number("step_s");
  run.makespan = Duration{at.child("makespan_ps").json().integer()};
  const auto parts = at.child("mean_ps").elements();
  Duration* const into[] = {&run.mean.compute, &run.mean.exposed_communication, &run.mean.reconfiguration_wait,
                            &run.mean.peer_wait, &run.mean.detection};
  for (std::size_t i = 0; i < parts.size() && i < std::size(into); ++i) *into[i] = Duration{parts[i].json().integer()};
  for (const auto& [key, part] : kNumbers) run.*part = number(key);
  run.size.gpus = *number("gpus");
  run.size.tokens = *number("tokens");
  const auto three = [&at](const char* key, auto& list) {
    const auto value = at.optional(key);
    if (!value) return;
    const auto parts_of = value->elements();
    list = {parts_of.at(0).any_number(), parts_of.at(1).any_number(), parts_of.at(2).any_number()};
  };
  three("productive", run.productive);
  three("served", run.served);
  return {candidate, outcome};
}

std::string hash_of(const Plan& plan) {
  const Json base = json::parse_json(plan.base, plan.file.string());
  std::uint64_t hash = core::fnv1a(config::scenario_hash(base, plan.base_directory), core::fnv1a(version()));
  Json asked{{"usd", plan.limits.usd.value_or(0.0)},
             {"power_w", plan.limits.power_w.value_or(0.0)},
             {"tokens", plan.tokens.value_or(0.0)}};
  if (plan.prices)
    asked["prices"] = list_of({plan.prices->gpu_hour_usd, plan.prices->network_years, plan.prices->usd_per_kwh});
  for (const PlanObjective objective : plan.objectives) asked[std::string(name(objective))] = true;
  hash = core::fnv1a(asked.dump(), hash);
  for (const PlanAxis& axis : plan.axes) {
    hash = core::fnv1a(axis.name + "\n", hash);
    for (const PlanValue& value : axis.values) {
      for (const Override& set : value.patch) hash = core::fnv1a(set.pointer + "=" + set.value + "\n", hash);
      const bool names = std::any_of(value.patch.begin(), value.patch.end(),
                                     [](const Override& set) { return set.value.find('"') != std::string::npos; });
      if (names) hash = core::fnv1a(files_of(base, value, plan.base_directory), hash);
      hash = core::fnv1a("\n", hash);
    }
  }
  if (!plan.shapes) return core::hex(hash);
  const ShapeSpace& s = *plan.shapes;
  for (const auto* list : {&s.tp, &s.cp, &s.pp, &s.ep, &s.virtual_stages, &s.micro_batch}) {
    for (const std::uint32_t value : *list) hash = core::fnv1a(std::to_string(value) + ",", hash);
    hash = core::fnv1a(";", hash);
  }
  for (const auto* list : {&s.sharding, &s.recompute}) {
    for (const std::string& word : *list) hash = core::fnv1a(word + ",", hash);
    hash = core::fnv1a(";", hash);
  }
  return core::hex(hash);
}

}  // namespace photonrail::plan
