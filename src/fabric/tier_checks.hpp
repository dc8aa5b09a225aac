// Checks of what joins the leaves of electrical rails, as parts of ClusterSpec::validate().
#pragma once

#include "photonrail/cluster.hpp"

#include <cstddef>

namespace photonrail::fabric {

/// Throws core::FieldError, as the functions below.
void require_uplinks(const RailSpec& rail);
/// Checks that there is one share for each uplink, and that they add up to 1. REQUIRES: require_uplinks() passed.
void require_shares(const ClusterSpec& cluster);
/// Checks what makes the fault with this number one of uplinks, if it is one.
void require_uplink_fault(const ClusterSpec& cluster, std::size_t number);

/// The same for one of a link between sites.
void require_link_fault(const ClusterSpec& cluster, std::size_t number);
void require_sites(const ClusterSpec& cluster);

}  // namespace photonrail::fabric
