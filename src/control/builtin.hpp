// The controllers that come with the library: the rows of the table in registry.cpp, each from the file of its policy.
#pragma once

#include "photonrail/controller.hpp"

#include <cstdint>

namespace photonrail::control {

/// For PolicyNeeds::hops: a send may be forwarded over as many circuits as there are.
inline constexpr std::uint32_t kAnyHops = 1U << 20;

inline constexpr const char* kWidthSummary = "circuits of one pair at the most; 0: as its ports allow";

[[nodiscard]] ControllerFactory electrical_factory();
[[nodiscard]] ControllerFactory static_factory();
[[nodiscard]] ControllerFactory opus_factory();
[[nodiscard]] ControllerFactory opus_artifact_factory();
[[nodiscard]] ControllerFactory oracle_factory();
[[nodiscard]] ControllerFactory coalesce_factory();

[[nodiscard]] ControllerFactory static_split_factory();
[[nodiscard]] ControllerFactory topoopt_factory();
[[nodiscard]] ControllerFactory rotor_factory();
[[nodiscard]] ControllerFactory max_weight_factory();
[[nodiscard]] ControllerFactory mixnet_factory();
[[nodiscard]] ControllerFactory bvn_factory();
[[nodiscard]] ControllerFactory solstice_factory();
[[nodiscard]] ControllerFactory harvest_factory();
[[nodiscard]] ControllerFactory lru_factory();
[[nodiscard]] ControllerFactory phases_factory();
[[nodiscard]] ControllerFactory polling_factory();

}  // namespace photonrail::control
