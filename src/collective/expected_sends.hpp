// The size of a plan before it is made.
#pragma once

#include "photonrail/collective.hpp"

#include <string_view>

namespace photonrail::collective {

/// The sends of a plan, without making it: at least as many as it has, and at most some times as many. An algorithm that is
/// not known is taken to send from each member to each other one.
[[nodiscard]] double expected_sends(const CollectiveCall& call, std::string_view algorithm);

}  // namespace photonrail::collective
