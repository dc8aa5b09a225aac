#include "sim/plan_cache.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail {

namespace {

constexpr std::size_t kIdlePlans = 16;

// What a port could send while it is re-pointed.
Bytes reconfiguration_bytes(const ClusterSpec& cluster) {
  if (cluster.rail.kind != RailKind::kOptical) return {};
  const OpticalSwitchSpec& optical = cluster.rail.optical;
  const double seconds = to_seconds(optical.reconfiguration.typical() + optical.link_up);
  return {static_cast<std::int64_t>(std::min(seconds * cluster.nic.per_port.bytes_per_second, 1e18))};
}

}  // namespace

PlanCache::PlanCache(const CollectiveSpec& spec, const RunSpec& run, const CollectiveRegistry& registry,
                     const ClusterSpec& cluster, const DemandSource* demands)
    : spec_(spec),
      fidelity_(run.fidelity),
      seed_(run.seed),
      registry_(registry),
      demands_(demands),
      reconfiguration_(reconfiguration_bytes(cluster)) {
  for (std::size_t op = 0; op < spec.algorithm.size(); ++op) {
    for (const auto& algorithm : registry.all()) {
      if (algorithm->name() == spec.algorithm[op]) expects_straggler_[op] = algorithm->expects_straggler();
    }
  }
}

const RunnablePlan& PlanCache::get(const CollectiveCall& call, Member period) {
  const auto [entry, fresh] =
      plans_.try_emplace({call.op, call.members, call.size.count, call.root, call.straggler, period});
  if (fresh) entry->second = make(call, period);
  return entry->second;
}

DemandQuery PlanCache::canonical(DemandQuery query) const {
  PHOTONRAIL_CHECK(demands_ != nullptr);
  query.seed = seed_;
  if (!demands_->drifts()) query.iteration = 0;
  return query;
}

const RunnablePlan& PlanCache::take(const CollectiveCall& call, DemandQuery query) {
  query = canonical(query);
  const auto [entry, fresh] = demand_plans_.try_emplace(query);
  if (fresh) {
    const DemandMatrix demand = demands_->matrix(query);
    PHOTONRAIL_CHECK(demand.members() == call.members);
    CollectiveCall with_demand = call;
    with_demand.demand = &demand;
    entry->second.runnable = make(with_demand, call.members);
  }
  if (!fresh && entry->second.users == 0) std::erase(idle_, query);
  ++entry->second.users;
  return entry->second.runnable;
}

void PlanCache::give_back(DemandQuery query) {
  query = canonical(query);
  const auto entry = demand_plans_.find(query);
  PHOTONRAIL_CHECK(entry != demand_plans_.end() && entry->second.users > 0);
  if (--entry->second.users > 0) return;
  idle_.push_back(query);
  if (idle_.size() <= kIdlePlans) return;
  demand_plans_.erase(idle_.front());
  idle_.pop_front();
}

std::unique_ptr<const SendPlan> PlanCache::expand(CollectiveCall call) const {
  call.pieces = call.op == CollectiveOp::kSend ? 1 : spec_.chunks;
  call.reconfiguration = reconfiguration_;
  const CollectiveAlgorithm& algorithm = this->algorithm(call.op);
  if (!algorithm.supports(call.op, call.members)) {
    throw ConfigError("/collectives/" + std::string(name(call.op)),
                      "'" + std::string(algorithm.name()) + "' cannot do " + std::string(name(call.op)) + " among " +
                          std::to_string(call.members) + " ranks",
                      "choose another algorithm: photonrail list collectives");
  }
  if (call.demand != nullptr && !algorithm.takes_demand()) {
    throw ConfigError("/collectives/" + std::string(name(call.op)),
                      "'" + std::string(algorithm.name()) + "' sends even shares, but the job has uneven demands",
                      "choose one that takes a demand, such as pairwise");
  }
  return algorithm.expand(call);
}

RunnablePlan PlanCache::make(const CollectiveCall& call, Member period) const {
  RunnablePlan runnable;
  runnable.plan = expand(call);
  if (period != call.members) runnable.plan = runnable.plan->folded(period);
  PHOTONRAIL_CHECK(runnable.plan != nullptr);
  std::unique_ptr<const SendPlan> stream = fidelity_ == Fidelity::kStream ? runnable.plan->stream() : nullptr;
  if (stream != nullptr) {
    runnable.latency_sends = runnable.plan->critical_sends();
    runnable.plan = std::move(stream);
    runnable.stream = true;
  }
  for (Member m = 0; m < period; ++m) runnable.late += runnable.plan->starts_without(m) ? 1 : 0;
  return runnable;
}

}  // namespace photonrail
