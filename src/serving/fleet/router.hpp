// Asks RoutePolicy for an engine: by what is known of engines at the time, and of those that take requests.
#pragma once

#include "photonrail/core/random.hpp"
#include "serving/fleet/engine_run.hpp"
#include "serving/fleet/pools.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::serving {

class Router {
 public:
  Router(const RoutingSpec& spec, std::uint64_t seed) : spec_(spec), draws_(seed, "serving routes") {}

  /// One of the `candidates` among `engines`; none where none of them takes requests. `from`: the engine that has the KV.
  [[nodiscard]] std::optional<std::uint32_t> choose(std::span<const EngineRun> engines,
                                                    std::span<const std::uint32_t> candidates, RoutePolicy policy,
                                                    const Request& request, const EngineRun* from, Time now);

 private:
  void look(std::span<const EngineRun> engines, Time now);

  RoutingSpec spec_;
  RandomStream draws_;
  struct Turns {  // apart: requests and their KV come by turns
    std::uint64_t arrivals = 0;
    std::uint64_t kv = 0;
  } turns_;
  Time seen_ = Time::never();          // when blocks were looked at
  std::vector<EngineSignal> signals_;  // as they were then
};

}  // namespace photonrail::serving
