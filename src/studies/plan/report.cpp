#include "studies/plan/report.hpp"

#include "json/json.hpp"
#include "json/text.hpp"
#include "photonrail/version.hpp"

namespace photonrail::plan {

namespace {

using json::Json;

double share(Duration part, Duration whole) {
  return whole.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0.0;
}

Json run_json(const PlannedRun& run) {
  Json json{{"candidate", run.labels},
            {"objective", run.objective},
            {"step_s", run.step_s},
            {"bound_s", run.bound_s},
            {"compute", share(run.mean.compute, run.makespan)},
            {"exposed_communication", share(run.mean.exposed_communication, run.makespan)},
            {"reconfiguration_wait", share(run.mean.reconfiguration_wait, run.makespan)},
            {"peer_wait", share(run.mean.peer_wait, run.makespan)}};
  if (run.memory_bytes) json["memory_bytes"] = *run.memory_bytes;
  if (run.usd) json["network_usd"] = *run.usd;
  if (run.power_w) json["network_power_w"] = *run.power_w;
  Json& set = json["set"] = Json::object();
  for (const Override& change : run.patch) set[change.pointer] = json::parse_json(change.value, change.pointer);
  return json;
}

}  // namespace

std::string plan_json(const Plan& plan, const PlanResult& result) {
  Json json{{"schema", "photonrail.plan_result/1"},
            {"name", plan.name},
            {"photonrail_version", version()},
            {"objective", plan.objective == PlanObjective::kStep ? "step" : "gpu_seconds_per_token"},
            {"candidates", result.candidates},
            {"simulated", result.simulated},
            {"reused", result.reused},
            {"excluded", result.excluded},
            {"open", result.open},
            {"failed", result.failed},
            {"gap", result.gap}};
  if (!result.nearest.empty()) json["nearest"] = result.nearest;
  Json& rejected = json["rejected"] = Json::object();
  for (const auto& [reason, count] : result.rejected) rejected[reason] = count;
  Json& best = json["best"] = Json::array();
  for (const PlannedRun& run : result.best) best.push_back(run_json(run));
  Json& worth = json["worth"] = Json::array();
  for (const PlanWorth& of : result.worth) {
    worth.push_back(
        Json{{"choice", of.choice}, {"value", of.value}, {"objective", of.objective}, {"simulated", of.simulated}});
  }
  return json.dump(2) + "\n";
}

}  // namespace photonrail::plan
