// Facts of rails and collectives that a bound may take for granted.
#pragma once

#include "json/json_reader.hpp"
#include "studies/plan/bound.hpp"

#include <filesystem>
#include <optional>

namespace photonrail::plan {

/// Until a NIC that receives from one other receives from another one; 0 where it has a circuit to both, or needs none.
[[nodiscard]] Duration least_switching(const ClusterSpec& cluster);

/// Of the section "collectives". Without it every operation that can is a ring.
[[nodiscard]] RingOps rings_of(const std::optional<json::JsonReader>& section, const std::filesystem::path& directory);

}  // namespace photonrail::plan
