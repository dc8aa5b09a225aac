// What the readers of the "workload/serving" section share.
#pragma once

#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "serving/engine/model_kernels.hpp"
#include "serving/fleet/pools.hpp"

#include <optional>
#include <string>
#include <vector>

namespace photonrail::config {

extern const fields::Section kServedRequestsSection;

/// The values that lines of the tables take from the caller.
struct ServingContext : FileContext {
  ServingContext(const std::filesystem::path& folder, const ClusterSpec& of_job, const SchedulerRegistry* names = nullptr)
      : FileContext(folder), cluster(of_job), schedulers(names) {}
  const ClusterSpec& cluster;
  const SchedulerRegistry* schedulers;  ///< null: engines have no scheduler of their own
};

/// An engine as the file has it: its blocks may follow from its memory.
struct ServedEngine {
  serving::EngineSpec spec{};
  double memory_share = 0.9;
  double reserved_gb = 2.0;
  Bandwidth swap_rate{};
};

/// Where preempted KV goes: "host", or the name of a pool.
struct ServedOffload {
  serving::OffloadSpec spec{};
  std::string to = "host";
};

struct ServedPool {
  std::string name;
  serving::PoolRole role = serving::PoolRole::kMixed;
  std::vector<std::uint32_t> servers;
  std::uint32_t tp = 0;  ///< 0: that of the section; the next two too
  std::uint32_t pp = 0;
  std::uint32_t dp = 0;
  std::uint32_t ep = 0;  ///< 0: as `dp`
  std::optional<serving::ScalingSpec> scaling{};
  std::optional<ServedOffload> offload{};
  ServedEngine engine{};
  std::optional<JsonReader> times;
};

struct ServingFile {
  serving::ServedModel served{};
  serving::ServingSpec spec{};
  ServedEngine engine{};
  std::vector<ServedPool> pools;
  std::uint32_t tp = 0;  ///< of pools that say none; 0: 1
  std::uint32_t pp = 0;
  std::uint32_t dp = 0;
  bool flows = false;  ///< collectives of a step are traffic
};

/// Throws ConfigError for settings without an effect, and where no request could ever be served.
void check_served(const JsonReader& section, const ServingFile& file);
/// Gives pools what they leave to the section and to each other: sizes and servers. Throws ConfigError.
void settle_pools(const JsonReader& section, const ClusterSpec& cluster, ServingFile& file);

}  // namespace photonrail::config
