// The tasks of a checkpoint, added to the programs of a step.
#include "workload/checkpoint.hpp"

#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace photonrail::workload {

namespace {

using core::field;
using core::FieldError;

/// Holds what a rank does for the checkpoint in one step.
struct Share {
  Bytes out{};  // sends; 0: nothing
  Bytes in{};   // receives from another rank of the job
  RankId to = RankId::none();
  RankId from = RankId::none();
};

/// Copies the programs of a graph with the tasks of a checkpoint around them.
class CheckpointWriter {
 public:
  CheckpointWriter(const TaskGraph& graph, const CheckpointTraffic& traffic, std::size_t ranks)
      : graph_(graph), traffic_(traffic), builder_(ranks) {
    for (const Communicator& c : graph.communicators()) {
      builder_.add_communicator(c.name, c.members, c.dimension, c.point_to_point);
    }
    builder_.set_demands(graph.shared_demands());
  }

  /// The link of a checkpoint between two ranks.
  [[nodiscard]] CommunicatorId link(RankId from, RankId to) {
    const auto [at, is_new] = links_.try_emplace({from, to}, CommunicatorId::none());
    if (is_new) {
      std::string name = "checkpoint." + std::to_string(from.value) + ">" + std::to_string(to.value);
      at->second = builder_.add_communicator(std::move(name), {from, to}, Dimension::kOther, true);
    }
    return at->second;
  }

  /// A host of storage, which only receives.
  void assign_storage(RankId rank, const std::vector<std::pair<RankId, Bytes>>& from) {
    const ProgramId p = builder_.add_program();
    std::vector<CommunicatorId> slots;
    for (const auto& [sender, bytes] : from) {
      builder_.add_receive(p, static_cast<std::uint32_t>(slots.size()), bytes, 0, "checkpoint.keep");
      slots.push_back(link(sender, rank));
    }
    builder_.assign(rank, p, std::move(slots));
  }

  /// Ranks of one program with equal shares have one program again.
  void assign(RankId rank, const Share& share) {
    const std::span<const CommunicatorId> old = graph_.slots(rank);
    std::vector<CommunicatorId> slots(old.begin(), old.end());
    if (!share.to.is_none()) slots.push_back(link(rank, share.to));
    if (!share.from.is_none()) slots.push_back(link(share.from, rank));
    const Key key{graph_.program_of(rank), share.out, share.in, old.size()};
    const auto [at, is_new] = programs_.try_emplace(key, ProgramId::none());
    if (is_new) at->second = write(graph_.program(rank), share, static_cast<std::uint32_t>(old.size()));
    builder_.assign(rank, at->second, std::move(slots));
  }

  [[nodiscard]] TaskGraph build() && {
    TaskGraph graph = std::move(builder_).build();
    const std::vector<std::string> own = graph.warnings();
    for (const std::string& line : graph_.warnings()) {
      if (std::find(own.begin(), own.end(), line) == own.end()) graph.warn(line);
    }
    return graph;
  }

 private:
  using Key = std::tuple<ProgramId, Bytes, Bytes, std::size_t>;  // program, out, in, slots before

  ProgramId write(const Program& program, const Share& share, std::uint32_t slots) {
    const ProgramId p = builder_.add_program();
    std::vector<TaskId> ready;  // what the checkpoint waits for
    if (traffic_.asynchronous) ready = snapshot(p, share, {});
    const std::vector<TaskId> copies = copy(p, program);
    if (traffic_.asynchronous) {
      for (std::size_t t = 0; t < copies.size(); ++t) {
        if (program.tasks()[t].waits == 0 && !ready.empty()) builder_.add_dependency(p, ready[0], copies[t]);
      }
    } else {
      for (std::size_t t = 0; t < copies.size(); ++t) {
        if (program.successors(TaskId{t}).empty()) ready.push_back(copies[t]);
      }
      ready = snapshot(p, share, std::move(ready));
    }
    save(p, share, slots, ready);
    return p;
  }

  // Returns what the checkpoint waits for then: the snapshot, or without one the same as before.
  std::vector<TaskId> snapshot(ProgramId p, const Share& share, std::vector<TaskId> after) {
    if (share.out == Bytes{} || traffic_.to_host.bytes_per_second <= 0.0) return after;
    return {builder_.add_delay(p, time_of(share.out, traffic_.to_host), "checkpoint.snapshot", after)};
  }

  static Duration time_of(Bytes bytes, Bandwidth rate) {
    return round_up_picoseconds(static_cast<double>(bytes.count) / rate.bytes_per_second * 1e12);
  }

  void save(ProgramId p, const Share& share, std::uint32_t slots, const std::vector<TaskId>& after) {
    if (share.out > Bytes{} && traffic_.target == CheckpointTarget::kOwn) {
      builder_.add_delay(p, traffic_.own_latency + time_of(share.out, traffic_.own_rate), "checkpoint.save", after,
                         Stream::kStorage);
    } else if (share.out > Bytes{}) {
      builder_.add_send(p, slots++, share.out, 0, "checkpoint.save", after);
    }
    if (share.in > Bytes{}) builder_.add_receive(p, slots, share.in, 0, "checkpoint.keep", after);
  }

  std::vector<TaskId> copy(ProgramId p, const Program& program) {
    std::vector<TaskId> copies;
    copies.reserve(program.tasks().size());
    for (std::size_t t = 0; t < program.tasks().size(); ++t) {
      copies.push_back(copy_task(p, program.tasks()[t], program.name(TaskId{t})));
    }
    for (std::size_t t = 0; t < copies.size(); ++t) {
      for (const TaskId next : program.successors(TaskId{t})) builder_.add_dependency(p, copies[t], copies[next.index()]);
    }
    return copies;
  }

  TaskId copy_task(ProgramId p, const Task& task, std::string_view name) {
    switch (task.kind) {
      case TaskKind::kCompute:
        if (task.time()) return builder_.add_delay(p, *task.time(), name, {}, task.stream);
        if (task.demand() != 0) return builder_.add_demand_compute(p, task.slot, task.demand(), task.flops, name);
        return builder_.add_compute(p, task.flops, task.memory(), name, {}, task.stream);
      case TaskKind::kCollective:
        if (task.demand() != 0) return builder_.add_all_to_all(p, task.slot, task.demand(), task.size(), name);
        return builder_.add_collective(p, task.slot, task.op, task.size(), name, {}, task.root());
      case TaskKind::kSend:
        return builder_.add_send(p, task.slot, task.size(), task.tag, name);
      case TaskKind::kReceive:
        return builder_.add_receive(p, task.slot, task.size(), task.tag, name);
    }
    return TaskId::none();
  }

  const TaskGraph& graph_;
  const CheckpointTraffic& traffic_;
  TaskGraphBuilder builder_;
  std::map<std::pair<RankId, RankId>, CommunicatorId> links_;
  std::map<Key, ProgramId> programs_;
};

/// The ranks of the job by GPU, and its servers.
class Places {
 public:
  Places(std::span<const GpuId> gpu_of_rank, std::uint32_t gpus_per_server)
      : gpu_of_rank_(gpu_of_rank), gpus_per_server_(gpus_per_server) {
    for (std::size_t r = 0; r < gpu_of_rank.size(); ++r) {
      rank_on_.emplace(gpu_of_rank[r].value, RankId{r});
      servers_.push_back(server(RankId{r}));
    }
    std::sort(servers_.begin(), servers_.end());
    servers_.erase(std::unique(servers_.begin(), servers_.end()), servers_.end());
  }

  [[nodiscard]] std::uint32_t server(RankId rank) const { return gpu_of_rank_[rank.index()].value / gpus_per_server_; }
  [[nodiscard]] std::uint32_t local(RankId rank) const { return gpu_of_rank_[rank.index()].value % gpus_per_server_; }
  [[nodiscard]] const std::vector<std::uint32_t>& servers() const { return servers_; }  // ascending

  /// Returns the rank of the GPU at the rank's place, `distance` servers of the job further.
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t distance) const {
    const auto at = std::lower_bound(servers_.begin(), servers_.end(), server(rank)) - servers_.begin();
    const std::uint32_t other = servers_[(static_cast<std::size_t>(at) + distance) % servers_.size()];
    const std::uint32_t gpu = other * gpus_per_server_ + local(rank);
    const auto found = rank_on_.find(gpu);
    if (found == rank_on_.end()) {
      throw FieldError(field("checkpoint.distance"),
                       "the peer of rank " + std::to_string(rank.value) + " would be GPU " + std::to_string(gpu) +
                           ", on which the job has no rank",
                       "another distance, or the same GPUs of all servers");
    }
    return found->second;
  }

 private:
  std::span<const GpuId> gpu_of_rank_;
  std::uint32_t gpus_per_server_;
  std::unordered_map<std::uint32_t, RankId> rank_on_;
  std::vector<std::uint32_t> servers_;
};

std::vector<Share> shares_of(const Places& places, const CheckpointTraffic& traffic) {
  std::vector<Share> shares(traffic.bytes.size());
  for (std::size_t r = 0; r < shares.size(); ++r) {
    const std::int64_t parts = traffic.over_steps;
    shares[r].out = {traffic.bytes[r].count / parts + (traffic.bytes[r].count % parts > 0 ? 1 : 0)};
  }
  if (traffic.target != CheckpointTarget::kPeer) return shares;
  if (traffic.distance % places.servers().size() == 0) {
    throw FieldError(field("checkpoint.distance"),
                     "a rank would be its own peer: the job has " + core::counted(places.servers().size(), "server"),
                     "a distance that is no multiple of them; one server has no peers");
  }
  for (std::size_t r = 0; r < shares.size(); ++r) {
    if (shares[r].out == Bytes{}) continue;
    shares[r].to = places.peer(RankId{r}, traffic.distance);
    shares[shares[r].to.index()].in = shares[r].out;
    shares[shares[r].to.index()].from = RankId{r};
  }
  return shares;
}

void check(const CheckpointTraffic& traffic) {
  if (traffic.over_steps == 0 || (traffic.over_steps > 1 && !traffic.asynchronous)) {
    throw FieldError(field("checkpoint.over_steps"), "a blocking checkpoint is over at the end of its step",
                     "1, or an asynchronous checkpoint");
  }
  if (traffic.target == CheckpointTarget::kOwn && !(traffic.own_rate.bytes_per_second > 0.0)) {
    throw FieldError(field("checkpoint.own_rate"), "must be above 0");
  }
  if (traffic.own_latency < Duration{}) throw FieldError(field("checkpoint.own_latency"), "must not be negative");
  for (const Bytes bytes : traffic.bytes) {
    if (bytes < Bytes{}) throw FieldError(field("checkpoint.bytes"), "must not be negative");
  }
}

/// The hosts of storage that receive something, by GPU ascending, each with its senders.
using StorageHosts = std::map<std::uint32_t, std::vector<std::pair<RankId, Bytes>>>;

StorageHosts storage_hosts(const Places& places, const std::vector<Share>& shares, std::uint32_t gpus_per_server,
                           std::uint32_t cluster_servers, const CheckpointTraffic& traffic) {
  StorageHosts hosts;
  if (traffic.target != CheckpointTarget::kStorage) return hosts;
  const std::uint32_t first = cluster_servers - std::min(cluster_servers, traffic.servers);
  if (traffic.servers == 0 || places.servers().back() >= first) {
    throw FieldError(field("checkpoint.servers"),
                     "the last " + std::to_string(traffic.servers) + " of " + core::counted(cluster_servers, "server") +
                         " are to be hosts of storage, and server " + std::to_string(places.servers().back()) +
                         " runs ranks",
                     "a cluster with more servers than the job uses, whose GPUs stand for the NICs of the hosts");
  }
  for (std::size_t r = 0; r < shares.size(); ++r) {
    if (shares[r].out == Bytes{}) continue;
    const std::uint32_t server = first + places.server(RankId{r}) % traffic.servers;
    hosts[server * gpus_per_server + places.local(RankId{r})].emplace_back(r, shares[r].out);
  }
  return hosts;
}

}  // namespace

CheckpointedGraph with_checkpoint(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank, std::uint32_t gpus_per_server,
                                  std::uint32_t cluster_servers, const CheckpointTraffic& traffic) {
  PHOTONRAIL_CHECK(traffic.bytes.size() == graph.ranks() && gpu_of_rank.size() == graph.ranks());
  check(traffic);
  CheckpointedGraph result{{}, {gpu_of_rank.begin(), gpu_of_rank.end()}};
  const Places places(gpu_of_rank, gpus_per_server);
  std::vector<Share> shares = shares_of(places, traffic);
  const StorageHosts hosts = storage_hosts(places, shares, gpus_per_server, cluster_servers, traffic);
  for (const auto& [gpu, senders] : hosts) {
    for (const auto& [sender, bytes] : senders) shares[sender.index()].to = RankId{result.gpu_of_rank.size()};
    result.gpu_of_rank.emplace_back(gpu);
  }
  CheckpointWriter writer(graph, traffic, result.gpu_of_rank.size());
  for (std::size_t r = 0; r < graph.ranks(); ++r) writer.assign(RankId{r}, shares[r]);
  std::size_t next = graph.ranks();
  for (const auto& [gpu, senders] : hosts) writer.assign_storage(RankId{next++}, senders);
  result.storage_ranks = static_cast<std::uint32_t>(hosts.size());
  result.graph = std::move(writer).build();
  return result;
}

}  // namespace photonrail::workload
