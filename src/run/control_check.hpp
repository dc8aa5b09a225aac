// Does a control plane make sense?
#pragma once

#include "photonrail/control/control_plane.hpp"

#include <cstddef>
#include <cstdint>

namespace photonrail::run {

/// Throws core::FieldError about the control plane.
void check_control_plane(const ControlPlaneSpec& spec, std::uint32_t rails, std::size_t ranks);

}  // namespace photonrail::run
