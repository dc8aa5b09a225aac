// Bills of materials and comparisons of networks, as JSON and as tables for people.
#pragma once

#include "photonrail/study/cost.hpp"

#include <span>
#include <string>

namespace photonrail::report {

/// An array of {"fabric", "gpus", "cost_usd", "power_w"}.
[[nodiscard]] std::string to_json(std::span<const FabricCost> rows);
/// The same with both in units, and each over the photonic rails of as many GPUs.
[[nodiscard]] std::string to_table(std::span<const FabricCost> rows);

/// One object: catalogue, rule, fabric, usd, power_w, bill; and `others` under "fabrics", as above.
[[nodiscard]] std::string to_json(const Bill& bill, const Pricing& pricing, std::span<const FabricCost> others);
/// The lines of the bill, and its sum.
[[nodiscard]] std::string to_table(const Bill& bill);

}  // namespace photonrail::report
