#include "run/least_times.hpp"

#include "run/operation_bound.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::run {

namespace {

constexpr SendIndex kMostSends = 1 << 16;  // of a plan that is looked at

}  // namespace

LeastTimes::LeastTimes(const Scenario& scenario, const Registries& registries, const folding::Folding& folding)
    : scenario_(scenario), folding_(folding), algorithms_(scenario.collectives, registries.collectives) {}

Duration LeastTimes::of(RankId rank, const Task& task) {
  const std::span<const GpuId> group = folding_.placement.group(folding_.graph.communicator(rank, task.slot));
  const ClusterSpec& cluster = scenario_.cluster;
  const bool one_server = group.front().value / cluster.gpus_per_server == group.back().value / cluster.gpus_per_server;
  CollectiveCall call;
  call.op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
  call.members = static_cast<Member>(group.size());
  call.size = task.size();
  call.root = task.root();
  call.ports = one_server ? 1 : cluster.nic.ports;
  const auto [entry, fresh] = known_.try_emplace({call.op, call.size.count, call.root, call.members, one_server});
  if (fresh) {
    const Bandwidth rate =
        one_server ? cluster.scale_up.of_gpu() : Bandwidth{cluster.nic.per_port.bytes_per_second * cluster.nic.ports};
    entry->second = std::max(Duration{}, least_time(least_bytes(std::move(call), one_server), rate) - Duration{1});
  }
  return entry->second;
}

Bytes LeastTimes::least_bytes(CollectiveCall call, bool one_server) const {
  if (call.op == CollectiveOp::kSend) return call.size;
  for (Member m = 0; one_server && algorithms_.uses_places(call.op) && m < call.members; ++m) call.places.push_back({0, m});
  std::unique_ptr<const SendPlan> plan = algorithms_.expand(algorithms_.supporting(call), call);
  if (std::unique_ptr<const SendPlan> stream = plan->stream()) plan = std::move(stream);
  if (plan->send_count() > kMostSends) return {};
  std::vector<std::int64_t> sent(call.members);
  std::vector<std::int64_t> received(call.members);
  for (SendIndex i = 0; i < plan->send_count(); ++i) {
    const Send send = plan->send(i);
    if (send.from == send.to) continue;
    sent[send.from] += send.bytes.count;
    received[send.to] += send.bytes.count;
  }
  std::int64_t least = std::max(sent[0], received[0]);
  for (Member m = 1; m < call.members; ++m) least = std::min(least, std::max(sent[m], received[m]));
  return Bytes{least};
}

std::optional<execution::TailBound> tail_bound(const execution::SlackRecorder& recorder, const Scenario& scenario,
                                               const Registries& registries, const folding::Folding& folding) {
  const auto& shares = scenario.executor.sm_share;
  const bool steady = std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0.0; });
  if (!steady || !scenario.cluster.unlike.empty()) return std::nullopt;
  LeastTimes least(scenario, registries, folding);
  return recorder.tail(
      {.operation = [&least](RankId rank, const Task& task) { return least.of(rank, task); },
       .compute = [](const Task& task,
                     Duration here) { return task.stream == Stream::kGpu && task.demand() == 0 ? here : Duration{}; },
       .buffered = scenario.executor.buffered_send});
}

}  // namespace photonrail::run
