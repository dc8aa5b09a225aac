#include "sim/plan_cache.hpp"

#include "photonrail/error.hpp"

#include <string>

namespace photonrail {

namespace {

constexpr std::size_t kIdlePlans = 16;

}  // namespace

PlanCache::PlanCache(const CollectiveSpec& spec, const RunSpec& run, const CollectiveRegistry& registry,
                     const DemandSource* demands, Bytes reconfiguration)
    : spec_(spec),
      fidelity_(run.fidelity),
      seed_(run.seed),
      registry_(registry),
      demands_(demands),
      reconfiguration_(reconfiguration) {
  for (std::size_t op = 0; op < spec.algorithm.size(); ++op) {
    for (const auto& algorithm : registry.all()) {
      if (algorithm->name() == spec.algorithm[op]) expects_straggler_[op] = algorithm->expects_straggler();
    }
  }
}

const RunnablePlan& PlanCache::get(const CollectiveCall& call) {
  const auto [entry, fresh] = plans_.try_emplace({call.op, call.members, call.size.count, call.root, call.straggler});
  if (fresh) entry->second = make(call);
  return entry->second;
}

DemandQuery PlanCache::canonical(DemandQuery query) const {
  PHOTONRAIL_CHECK(demands_ != nullptr);
  query.seed = seed_;
  if (!demands_->drifts()) query.iteration = 0;
  return query;
}

const RunnablePlan& PlanCache::take(const CollectiveCall& call, DemandQuery query, std::span<const std::uint32_t> servers) {
  query = canonical(query);
  const auto [entry, fresh] = demand_plans_.try_emplace(query);
  if (fresh) entry->second.runnable.plan = demands_->plan(query, servers);
  if (fresh && entry->second.runnable.plan == nullptr) {
    const DemandMatrix demand = demands_->matrix(query);
    PHOTONRAIL_CHECK(demand.members() == call.members);
    CollectiveCall with_demand = call;
    with_demand.demand = &demand;
    entry->second.runnable = make(with_demand);
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

double PlanCache::flops(DemandQuery query, Member member) const { return demands_->flops(canonical(query), member); }

RunnablePlan PlanCache::make(const CollectiveCall& asked) const {
  CollectiveCall call = asked;
  call.pieces = call.op == CollectiveOp::kSend ? 1 : spec_.chunks;
  call.reconfiguration = reconfiguration_;
  const auto op = static_cast<std::size_t>(call.op);
  const CollectiveAlgorithm& algorithm = registry_.find(spec_.algorithm[op]);
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
  RunnablePlan runnable;
  runnable.plan = algorithm.expand(call);
  std::unique_ptr<const SendPlan> stream = fidelity_ == Fidelity::kStream ? runnable.plan->stream() : nullptr;
  if (stream != nullptr) {
    runnable.latency_sends = runnable.plan->critical_sends();
    runnable.plan = std::move(stream);
    runnable.stream = true;
  }
  for (Member m = 0; m < call.members; ++m) runnable.late += runnable.plan->starts_without(m) ? 1 : 0;
  return runnable;
}

}  // namespace photonrail
