#include "serving/serving_state.hpp"

namespace photonrail::serving {

namespace {

std::vector<EngineRun> engines_of(const ServingSpec& spec) {
  std::vector<EngineRun> engines;
  for (std::uint32_t p = 0; p < spec.pools.size(); ++p) {
    for (std::size_t i = 0; i < spec.pools[p].engines.size(); ++i) engines.emplace_back(spec, p, i);
  }
  return engines;
}

}  // namespace

ServingState::ServingState(const ServingSpec& of)
    : spec(of),
      apart(of.apart()),
      engines(engines_of(of)),
      lending(engines),
      waves(engines, lending),
      router(of.routing, of.seed),
      metrics(of.slo, of.warm_up, of.requests.classes) {
  std::uint32_t next = 0;
  for (const PoolSpec& pool : spec.pools) {
    first_of_pool.push_back(next);
    for (std::size_t i = 0; i < pool.engines.size(); ++i, ++next) {
      (pool.role == PoolRole::kDecode ? decode_engines : first_engines).push_back(next);
      if (pool.scaling && i >= pool.scaling->least) engines[next].set_state(EngineState::kOff, {});
    }
  }
}

Request ServingState::request_of(std::uint32_t number) const {
  const LiveRequest& live = requests[number];
  Request request;
  request.id = requests.id(number);
  request.content = live.offer.content;
  request.prompt = live.offer.prompt;
  request.output = live.offer.output;
  request.generated = live.generated;
  request.priority = live.offer.priority;
  request.keys = live.offer.keys;
  return request;
}

}  // namespace photonrail::serving
