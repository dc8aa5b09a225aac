// Where photonrail.topology/1 and photonrail.sketch/1 have the fields that checks name.
#pragma once

#include "json/field_keys.hpp"

#include <span>

namespace photonrail::formats::synthesis {

[[nodiscard]] std::span<const json::FieldKey> topology_keys();  ///< of SynthesisTopology
[[nodiscard]] std::span<const json::FieldKey> sketch_keys();    ///< of SynthesisSketch

}  // namespace photonrail::formats::synthesis
