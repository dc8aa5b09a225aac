// Where photonrail.topology/1 and photonrail.sketch/1 have the fields that checks name.
#pragma once

#include "fields/places.hpp"

namespace photonrail::formats::synthesis {

/// Those of SynthesisTopology, and those of SynthesisSketch as its member "sketch".
void add_places(fields::Places& places);

}  // namespace photonrail::formats::synthesis
