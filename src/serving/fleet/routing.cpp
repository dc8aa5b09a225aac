#include "photonrail/error.hpp"
#include "serving/fleet/pools.hpp"

#include <algorithm>

namespace photonrail::serving {

namespace {

template <class Measure>
std::size_t least(std::span<const EngineSignal> engines, Measure&& measure) {
  return static_cast<std::size_t>(
      std::min_element(engines.begin(), engines.end(),
                       [&](const EngineSignal& a, const EngineSignal& b) { return measure(a) < measure(b); }) -
      engines.begin());
}

std::uint32_t requests_of(const EngineSignal& engine) { return engine.requests; }

// Shares are compared, since engines of a pool may have unlike memories in times to come; then by requests.
std::pair<double, std::uint32_t> held_of(const EngineSignal& engine) {
  const auto all = static_cast<double>(engine.held_blocks + engine.free_blocks);
  return {all > 0.0 ? static_cast<double>(engine.held_blocks) / all : 0.0, engine.requests};
}

}  // namespace

std::size_t route(RoutePolicy policy, std::span<const EngineSignal> engines, const RouteQuestion& question) {
  PHOTONRAIL_CHECK(!engines.empty());
  switch (policy) {
    case RoutePolicy::kRoundRobin:
      return question.turn % engines.size();
    case RoutePolicy::kRandom:
      return question.draw % engines.size();
    case RoutePolicy::kLeastRequests:
      return least(engines, requests_of);
    case RoutePolicy::kPrefix: {
      const std::size_t idlest = least(engines, requests_of);
      const std::uint32_t most = 2 * engines[idlest].requests + 4;
      return least(engines, [&](const EngineSignal& e) {
        return std::pair(e.requests > most ? 1 : 0, std::pair(-static_cast<std::int64_t>(e.cached), e.requests));
      });
    }
    case RoutePolicy::kNearest:
      return least(engines, [&](const EngineSignal& e) {
        const bool full = e.free_blocks < question.blocks || e.requests >= e.places;
        return std::pair(std::pair(full, full ? 0 : e.distance), held_of(e));
      });
    case RoutePolicy::kSticky:
      if (question.pointed) {
        const EngineSignal& there = engines[*question.pointed];
        if (there.free_blocks >= question.blocks && there.requests < there.places) return *question.pointed;
      }
      break;
    case RoutePolicy::kLeastBlocks:
      break;
  }
  return least(engines, held_of);
}

bool ServingSpec::apart() const {
  return std::any_of(pools.begin(), pools.end(), [](const PoolSpec& pool) { return pool.role == PoolRole::kDecode; });
}

}  // namespace photonrail::serving
