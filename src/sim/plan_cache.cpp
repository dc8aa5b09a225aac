#include "sim/plan_cache.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail {

std::unique_ptr<const SendPlan> make_stream_plan(const SendPlan& plan) {
  const std::vector<MemberPair> pairs = plan.pairs(0);
  std::vector<Bytes> bytes(pairs.size());
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    const auto pair = std::lower_bound(pairs.begin(), pairs.end(), MemberPair{send.from, send.to});
    bytes[static_cast<std::size_t>(pair - pairs.begin())] += send.bytes;
  }
  SendPlanBuilder builder(plan.members(), 1);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    Send send;
    send.from = pairs[p].first;
    send.to = pairs[p].second;
    send.bytes = bytes[p];
    builder.add(send);
  }
  return std::move(builder).build();
}

// Whether every pair is busy from the first send to the last: then the bytes of a pair and the latencies of the longest
// chain are all that time is made of. A chain of hops is not so: a hop waits for the data of the one before.
bool is_steady(const SendPlan& plan) {
  if (plan.rounds() != 1 || plan.send_count() == plan.pairs(0).size()) return false;
  const std::vector<MemberPair> pairs = plan.pairs(0);
  const SendIndex per_pair = plan.send_count() / static_cast<SendIndex>(pairs.size());
  std::vector<bool> begins(pairs.size(), false);
  for (SendIndex i = 0; i < plan.initial_sends(); ++i) {
    const Send send = plan.send(i);
    const auto pair = std::lower_bound(pairs.begin(), pairs.end(), MemberPair{send.from, send.to});
    begins[static_cast<std::size_t>(pair - pairs.begin())] = true;
  }
  const auto even = [&](Member m) { return plan.sends_from(m, 0) % per_pair == 0 && plan.sends_to(m, 0) % per_pair == 0; };
  for (Member m = 0; m < plan.members(); ++m) {
    if (!even(m)) return false;
  }
  return std::find(begins.begin(), begins.end(), false) == begins.end();
}

const RunnablePlan& PlanCache::get(CollectiveCall call) {
  const auto [entry, fresh] = plans_.try_emplace({call.op, call.members, call.size.count, call.root});
  if (fresh) entry->second = make(call);
  return entry->second;
}

RunnablePlan PlanCache::make(const CollectiveCall& asked) const {
  CollectiveCall call = asked;
  call.pieces = call.op == CollectiveOp::kSend ? 1 : spec_.chunks;
  const auto op = static_cast<std::size_t>(call.op);
  const CollectiveAlgorithm& algorithm = registry_.find(spec_.algorithm[op]);
  if (!algorithm.supports(call.op, call.members)) {
    throw ConfigError("/collectives/" + std::string(name(call.op)),
                      "'" + std::string(algorithm.name()) + "' cannot do " + std::string(name(call.op)) + " among " +
                          std::to_string(call.members) + " ranks",
                      "choose another algorithm: photonrail list collectives");
  }
  RunnablePlan runnable;
  runnable.plan = algorithm.expand(call);
  if (fidelity_ == Fidelity::kStream && is_steady(*runnable.plan)) {
    runnable.latency_sends = runnable.plan->critical_sends();
    runnable.plan = make_stream_plan(*runnable.plan);
    runnable.stream = true;
  }
  for (Member m = 0; m < runnable.plan->members(); ++m) {
    if (runnable.plan->sends_from(m, 0) + runnable.plan->sends_to(m, 0) > 0) ++runnable.participants_of_round_0;
  }
  return runnable;
}

}  // namespace photonrail
