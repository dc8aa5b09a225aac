// The parts of a run of served requests share this state.
#pragma once

#include "serving/arrivals.hpp"
#include "serving/engine_run.hpp"
#include "serving/lending.hpp"
#include "serving/live_requests.hpp"
#include "serving/metrics.hpp"
#include "serving/pools.hpp"
#include "serving/router.hpp"
#include "serving/tokens.hpp"
#include "serving/waves.hpp"

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
