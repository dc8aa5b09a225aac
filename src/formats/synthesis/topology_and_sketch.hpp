// The tables of photonrail.topology/1 and photonrail.sketch/1.
#pragma once

#include "collective/synthesis/synthesis.hpp"
#include "fields/places.hpp"

#include <filesystem>

namespace photonrail::formats::synthesis {

extern const fields::Section kTopologySection;
extern const fields::Section kSketchSection;

/// Where the files have the fields that checks name: those of SynthesisTopology, and those of SynthesisSketch as its member
/// "sketch".
void add_places(fields::Places& places);

/// `photonrail.topology/1` and `photonrail.sketch/1` (docs/reference/topology.md). Throw ConfigError at the JSON pointer.
[[nodiscard]] photonrail::synthesis::SynthesisTopology read_synthesis_topology(const std::filesystem::path& file);
[[nodiscard]] photonrail::synthesis::SynthesisSketch read_synthesis_sketch(const std::filesystem::path& file);

}  // namespace photonrail::formats::synthesis
