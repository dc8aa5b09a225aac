#include "studies/plan/report.hpp"

#include "json/json.hpp"
#include "json/text.hpp"
#include "photonrail/version.hpp"
#include "studies/plan/objective.hpp"

namespace photonrail::plan {

namespace {

using json::Json;

double share(Duration part, Duration whole) {
  return whole.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0.0;
}

Json run_json(const PlannedRun& run) {
  Json json{{"candidate", run.labels},
            {"step_s", run.step_s},
            {"bound_s", run.bound_s},
            {"compute", share(run.mean.compute, run.makespan)},
            {"exposed_communication", share(run.mean.exposed_communication, run.makespan)},
            {"reconfiguration_wait", share(run.mean.reconfiguration_wait, run.makespan)},
            {"peer_wait", share(run.mean.peer_wait, run.makespan)}};
  Json& objectives = json["objectives"] = Json::array();
  for (const double value : run.objectives) objectives.push_back(value);
  if (run.memory_bytes) json["memory_bytes"] = *run.memory_bytes;
  if (run.usd) json["network_usd"] = *run.usd;
  if (run.power_w) json["network_power_w"] = *run.power_w;
  if (run.energy_j) json["energy_per_step_j"] = *run.energy_j;
  if (run.served) {
    json["served"] = Json{{"requests_per_s", run.served->requests_per_s},
                          {"output_tokens_per_s", run.served->tokens_per_s},
                          {"share_within_limits", run.served->share}};
  }
  if (run.productive) {
    Json& productive = json["productive"] = Json::array();
    for (const double part : {run.productive->mean, run.productive->low, run.productive->high}) productive.push_back(part);
  }
  Json& set = json["set"] = Json::object();
  for (const Override& change : run.patch) set[change.pointer] = json::parse_json(change.value, change.pointer);
  return json;
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

void add_explanation(const PlanExplanation& explanation, Json& json) {
  Json& ladder = json["ladder"] = Json::array();
  for (const PlanRung& rung : explanation.ladder)
    ladder.push_back(Json{{"change", rung.change}, {"objective", or_null(rung.objective)}});
  Json& robustness = json["robustness"] = Json::array();
  for (const PlanRobustness& of : explanation.robustness) {
    Json entry{{"what", of.what}, {"at_0.8", or_null(of.at_low)}, {"at_1.2", or_null(of.at_high)}};
    if (of.changes_at) entry["changes_at"] = *of.changes_at;
    if (of.changes_at) entry["to"] = of.to;
    robustness.push_back(std::move(entry));
  }
  if (!explanation.break_even) return;
  const PlanBreakEven& even = *explanation.break_even;
  json["break_even"] =
      Json{{"candidate", even.candidate}, {"on_electrical_rails", even.electrical}, {"delay_ms", or_null(even.delay_ms)}};
}

}  // namespace

std::string plan_json(const Plan& plan, const PlanResult& result, const PlanExplanation& explanation) {
  Json json{{"schema", "photonrail.plan_result/1"},
            {"name", plan.name},
            {"photonrail_version", version()},
            {"candidates", result.candidates},
            {"simulated", result.simulated},
            {"reused", result.reused},
            {"excluded", result.excluded},
            {"open", result.open},
            {"failed", result.failed},
            {"gap", result.gap}};
  Json& objectives = json["objectives"] = Json::array();
  for (const PlanObjective objective : plan.objectives) objectives.push_back(std::string(name(objective)));
  if (!result.nearest.empty()) json["nearest"] = result.nearest;
  Json& rejected = json["rejected"] = Json::object();
  for (const auto& [reason, count] : result.rejected) rejected[reason] = count;
  Json& examples = json["examples"] = Json::object();
  for (const auto& [reason, example] : result.examples) examples[reason] = example;
  Json& best = json["best"] = Json::array();
  for (const PlannedRun& run : result.best) best.push_back(run_json(run));
  Json& worth = json["worth"] = Json::array();
  for (const PlanWorth& of : result.worth) {
    worth.push_back(
        Json{{"choice", of.choice}, {"value", of.value}, {"objective", of.objective}, {"simulated", of.simulated}});
  }
  Json& map = json["map"] = Json::array();
  for (const PlanCell& of : result.map)
    map.push_back(Json{{"tp", of.tp}, {"pp", of.pp}, {"objective", of.objective}, {"simulated", of.simulated}});
  add_explanation(explanation, json);
  return json.dump(2) + "\n";
}

}  // namespace photonrail::plan
