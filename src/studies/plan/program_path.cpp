#include "studies/plan/program_path.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>

namespace photonrail::plan {

namespace {

Duration least_transfer(double bytes, double bytes_per_second) {
  return Duration{static_cast<std::int64_t>(std::floor(bytes * 1e12 / bytes_per_second))};
}

/// The bytes that a member of a call has to receive, or to send, in all, and from other servers, of which each has
/// `in_server` of the members: shards of others, and sums of what others have. Sums may be made inside a server, and what
/// several of its GPUs need has to come into it once; so that the members of a server share what they need from outside.
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

RankId before_in_ring(const Communicator& group, RankId rank) {
  const auto own = std::find(group.members.begin(), group.members.end(), rank);
  return own == group.members.begin() ? group.members.back() : *(own - 1);
}

}  // namespace

ProgramPath::ProgramPath(const TaskGraph& graph, RankId rank, const ClusterSpec& cluster, const PathFacts& facts)
    : program_(graph.program(rank)), rank_(rank), cluster_(cluster), facts_(facts) {
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
  hops_.resize(tasks.size());
  arrives_.resize(tasks.size());
  senders_.assign(members_.size(), RankId::none());
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
    const Communicator& group = graph.communicators()[graph.slots(rank)[task.slot].index()];
    if (task.kind == TaskKind::kCollective) {
      arrives_[t] = ring(task, group);
      least_.back() = std::max(least_.back(), arrives_[t]);
    } else if (task.kind == TaskKind::kReceive && in_server_[task.slot] == 1) {
      arrives_[t] = hops_[t];
    }
    if (arrives_[t] > Duration{}) senders_[task.slot] = before_in_ring(group, rank_);
  }
}

// A member of a ring gets all that it needs, shard by shard, from the one before it, once it has joined.
Duration ProgramPath::ring(const Task& task, const Communicator& group) const {
  const auto members = static_cast<double>(group.members.size());
  if (!facts_.in_order || !facts_.rings[static_cast<std::size_t>(task.op)] || members < 2.0) return {};
  const RankId before = before_in_ring(group, rank_);
  if (before.value / cluster_.gpus_per_server == rank_.value / cluster_.gpus_per_server) return {};
  const double size = static_cast<double>(task.size().count);
  const double bytes = task.op == CollectiveOp::kAllGather       ? size * (members - 1.0)
                       : task.op == CollectiveOp::kReduceScatter ? size / members * (members - 1.0)
                       : task.op == CollectiveOp::kAllReduce     ? 2.0 * size / members * (members - 1.0)
                                                                 : 0.0;
  return least_transfer(bytes, cluster_.nic.per_port.bytes_per_second * cluster_.nic.ports);
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
    hops_[least_.size()] = takes;
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

// The port of the NIC receives from one other at a time: what comes from another one, after that, waits for a circuit.
Duration ProgramPath::switched(std::span<const Duration> used, std::uint32_t slot) const {
  Duration lit{};
  for (std::size_t other = 0; other < used.size(); ++other) {
    if (senders_[other] != senders_[slot] && used[other] >= Duration{}) lit = std::max(lit, used[other] + facts_.switching);
  }
  return lit;
}

// Operations of a lane begin in the order in which they become ready. One that becomes ready before an earlier task of its
// lane is not held up by that.
ProgramPath::Ends ProgramPath::ends(TaskId from, bool in_lanes) const {
  constexpr Duration kNever{-1};
  const std::span<const Task> tasks = program_.tasks();
  const std::size_t slots = facts_.switching > Duration{} ? members_.size() : 0;
  Ends ends{std::vector<Duration>(tasks.size(), kNever), std::vector<Duration>(tasks.size() * slots, kNever)};
  std::vector<Duration>& at = ends.at;  // begins, then ends
  std::vector<Lane> lanes(members_.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const TaskId task{t};
    const std::span<Duration> used(ends.used.data() + t * slots, slots);
    const bool arrives = slots > 0 && arrives_[t] > Duration{};
    if (is_free_[t]) at[t] = kNever;
    if (from.is_none() && (tasks[t].waits == 0 || is_free_[t])) at[t] = Duration{};
    if (task == from) {
      at[t] = Duration{};
      if (arrives) used[tasks[t].slot] = Duration{};
    } else if (at[t] == kNever) {
      continue;
    } else {
      const bool in_lane = in_lanes && tasks[t].kind == TaskKind::kCollective;
      Lane* lane = in_lane ? &lanes[tasks[t].slot] : nullptr;
      const bool in_turn = lane != nullptr && at[t] >= lane->began;
      if (in_turn) lane->began = at[t];
      if (in_turn) at[t] = std::max(at[t], lane->free);
      if (arrives) at[t] = std::max(at[t], switched(used, tasks[t].slot));
      if (arrives) used[tasks[t].slot] = at[t] + arrives_[t];
      at[t] += least_[t];
      if (in_turn) lane->free = at[t];
    }
    for (const TaskId next : program_.successors(task)) {
      PHOTONRAIL_CHECK(next > task);
      at[next.index()] = std::max(at[next.index()], at[t]);
      for (std::size_t s = 0; s < slots; ++s) {
        Duration& of_next = ends.used[next.index() * slots + s];
        of_next = std::max(of_next, used[s]);
      }
    }
  }
  return ends;
}

Duration ProgramPath::whole(bool in_lanes) const {
  Duration longest{};
  for (const Duration end : ends(TaskId::none(), in_lanes && facts_.one_at_a_time).at) longest = std::max(longest, end);
  return longest;
}

Duration ProgramPath::between(TaskId from, TaskId to) const {
  return std::max(Duration{}, ends(from, false).at[to.index()]);
}

namespace {

/// The pass in the name of a task (StageWriter): "bwd.0.chunk1.", then its part.
struct PassName {
  std::size_t kind = 0;
  std::uint32_t chunk = 0;
  std::string_view part{};
};
std::optional<PassName> pass_name(std::string_view name) {
  constexpr std::string_view kKinds[] = {"fwd.", "bwd.", "bwd.", "wgt."};  // by PassKind
  constexpr std::string_view kChunk = "chunk";
  PassName of;
  while (of.kind < std::size(kKinds) && !name.starts_with(kKinds[of.kind])) ++of.kind;
  if (of.kind == std::size(kKinds)) return std::nullopt;
  name.remove_prefix(kKinds[of.kind].size());
  name.remove_prefix(std::min(name.size(), name.find('.') + 1));
  if (name.starts_with(kChunk)) {
    name.remove_prefix(kChunk.size());
    const auto read = std::from_chars(name.data(), name.data() + name.size(), of.chunk);
    name.remove_prefix(static_cast<std::size_t>(read.ptr - name.data()) + 1);
  }
  of.part = name;
  return of;
}

/// Tasks of a pass that others lie between.
struct PassTasks {
  TaskId receive = TaskId::none();
  TaskId first = TaskId::none();
  TaskId last = TaskId::none();
  TaskId send = TaskId::none();
};
using PassesTasks = std::vector<std::array<PassTasks, 4>>;  // by chunk, then by kind

}  // namespace

// The latest end of a message from another server that `last` waits for, but for that of `receive`.
Duration ProgramPath::inner(const Ends& ends, TaskId last, TaskId receive) const {
  Duration latest{-1};
  if (ends.used.empty()) return latest;
  const RankId but = receive.is_none() ? RankId::none() : senders_[program_.tasks()[receive.index()].slot];
  for (std::size_t slot = 0; slot < members_.size(); ++slot) {
    if (senders_[slot] != but) latest = std::max(latest, ends.used[last.index() * members_.size() + slot]);
  }
  return latest;
}

PassPath ProgramPath::pass(TaskId receive, TaskId first, TaskId last, TaskId send) const {
  PassPath path;
  if (first.is_none()) return path;
  const Duration begin = least_[first.index()];
  const Ends inside = ends(first, false);
  path.core = begin + (first == last ? Duration{} : std::max(Duration{}, inside.at[last.index()]));
  if (const Duration latest = inner(inside, last, receive); latest >= Duration{}) path.inner = begin + latest;
  if (!send.is_none()) path.after = between(last, send);
  if (receive.is_none()) return path;
  const Ends all = ends(receive, false);
  path.hop = hops_[receive.index()];
  path.before = std::max(Duration{}, all.at[first.index()] - begin);
  path.through = std::max(Duration{}, all.at[last.index()]);
  path.through_inner = inner(all, last, receive);
  return path;
}

StagePasses ProgramPath::passes(const PipelineShape& shape, std::uint32_t stage) const {
  StagePasses of;
  PassesTasks tasks(shape.chunks_held());
  TaskId last = TaskId::none();  // the first computation of the last pass
  TaskId begin = TaskId::none();
  for (std::size_t t = 0; t < program_.tasks().size(); ++t) {
    const auto name = pass_name(program_.name(TaskId{t}));
    if (!name) continue;
    const bool forward = name->kind == 0;
    std::uint32_t chunk = name->chunk;
    // A message bears the name of the pass that made it, on another stage.
    const bool receive = name->part == "receive";
    if (receive && forward && stage == 0) ++chunk;
    if (receive && !forward && stage + 1 == shape.stages) --chunk;
    PHOTONRAIL_CHECK(chunk < tasks.size());
    PassTasks& pass = tasks[chunk][name->kind];
    if (receive) pass.receive = TaskId{t};
    if (receive) of.crosses[forward ? 0 : 1] = arrives_[t] > Duration{};
    if (name->part == "send") pass.send = TaskId{t};
    if (program_.tasks()[t].kind != TaskKind::kCompute) continue;
    if (begin.is_none()) begin = TaskId{t};
    if (pass.first.is_none()) last = pass.first = TaskId{t};
    pass.last = TaskId{t};
  }
  for (const auto& chunk : tasks) {
    auto& paths = of.chunks.emplace_back();
    for (std::size_t kind = 0; kind < paths.size(); ++kind)
      paths[kind] = pass(chunk[kind].receive, chunk[kind].first, chunk[kind].last, chunk[kind].send);
    paths[static_cast<std::size_t>(PassKind::kBackwardInput)] = paths[static_cast<std::size_t>(PassKind::kBackward)];
  }
  if (begin.is_none()) return of;
  of.before = std::max(Duration{}, between(TaskId::none(), begin) - least_[begin.index()]);
  of.last = least_[last.index()];
  for (const Duration end : ends(last, facts_.one_at_a_time).at) of.last = std::max(of.last, least_[last.index()] + end);
  return of;
}

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
  for (const Duration end : ends(received_.back(), facts_.one_at_a_time).at) longest = std::max(longest, end);
  return longest;
}

}  // namespace photonrail::plan
