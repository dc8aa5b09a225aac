#include "studies/plan/program_path.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::plan {

namespace {

Duration least_transfer(double bytes, double bytes_per_second) {
  return Duration{static_cast<std::int64_t>(std::floor(bytes * 1e12 / bytes_per_second))};
}

/// What a member of a call has to receive, or to send, in all, and from other servers, of which each has `in_server` of
/// the members: shards of others, and sums of what others have. Sums may be made inside a server, and what several of its
/// GPUs need has to come into it once; so that the members of a server share what they need from outside.
struct LeastBytes {
  double all = 0.0;
  double outside = 0.0;
};
LeastBytes least_bytes(const Task& task, double members, double in_server) {
  const double size = static_cast<double>(task.size().count);
  const double others = members - in_server;
  switch (task.op) {
    case CollectiveOp::kAllReduce:
      return {size, others > 0.0 ? size / in_server : 0.0};
    case CollectiveOp::kAllGather:
      return {size * (members - 1.0), size * others / in_server};
    case CollectiveOp::kReduceScatter:
      return {size / members * (members - 1.0), size / members * others / in_server};
    case CollectiveOp::kAllToAll:
      if (task.demand() != 0) return {};
      return {size / members * (members - 1.0), size / members * others};
    default:
      return {};
  }
}

}  // namespace

ProgramPath::ProgramPath(const TaskGraph& graph, RankId rank, const ClusterSpec& cluster, const PathFacts& facts)
    : program_(graph.program(rank)), cluster_(cluster), facts_(facts) {
  const auto server = [&cluster](RankId r) { return r.value / cluster.gpus_per_server; };
  std::vector<bool> joins_stages;
  for (const CommunicatorId id : graph.slots(rank)) {
    const Communicator& group = graph.communicators()[id.index()];
    members_.push_back(static_cast<std::uint32_t>(group.members.size()));
    const auto near = std::count_if(group.members.begin(), group.members.end(),
                                    [&](RankId other) { return server(other) == server(rank); });
    in_server_.push_back(facts.in_order ? static_cast<std::uint32_t>(near) : 0);
    joins_stages.push_back(group.point_to_point && group.dimension == Dimension::kPp);
  }
  const std::span<const Task> tasks = program_.tasks();
  is_free_.resize(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Task& task = tasks[t];
    if (task.kind == TaskKind::kCompute) {
      least_.push_back(compute(task));
      continue;
    }
    const bool message = joins_stages[task.slot];
    is_free_[t] = message && task.kind == TaskKind::kReceive && !facts.posts_in_turn;
    if (message && task.kind == TaskKind::kSend) sent_.emplace_back(t);
    if (message && task.kind == TaskKind::kReceive) received_.emplace_back(t);
    measure(task, in_server_[task.slot], message);
  }
}

Duration ProgramPath::compute(const Task& task) const {
  if (task.stream != Stream::kGpu || task.demand() != 0) return {};
  return task.time() ? *task.time() : cluster_.gpu.compute_time(task.flops, task.memory());
}

// A message between servers arrives over the receiver's NIC; one between GPUs of a server, over its scale-up ports. It
// leaves once it can be received.
void ProgramPath::measure(const Task& task, std::uint32_t in_server, bool joins_stages) {
  const double nic = cluster_.nic.per_port.bytes_per_second * cluster_.nic.ports;
  const double scale_up = cluster_.scale_up.of_gpu().bytes_per_second;
  const std::uint32_t members = members_[task.slot];
  if (task.kind == TaskKind::kSend || members < 2) return least_.push_back({});
  if (task.kind == TaskKind::kReceive) {
    const bool crosses = in_server == 1;
    const double bytes = static_cast<double>(task.size().count);
    const double rate = crosses ? nic : in_server == 2 ? scale_up : nic + scale_up;
    const Duration takes = least_transfer(bytes, rate) + (crosses ? cluster_.nic.latency : Duration{});
    if (crosses) nic_ += least_transfer(bytes, nic);
    if (joins_stages) hop_ = std::max(hop_, takes);
    return least_.push_back(facts_.posts_in_turn || !joins_stages ? takes : Duration{});
  }
  if (in_server == members) return least_.push_back(least_transfer(least_bytes(task, members, members).all, scale_up));
  const LeastBytes bytes = least_bytes(task, members, std::max(1U, in_server));
  if (in_server == 0) return least_.push_back(least_transfer(bytes.all, nic + scale_up));
  const Duration outside = least_transfer(bytes.outside, nic);
  nic_ += outside;
  const double rate = in_server == 1 ? nic : nic + scale_up;
  least_.push_back(std::max(outside, least_transfer(bytes.all, rate)));
}

// Operations of a lane begin in the order in which they become ready. One that becomes ready before an earlier task of its
// lane is not held up by that.
std::vector<Duration> ProgramPath::ends(TaskId from, bool in_lanes) const {
  constexpr Duration kNever{-1};
  const std::span<const Task> tasks = program_.tasks();
  std::vector<Duration> at(tasks.size(), kNever);  // begins, then ends
  std::vector<Lane> lanes(members_.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const TaskId task{t};
    if (is_free_[t]) at[t] = kNever;
    if (from.is_none() && (tasks[t].waits == 0 || is_free_[t])) at[t] = Duration{};
    if (task == from) {
      at[t] = Duration{};
    } else if (at[t] == kNever) {
      continue;
    } else {
      const bool in_lane = in_lanes && tasks[t].kind == TaskKind::kCollective;
      Lane* lane = in_lane ? &lanes[tasks[t].slot] : nullptr;
      const bool in_turn = lane != nullptr && at[t] >= lane->began;
      if (in_turn) lane->began = at[t];
      if (in_turn) at[t] = std::max(at[t], lane->free);
      at[t] += least_[t];
      if (in_turn) lane->free = at[t];
    }
    for (const TaskId next : program_.successors(task)) {
      PHOTONRAIL_CHECK(next > task);
      at[next.index()] = std::max(at[next.index()], at[t]);
    }
  }
  return at;
}

Duration ProgramPath::whole(bool in_lanes) const {
  Duration longest{};
  for (const Duration end : ends(TaskId::none(), in_lanes && facts_.one_at_a_time)) longest = std::max(longest, end);
  return longest;
}

Duration ProgramPath::between(TaskId from, TaskId to) const { return std::max(Duration{}, ends(from, false)[to.index()]); }

Duration ProgramPath::to_first_send() const {
  return sent_.empty() ? whole(false) : between(TaskId::none(), sent_.front());
}
Duration ProgramPath::receive_to_first_send() const {
  return sent_.empty() || received_.empty() ? Duration{} : between(received_.front(), sent_.front());
}
Duration ProgramPath::receive_to_last_send() const {
  return sent_.empty() || received_.empty() ? Duration{} : between(received_.front(), sent_.back());
}
Duration ProgramPath::last_receive_to_last_send() const {
  return sent_.empty() || received_.empty() ? Duration{} : between(received_.back(), sent_.back());
}
Duration ProgramPath::last_receive_to_end() const {
  if (received_.empty()) return {};
  Duration longest{};
  for (const Duration end : ends(received_.back(), facts_.one_at_a_time)) longest = std::max(longest, end);
  return longest;
}

}  // namespace photonrail::plan
