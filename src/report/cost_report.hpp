// Bills of materials and comparisons of networks, as JSON and as tables for people.
#pragma once

#include "cost/ownership.hpp"
#include "photonrail/study/cost.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace photonrail::report {

/// An array of {"fabric", "gpus", "cost_usd", "power_w"}.
[[nodiscard]] std::string to_json(std::span<const FabricCost> rows);
/// The same with both in units, and each over the photonic rails of as many GPUs.
[[nodiscard]] std::string to_table(std::span<const FabricCost> rows);

/// One object: catalogue, rule, fabric, usd, power_w, bill; and `others` under "fabrics", as above.
[[nodiscard]] std::string to_json(const Bill& bill, const Pricing& pricing, std::span<const FabricCost> others);
/// Prices of whole clusters, and the tokens of a whole run; 0: it is not asked for.
struct ResultPrices {
  cost::OwnershipPrices prices{};
  double tokens = 0.0;
};
/// The rows of a folder of a sweep or of runs side by side, with what a step, 10^12 tokens and a run cost, as a table or as
/// JSON. Throws ConfigError.
[[nodiscard]] std::string cost_of_results(const std::filesystem::path& folder, const ResultPrices& options, bool json);

/// The lines of the bill, and its sum.
[[nodiscard]] std::string to_table(const Bill& bill);

}  // namespace photonrail::report
