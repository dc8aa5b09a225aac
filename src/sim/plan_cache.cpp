#include "sim/plan_cache.hpp"

#include "photonrail/error.hpp"

#include <string>

namespace photonrail {

const RunnablePlan& PlanCache::get(const CollectiveCall& call, Member period) {
  const auto [entry, fresh] = plans_.try_emplace({call.op, call.members, call.size.count, call.root, period});
  if (fresh) entry->second = make(call, period);
  return entry->second;
}

std::unique_ptr<const SendPlan> PlanCache::expand(CollectiveCall call) const {
  call.pieces = call.op == CollectiveOp::kSend ? 1 : spec_.chunks;
  const auto op = static_cast<std::size_t>(call.op);
  const CollectiveAlgorithm& algorithm = registry_.find(spec_.algorithm[op]);
  if (!algorithm.supports(call.op, call.members)) {
    throw ConfigError("/collectives/" + std::string(name(call.op)),
                      "'" + std::string(algorithm.name()) + "' cannot do " + std::string(name(call.op)) + " among " +
                          std::to_string(call.members) + " ranks",
                      "choose another algorithm: photonrail list collectives");
  }
  return algorithm.expand(call);
}

RunnablePlan PlanCache::make(const CollectiveCall& call, Member period) const {
  RunnablePlan runnable;
  runnable.plan = expand(call);
  if (period != call.members) runnable.plan = runnable.plan->folded(period);
  PHOTONRAIL_CHECK(runnable.plan != nullptr);
  if (fidelity_ == Fidelity::kExact) return runnable;
  if (std::unique_ptr<const SendPlan> stream = runnable.plan->stream()) {
    runnable.latency_sends = runnable.plan->critical_sends();
    runnable.plan = std::move(stream);
    runnable.stream = true;
  }
  return runnable;
}

}  // namespace photonrail
