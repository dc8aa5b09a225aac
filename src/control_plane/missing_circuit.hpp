// The text names what a message that lacks its circuit is waiting for, as the report on a run that cannot finish says it.
#pragma once

#include "control_plane/control_context.hpp"
#include "execution/circuit_service.hpp"

namespace photonrail::control_plane {

/// " waits for a circuit from rank 1 to rank 2", and why no controller can light it where a GPU on the way is another
/// job's. REQUIRES: the link's messages cross a rail.
[[nodiscard]] execution::MissingCircuits missing_circuit(const ControlContext& run, const execution::Operation& op,
                                                         const execution::Link& link);

}  // namespace photonrail::control_plane
