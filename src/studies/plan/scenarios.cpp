// The files that the best candidate becomes.
#include "config/scenario_parts.hpp"
#include "json/text.hpp"
#include "photonrail/study/plan.hpp"

#include <utility>

namespace photonrail {

std::string planned_scenario(const Plan& plan, const PlannedRun& run) {
  json::Json scenario = json::parse_json(plan.base, plan.file.string());
  config::apply_overrides(scenario, run.patch);
  std::string name = plan.name;
  for (const std::string& label : run.labels) name += ": " + label;
  scenario["name"] = name;
  return scenario.dump(2) + "\n";
}

std::string sweep_around(const Plan& plan, const PlanResult& result) {
  json::Json sweep{{"schema", "photonrail.sweep/1"},
                   {"name", "around the best of " + plan.name},
                   {"why", "What does each change of one choice of the best candidate cost?"},
                   {"base", json::parse_json(planned_scenario(plan, result.best.front()), plan.file.string())}};
  json::Json variants = json::Json::object();
  for (const PlanValue& value : result.around) {
    json::Json& set = variants[value.label] = json::Json::object();
    for (const Override& change : value.patch) set[change.pointer] = json::parse_json(change.value, change.pointer);
  }
  sweep["axes"] = json::Json::array();
  sweep["axes"].push_back(json::Json{{"name", "candidate"}, {"variants", std::move(variants)}});
  return sweep.dump(2) + "\n";
}

}  // namespace photonrail
