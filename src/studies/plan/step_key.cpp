#include "studies/plan/step_key.hpp"

#include "config/scenario_parts.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"

#include <optional>

namespace photonrail::plan {

namespace {

using json::Json;

// The order of the dimensions that a training job has; none: the scenario says no order, or is no training job.
std::optional<Json> order_of(const Json& scenario) {
  const Json* const order = json::find_at(scenario, "/placement/order");
  const Json* const sizes = json::find_at(scenario, "/workload/training/parallelism");
  if (order == nullptr || !order->is_array() || sizes == nullptr || !sizes->is_object()) return std::nullopt;
  Json kept = Json::array();
  for (const Json& dimension : order->elements()) {
    const Json* const size = dimension.is_string() ? sizes->find(dimension.string()) : nullptr;
    if (size != nullptr && !(size->is_number() && size->number() == 1.0)) kept.push_back(dimension);
  }
  return kept;
}

}  // namespace

std::string step_key(const Plan& plan, const std::vector<Override>& patch, bool of_bound) {
  Json scenario = json::parse_json(plan.base, plan.file.string());
  config::apply_overrides(scenario, patch);
  const ClusterSpec cluster = config::read_cluster(json::JsonReader(scenario).child("cluster"), plan.base_directory);
  scenario["reliability"] = Json();
  if (of_bound || cluster.rail.kind == RailKind::kElectrical) scenario["controller"] = Json();
  if (of_bound) scenario["cluster"]["rail"] = Json();
  if (std::optional<Json> order = order_of(scenario)) scenario["placement"]["order"] = std::move(*order);
  return scenario.canonical();
}

}  // namespace photonrail::plan
