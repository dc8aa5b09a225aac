#include "photonrail/study/cost.hpp"
#include "commands.hpp"
#include "photonrail/config.hpp"
#include "read.hpp"
#include "report/cost_report.hpp"

#include <iostream>
#include <utility>

namespace photonrail::command {

using report::to_json;
using report::to_table;

namespace {

Pricing chosen(Pricing pricing, const CostOptions& options) {
  if (!options.catalogue.empty()) pricing.catalogue = price_catalogue(options.catalogue);
  if (!options.rule.empty()) pricing.rule = cost_rule(options.rule);
  return pricing;
}

std::string told(const Pricing& pricing) {
  return "prices: " + pricing.catalogue.name + ", rule " + std::string(name(pricing.rule)) + "; network only\n";
}

std::string of_clusters(const CostOptions& options) {
  const Pricing pricing = chosen({price_catalogue("h200_400g"), CostRule::kPhysical}, options);
  std::vector<std::uint32_t> sizes = options.gpus;
  if (sizes.empty()) sizes = {512, 1024, 2048, 4096, 8192};
  std::vector<FabricCost> rows;
  for (const std::uint32_t gpus : sizes) {
    const auto more = cost_of_fabrics(network_shape(pricing.catalogue, gpus), pricing);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return options.json ? to_json(rows) : told(pricing) + to_table(rows);
}

std::string of_scenario(const CostOptions& options, const Registries& known) {
  const Scenario scenario = read_one(options.scenario, options.set, known);
  const Pricing pricing = chosen(scenario.pricing.value(), options);
  return about(options.scenario, [&] {
    const NetworkShape shape = network_shape(scenario.cluster);
    const Bill bill = bill_of_materials(fabric_of(scenario.cluster, pricing.rule), shape, pricing);
    const std::vector<FabricCost> fabrics = cost_of_fabrics(shape, pricing);
    if (options.json) return to_json(bill, pricing, fabrics);
    return told(pricing) + to_table(bill) + "\nthe same servers and NICs with other networks:\n" + to_table(fabrics);
  });
}

}  // namespace

void cost(const CostOptions& options, const Registries& known) {
  std::error_code error;
  const bool results = std::filesystem::is_directory(options.scenario, error);
  std::cout << (options.scenario.empty() ? of_clusters(options)
                : results                ? report::cost_of_results(options.scenario, options.prices, options.json)
                                         : of_scenario(options, known));
}

}  // namespace photonrail::command
