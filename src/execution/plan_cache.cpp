#include "execution/plan_cache.hpp"

#include "collective/merged_rounds.hpp"
#include "collective/spread.hpp"
#include "collective/written_plan.hpp"
#include "core/checked.hpp"
#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::execution {

using collective::merge_rounds;

namespace {

constexpr std::size_t kIdlePlans = 16;

/// Returns what a port could send while it is re-pointed.
Bytes lost_to_reconfiguration(const CostModel& costs) {
  if (!costs.optical()) return {};
  const double seconds = to_seconds(*costs.reconfiguration);
  return core::clamped_bytes(seconds * costs.rail.rate.bytes_per_second / costs.ports);
}

std::vector<std::vector<Bytes>> pair_bytes(const SendPlan& plan) {
  std::vector<std::vector<MemberPair>> pairs(plan.rounds());
  std::vector<std::vector<Bytes>> bytes(plan.rounds());
  for (std::uint32_t round = 0; round < plan.rounds(); ++round) {
    pairs[round] = plan.pairs(round);
    bytes[round].resize(pairs[round].size());
  }
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    const std::vector<MemberPair>& of = pairs[send.round];
    const auto found = std::lower_bound(of.begin(), of.end(), MemberPair{send.from, send.to});
    if (found == of.end() || *found != MemberPair{send.from, send.to}) continue;  // a local step
    bytes[send.round][static_cast<std::size_t>(found - of.begin())].count += send.bytes.count;
  }
  return bytes;
}

void count_work(RunnablePlan& runnable, Member members) {
  const SendPlan& plan = *runnable.plan;
  runnable.pairs_again = plan.rounds() <= 1 && plan.send_count() > 1 && plan.send_count() != plan.pairs(0).size();
  runnable.work.assign(members, 1);
  if (std::uint64_t{plan.rounds()} * members > plan.send_count()) {
    for (SendIndex i = 0; i < plan.send_count(); ++i) {
      const Send send = plan.send(i);
      ++runnable.work[send.from];
      ++runnable.work[send.to % members];
    }
    return;
  }
  for (std::uint32_t r = 0; r < plan.rounds(); ++r) {
    for (Member m = 0; m < members; ++m) runnable.work[m] += plan.sends_from(m, r) + plan.sends_to(m, r);
  }
}

/// Returns how many sends follow each other on a pair for each send of the longest chain, of a plan whose pairs are all
/// busy.
std::uint32_t pieces_of(const SendPlan& plan) {
  const std::vector<MemberPair> pairs = plan.pairs(0);
  const Member from = pairs.front().first;
  const auto own = [from](const MemberPair& pair) { return pair.first == from; };
  const std::uint64_t ways =
      static_cast<std::uint64_t>(std::count_if(pairs.begin(), pairs.end(), own)) * plan.critical_sends();
  return static_cast<std::uint32_t>((plan.sends_from(from, 0) + ways - 1) / ways);
}

/// Its number among those seen, in the order of their coming.
std::uint32_t number_of(std::map<std::uint32_t, std::uint32_t>& seen, std::uint32_t what) {
  return seen.try_emplace(what, static_cast<std::uint32_t>(seen.size())).first->second;
}

}  // namespace

PlanCache::PlanCache(const collective::AlgorithmTable& algorithms, const TrafficSource* traffic, PlanOptions options)
    : algorithms_(algorithms), traffic_(traffic), options_(std::move(options)) {}

// Groups that lie alike on servers and rails share a layout, and by it their plans: servers and rails are numbered in the
// order in which the group meets them, so that the same shape elsewhere in the cluster gives the same numbers.
LayoutId PlanCache::layout(std::span<const GpuId> gpus, std::uint32_t gpus_per_server, const MemberBox& box) {
  bool placed = false;
  for (std::size_t op = 0; op < kCollectiveOpCount; ++op) placed = placed || places_matter(static_cast<CollectiveOp>(op));
  if (!placed) return 0;
  std::map<std::uint32_t, std::uint32_t> servers;
  std::map<std::uint32_t, std::uint32_t> rails;
  Layout layout{{}, box};
  for (const GpuId gpu : gpus) {
    layout.places.push_back(
        {number_of(servers, gpu.value / gpus_per_server), number_of(rails, gpu.value % gpus_per_server)});
  }
  if (servers.size() == gpus.size() && rails.size() == 1) return 0;
  const auto [entry, fresh] = layout_ids_.try_emplace(layout, static_cast<LayoutId>(layouts_.size()));
  if (fresh) layouts_.push_back(std::move(layout));
  return entry->second;
}

// Plans are pure functions of their key, and the addresses of entries of the map stay, so that operations point to them.
const RunnablePlan& PlanCache::get(const CollectiveCall& call, LayoutId layout, Member period) {
  if (!places_matter(call.op)) layout = 0;
  const auto [entry, fresh] =
      plans_.try_emplace({call.op, call.members, call.size.count, call.root, layout, call.straggler, period});
  if (fresh) entry->second = make(call, layout, period);
  return entry->second;
}

// Traffic that does not drift is the same in every iteration, and one plan serves all of them.
DemandQuery PlanCache::canonical(DemandQuery query) const {
  PHOTONRAIL_CHECK(traffic_ != nullptr);
  query.seed = options_.seed;
  if (!traffic_->drifts()) query.iteration = 0;
  return query;
}

const RunnablePlan& PlanCache::take(const CollectiveCall& call, DemandQuery query, std::span<const std::uint32_t> servers,
                                    LayoutId layout) {
  query = canonical(query);
  const auto [entry, fresh] = demand_plans_.try_emplace(query);
  if (fresh) entry->second.runnable.plan = traffic_->plan(query, servers);
  if (fresh && entry->second.runnable.plan != nullptr) count_work(entry->second.runnable, call.members);
  if (fresh && entry->second.runnable.plan == nullptr) {
    const TrafficMatrix demand = traffic_->matrix(query);
    PHOTONRAIL_CHECK(demand.members() == call.members);
    CollectiveCall with_demand = call;
    with_demand.demand = &demand;
    entry->second.runnable = make(with_demand, layout, call.members);
  }
  if (fresh && options_.pair_bytes && entry->second.runnable.pair_bytes.empty()) {
    entry->second.runnable.pair_bytes = pair_bytes(*entry->second.runnable.plan);
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

double PlanCache::flops(DemandQuery query, Member member) const { return traffic_->flops(canonical(query), member); }

const CollectiveAlgorithm& PlanCache::choose(const CollectiveCall& call) {
  const std::vector<CollectiveCandidate> ranked = rank_collectives(algorithms_.registry(), call, options_.costs);
  if (ranked.empty() || !ranked.front().problem.empty()) {
    throw core::FieldError(collective::algorithm_field(call.op),
                           "no algorithm can do " + std::string(name(call.op)) + " among " +
                               core::counted(call.members, "rank") + " on these rails" +
                               (ranked.empty() ? "" : "; " + describe(ranked.front(), options_.costs)),
                           "photonrail list collectives --explain says what each needs");
  }
  std::string line = std::string(name(call.op)) + " among " + core::counted(call.members, "rank") +
                     (call.demand != nullptr ? " with uneven demand" : ", " + core::counted(call.size.count, "byte")) +
                     ": auto took " + describe(ranked[0], options_.costs);
  if (ranked.size() > 1 && ranked[1].problem.empty()) line += "; next " + describe(ranked[1], options_.costs);
  if (std::find(choices_.begin(), choices_.end(), line) == choices_.end()) choices_.push_back(std::move(line));
  return *ranked.front().algorithm;
}

// On circuits, rounds whose members lie on different rails need no common instant, and are merged: each rail then turns its
// circuits as rarely as possible.
std::unique_ptr<const SendPlan> PlanCache::expand(CollectiveCall call, LayoutId layout) {
  call.ports = options_.costs.ports;
  call.places = layouts_[layout].places;
  call.box = layouts_[layout].box;
  // Links inside a server are not re-pointed.
  if (collective::spread_of(call) != collective::Spread::kServer)
    call.reconfiguration = lost_to_reconfiguration(options_.costs);
  call.pieces = call.op == CollectiveOp::kSend ? 1 : spec().chunks;
  const CollectiveAlgorithm& algorithm = algorithms_.chooses(call.op) ? choose(call) : algorithms_.supporting(call);
  std::unique_ptr<const SendPlan> plan = algorithms_.expand(algorithm, call);
  const bool merges = options_.costs.optical() && layout != 0;
  return merges ? merge_rounds(std::move(plan), layouts_[layout].places) : std::move(plan);
}

RunnablePlan PlanCache::make(const CollectiveCall& call, LayoutId layout, Member period) {
  RunnablePlan runnable;
  runnable.plan = expand(call, layout);
  if (period != call.members) runnable.plan = runnable.plan->folded(period);
  PHOTONRAIL_CHECK(runnable.plan != nullptr);
  // A stream stands for all sends of a pair; what it leaves out of their latencies, add_steps() puts back. On a grid of
  // links the sends of a pair share links with those of other pairs in ways that one flow does not tell.
  const bool streams = options_.fidelity == Fidelity::kStream && !(options_.grids && layout != 0);
  std::unique_ptr<const SendPlan> stream = streams ? runnable.plan->stream() : nullptr;
  if (stream != nullptr) {
    runnable.latency_sends = runnable.plan->critical_sends();
    runnable.pieces = pieces_of(*runnable.plan);
    runnable.plan = std::move(stream);
    runnable.stream = true;
  }
  if (call.demand == nullptr) runnable.plan = collective::written_out(std::move(runnable.plan));
  if (options_.pair_bytes) runnable.pair_bytes = pair_bytes(*runnable.plan);
  count_work(runnable, period);
  for (Member m = 0; m < period; ++m) runnable.late += runnable.plan->starts_without(m) ? 1 : 0;
  return runnable;
}

}  // namespace photonrail::execution
