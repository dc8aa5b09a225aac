// Makes a world that goes wrong smaller, while it goes wrong in the same way.
#pragma once

#include "worlds/world.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace photonrail::worlds {

/// Scenarios that are simpler by one thing, the largest steps first: without a part, with a smaller number, with the first
/// of several. Not all of them are valid.
[[nodiscard]] std::vector<Json> simpler(const Json& scenario);

/// The smallest world that was found with at most `tries` calls of `still_wrong`.
[[nodiscard]] World shrink(World world, const std::function<bool(const World&)>& still_wrong, std::uint64_t tries);

}  // namespace photonrail::worlds
