// The plans of "direct" in which every member sends to every other one at once: all-gather, reduce-scatter, all-reduce.
#pragma once

#include "photonrail/collective.hpp"

namespace photonrail::collective {

[[nodiscard]] std::unique_ptr<const SendPlan> make_direct_shards(const CollectiveCall& call);

}  // namespace photonrail::collective
