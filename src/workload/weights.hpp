// The weights of a model by layer, as a refit moves them.
#pragma once

#include "collective/refit/weight_map.hpp"
#include "photonrail/workload/model.hpp"

#include <vector>

namespace photonrail::workload {

/// The embedding, the layers (with those of modules that predict further tokens), the head; `element_bytes` for each
/// parameter, rounded to bytes a unit.
[[nodiscard]] std::vector<collective::WeightUnit> weight_units(const ModelSpec& model, double element_bytes);

}  // namespace photonrail::workload
