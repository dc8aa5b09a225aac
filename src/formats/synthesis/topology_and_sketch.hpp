// The tables of photonrail.topology/1 and photonrail.sketch/1.
#pragma once

#include "fields/places.hpp"

namespace photonrail::formats::synthesis {

extern const fields::Section kTopologySection;
extern const fields::Section kSketchSection;

/// Where the files have the fields that checks name: those of SynthesisTopology, and those of SynthesisSketch as its member
/// "sketch".
void add_places(fields::Places& places);

}  // namespace photonrail::formats::synthesis
