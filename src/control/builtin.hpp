// The makers of the controllers that come with the library, for the table in registry.cpp.
#pragma once

#include "photonrail/controller.hpp"

#include <cstdint>
#include <memory>

namespace photonrail {

/// For PolicyNeeds::hops: a send may be forwarded over as many circuits as there are.
inline constexpr std::uint32_t kAnyHops = 1U << 20;

[[nodiscard]] std::unique_ptr<Controller> make_electrical(const ControllerSpec& spec, RailId rail,
                                                          std::uint32_t gpus_per_server, std::uint32_t ports_per_gpu);
[[nodiscard]] std::unique_ptr<Controller> make_static(const ControllerSpec& spec, RailId rail,
                                                      std::uint32_t gpus_per_server, std::uint32_t ports_per_gpu);
[[nodiscard]] std::unique_ptr<Controller> make_opus(const ControllerSpec& spec, RailId rail, std::uint32_t gpus_per_server,
                                                    std::uint32_t ports_per_gpu);
[[nodiscard]] ControllerFactory opus_artifact_factory();
[[nodiscard]] ControllerFactory oracle_factory();
[[nodiscard]] ControllerFactory coalesce_factory();
[[nodiscard]] PolicyNeeds opus_needs(const ControllerSpec& spec);

inline constexpr const char* kWidthSummary = "circuits of one pair at the most; 0: as its ports allow";

// Rows of the table, whole.
[[nodiscard]] ControllerFactory static_split_factory();
[[nodiscard]] ControllerFactory topoopt_factory();
[[nodiscard]] ControllerFactory rotor_factory();
[[nodiscard]] ControllerFactory max_weight_factory();
[[nodiscard]] ControllerFactory mixnet_factory();
[[nodiscard]] ControllerFactory bvn_factory();
[[nodiscard]] ControllerFactory solstice_factory();
[[nodiscard]] ControllerFactory harvest_factory();
[[nodiscard]] ControllerFactory lru_factory();

}  // namespace photonrail
