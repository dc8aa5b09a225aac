// The parts of a run of served requests share this state.
#pragma once

#include "serving/fleet/engine_run.hpp"
#include "serving/fleet/pools.hpp"
#include "serving/fleet/router.hpp"
#include "serving/fleet/waves.hpp"
#include "serving/kv/lending.hpp"
#include "serving/requests/arrivals.hpp"
#include "serving/requests/live_requests.hpp"
#include "serving/requests/metrics.hpp"
#include "serving/tokens.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace photonrail::serving {

struct ServingState {
  explicit ServingState(const ServingSpec& of);

  /// An engine may begin a step.
  void touch(std::uint32_t engine) {
    if (std::find(touched.begin(), touched.end(), engine) == touched.end()) touched.push_back(engine);
  }
  [[nodiscard]] Request request_of(std::uint32_t number) const;
  [[nodiscard]] EngineRun& prefill_of(std::uint32_t number) { return engines[requests[number].times.prefill_engine]; }
  [[nodiscard]] EngineRun& decode_of(std::uint32_t number) { return engines[requests[number].times.decode_engine]; }

  const ServingSpec& spec;
  const bool apart;  ///< prefill and decode are
  Time now{};
  std::vector<EngineRun> engines;
  std::vector<std::uint32_t> first_of_pool;  ///< its first engine
  std::vector<std::uint32_t> first_engines;  ///< that take arrivals
  std::vector<std::uint32_t> decode_engines;
  Lending lending;
  Waves waves;
  Router router;
  LiveRequests requests;
  Metrics metrics;
  std::vector<std::uint32_t> touched;
};

}  // namespace photonrail::serving
