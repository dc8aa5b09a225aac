// What the readers of the "workload/serving" section share.
#pragma once

#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "serving/model_kernels.hpp"
#include "serving/pools.hpp"

#include <optional>
#include <string>
#include <vector>

namespace photonrail::config {

/// The values that lines of the tables take from the caller.
struct ServingContext : FileContext {
  ServingContext(const std::filesystem::path& folder, const ClusterSpec& of_job) : FileContext(folder), cluster(of_job) {}
  const ClusterSpec& cluster;
};

/// An engine as the file has it: its blocks may follow from its memory.
struct ServedEngine {
  serving::EngineSpec spec{};
  double memory_share = 0.9;
  double reserved_gb = 2.0;
  Bandwidth swap_rate{};
};

struct ServedPool {
  std::string name;
  serving::PoolRole role = serving::PoolRole::kMixed;
  std::vector<std::uint32_t> servers;
  std::uint32_t tp = 1;
  ServedEngine engine{};
  std::optional<JsonReader> times;
};

struct ServingFile {
  serving::ServedModel served{};
  serving::ServingSpec spec{};
  ServedEngine engine{};
  std::vector<ServedPool> pools;
};

}  // namespace photonrail::config
