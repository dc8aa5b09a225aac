// A training job as a graph of tasks: compute, collectives, sends and receives, with dependencies, in flat arrays.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace photonrail {

/// A dimension of parallelism. `kOther` is traffic of no known dimension; kKv: keys and values of requests between engines;
/// kRefit: new weights to the engines that generate.
enum class Dimension : std::uint8_t { kTp, kCp, kEp, kDp, kPp, kOther, kKv, kRefit };
inline constexpr int kDimensionCount = 8;
[[nodiscard]] std::string_view name(Dimension d);  ///< "tp", "cp", "ep", "dp", "pp", "other", "kv", "refit"
[[nodiscard]] std::optional<Dimension> dimension_from(std::string_view name);

/// A communicator group. One of two ranks that only carries sends from members[0] to members[1] is `point_to_point`.
struct Communicator {
  std::string name;
  std::vector<RankId> members;  ///< ascending; point to point: sender, receiver
  Dimension dimension = Dimension::kOther;
  bool point_to_point = false;

  friend bool operator==(const Communicator&, const Communicator&) = default;
};

enum class TaskKind : std::uint8_t { kCompute, kCollective, kSend, kReceive };

/// Where a compute task runs: the GPU's compute stream, or the host's thread (CPU operators of a recorded trace). kStorage
/// computes nothing: the task is a transfer over a network to storage that the rank shares with nothing else, and counts as
/// communication of no known dimension.
enum class Stream : std::uint8_t { kGpu, kHost, kStorage };
inline constexpr int kStreamCount = 3;

/// One task of a rank, 40 bytes. Made by the functions below; what a task of its kind does not have is zero.
class Task {
  // First, so that there are no gaps.
  std::int64_t amount_ = 0;  // communication: bytes; compute: bytes moved from and to memory, or picoseconds
  std::uint32_t root_or_demand_ = 0;
  bool has_time_ = false;  // the picoseconds

 public:
  Task() = default;  ///< a computation that takes no time
  /// `memory`: bytes moved from and to memory.
  [[nodiscard]] static Task compute(double flops, Bytes memory, Stream stream = Stream::kGpu);
  /// A computation of a given time.
  [[nodiscard]] static Task delay(Duration time, Stream stream = Stream::kGpu);
  /// The FLOPs of the rank in traffic matrix number `demand` (TrafficSource::flops); `flops` is typical, for reports only.
  [[nodiscard]] static Task demand_compute(std::uint32_t slot, std::uint32_t demand, double flops);
  /// `size`: as Chakra defines it (CollectiveOp); `root`: of broadcast, reduce, gather and scatter.
  [[nodiscard]] static Task collective(std::uint32_t slot, CollectiveOp op, Bytes size, Member root = 0);
  /// With traffic matrix number `demand`; `size` is typical, for reports only.
  [[nodiscard]] static Task all_to_all(std::uint32_t slot, std::uint32_t demand, Bytes size);
  /// Of a pair: the first receive with the tag takes what the first send with the tag sent.
  [[nodiscard]] static Task send(std::uint32_t slot, std::uint32_t tag, Bytes size);
  [[nodiscard]] static Task receive(std::uint32_t slot, std::uint32_t tag, Bytes size);

  TaskKind kind = TaskKind::kCompute;
  Stream stream = Stream::kGpu;
  CollectiveOp op = CollectiveOp::kSend;
  std::uint32_t slot = 0;   ///< index of one of the rank's communicators (TaskGraph::communicator): communication, and
                            ///< computations with a traffic matrix
  std::uint32_t tag = 0;    ///< sends and receives: a send matches a receive with an equal tag
  std::uint32_t match = 0;  ///< index among this rank's calls with the same slot and tag; equal indices meet
  std::uint32_t waits = 0;  ///< number of predecessors
  double flops = 0.0;       ///< compute

  /// Communication: its size; with a traffic matrix typical, for reports only.
  [[nodiscard]] Bytes size() const { return kind == TaskKind::kCompute ? Bytes{} : Bytes{amount_}; }
  /// Compute: bytes moved from and to memory.
  [[nodiscard]] Bytes memory() const { return kind == TaskKind::kCompute && !has_time_ ? Bytes{amount_} : Bytes{}; }
  /// Compute: its time, where it is given and not the roofline's.
  [[nodiscard]] std::optional<Duration> time() const { return has_time_ ? std::optional(Duration{amount_}) : std::nullopt; }
  /// The root of a collective that has one.
  [[nodiscard]] Member root() const { return kind == TaskKind::kCollective && !may_be_uneven() ? root_or_demand_ : 0; }
  /// The number of the traffic matrix that an all-to-all or a computation follows (TrafficSource), or 0.
  [[nodiscard]] std::uint32_t demand() const { return may_be_uneven() ? root_or_demand_ : 0; }

  friend bool operator==(const Task&, const Task&) = default;

 private:
  [[nodiscard]] bool may_be_uneven() const {
    return kind == TaskKind::kCompute || (kind == TaskKind::kCollective && op == CollectiveOp::kAllToAll);
  }
};
static_assert(sizeof(Task) == 40);

/// The communicator of a task: by slot, for a program that several ranks run; or itself, for a program of one rank, whose
/// slots the builder then numbers.
class TaskGroup {
 public:
  TaskGroup(std::uint32_t slot) : slot_(slot) {}                           // NOLINT(google-explicit-constructor)
  TaskGroup(CommunicatorId communicator) : communicator_(communicator) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::uint32_t slot() const { return slot_; }
  /// None: it is a slot.
  [[nodiscard]] CommunicatorId communicator() const { return communicator_; }

 private:
  std::uint32_t slot_ = 0;
  CommunicatorId communicator_ = CommunicatorId::none();
};

/// The tasks of one rank, or of many ranks that run the same program. Task ids are indices in the order of issue.
class Program {
 public:
  /// A class of operators in a computation, and its share of the computation's time.
  struct Share {
    std::string what;    ///< "products", "attention"
    double share = 0.0;  ///< in (0, 1]

    friend bool operator==(const Share&, const Share&) = default;
  };

  [[nodiscard]] std::span<const Task> tasks() const { return tasks_; }
  [[nodiscard]] const Task& task(TaskId t) const { return tasks_[t.index()]; }
  /// The tasks that wait for `t`, ascending.
  [[nodiscard]] std::span<const TaskId> successors(TaskId t) const {
    return {successors_.data() + offsets_[t.index()], successors_.data() + offsets_[t.index() + 1]};
  }
  /// The name of a task, or "" for a task without one.
  [[nodiscard]] std::string_view name(TaskId t) const;
  /// Returns what a computation is made of, shares that add up to 1; empty where the program's writer does not know.
  [[nodiscard]] std::span<const Share> shares(TaskId t) const;

  /// Returns true when the tasks are equal but for their names.
  [[nodiscard]] bool same_tasks(const Program& other) const {
    return tasks_ == other.tasks_ && offsets_ == other.offsets_ && successors_ == other.successors_;
  }

  friend bool operator==(const Program&, const Program&) = default;

 private:
  friend class TaskGraphBuilder;
  std::vector<Task> tasks_;
  std::vector<TaskId> successors_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> name_offsets_;  // empty, or one more than tasks
  std::string names_;
  std::vector<std::vector<Share>> shares_;  // each once
  std::vector<std::uint32_t> shares_of_;    // by task, up to the last that has some: into shares_, from 1
};

class TaskGraph {
 public:
  [[nodiscard]] std::size_t ranks() const { return program_of_.size(); }
  [[nodiscard]] const Program& program(RankId r) const { return programs_[program_of_[r.index()].index()]; }
  [[nodiscard]] ProgramId program_of(RankId r) const { return program_of_[r.index()]; }
  [[nodiscard]] const std::vector<Program>& programs() const { return programs_; }
  [[nodiscard]] const std::vector<Communicator>& communicators() const { return communicators_; }
  /// The communicator behind a slot of a rank's tasks.
  [[nodiscard]] CommunicatorId communicator(RankId r, std::uint32_t slot) const {
    return slots_[slot_offsets_[r.index()] + slot];
  }
  [[nodiscard]] std::span<const CommunicatorId> slots(RankId r) const {
    return {slots_.data() + slot_offsets_[r.index()], slots_.data() + slot_offsets_[r.index() + 1]};
  }
  [[nodiscard]] std::size_t task_count() const;  ///< over all ranks
  /// The source of the traffic matrices of its all-to-alls; null when all are even.
  [[nodiscard]] const TrafficSource* demands() const { return demands_.get(); }
  [[nodiscard]] const std::shared_ptr<const TrafficSource>& shared_demands() const { return demands_; }

  /// The warnings of the graph's reader and builder, each a complete line.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  void warn(std::string line) { warnings_.push_back(std::move(line)); }

  /// Sets the dimension of communicators that have none: a group inside a server counts as tp, along a rail as dp, sends
  /// as pp. `gpu_of_rank` is the placement. Communicators with a dimension keep it.
  void infer_dimensions(std::span<const GpuId> gpu_of_rank, std::uint32_t gpus_per_server);
  /// Sets the dimension of the communicator called `name`; false when there is none.
  bool set_dimension(std::string_view name, Dimension d);

  /// The programs of some ranks with other communicators: rank i of the result runs the program of `ranks[i]`, and its
  /// slots are `slots[i]`. Does not check them: a communicator may list its members in any order, and one rank twice.
  [[nodiscard]] TaskGraph part(std::span<const RankId> ranks, std::vector<Communicator> communicators,
                               std::span<const std::vector<CommunicatorId>> slots) const;

  /// Concatenates the ranks, programs and communicators of several graphs for inspection. Names of communicators get the
  /// prefix "NAME/". The result has no traffic matrices. REQUIRES: a name for each graph.
  [[nodiscard]] static TaskGraph side_by_side(std::span<const TaskGraph* const> graphs, std::span<const std::string> names);

  friend bool operator==(const TaskGraph&, const TaskGraph&) = default;

 private:
  friend class TaskGraphBuilder;
  std::vector<Program> programs_;
  std::vector<ProgramId> program_of_;
  std::vector<std::uint32_t> slot_offsets_;
  std::vector<CommunicatorId> slots_;
  std::vector<Communicator> communicators_;
  std::shared_ptr<const TrafficSource> demands_;  ///< immutable; copies of the graph share it
  std::vector<std::string> warnings_;
};

/// Builds a TaskGraph. A program is written once and assigned to any number of ranks. Its tasks name communicators by slot,
/// and assign() maps the slots of each rank to communicators. Tasks of a program of one rank may name the communicators.
class TaskGraphBuilder {
 public:
  explicit TaskGraphBuilder(std::size_t ranks);

  /// `members` in any order for a group; sender, receiver for point to point.
  /// Throws ConfigError when a member is not a rank or occurs twice.
  CommunicatorId add_communicator(std::string name, std::vector<RankId> members, Dimension dimension,
                                  bool point_to_point = false);
  /// The point-to-point communicator from `from` to `to`. The first call creates it.
  CommunicatorId link(RankId from, RankId to, Dimension dimension);

  /// An empty program; ids ascend from 0.
  ProgramId add_program();
  /// Ids ascend in the order of the calls. `after`: tasks of the same program that must complete first; it may contain ids
  /// of tasks that are added later, before build(). Names may be empty.
  TaskId add_compute(ProgramId p, double flops, Bytes memory, std::string_view name = {},
                     std::span<const TaskId> after = {}, Stream stream = Stream::kGpu);
  /// A computation in the group with the FLOPs of the rank in traffic matrix number `demand`
  /// (TrafficSource::flops). `flops` is a typical value for reports only.
  TaskId add_demand_compute(ProgramId p, TaskGroup group, std::uint32_t demand, double flops, std::string_view name = {},
                            std::span<const TaskId> after = {});
  TaskId add_delay(ProgramId p, Duration time, std::string_view name = {}, std::span<const TaskId> after = {},
                   Stream stream = Stream::kGpu);
  TaskId add_collective(ProgramId p, TaskGroup group, CollectiveOp op, Bytes size, std::string_view name = {},
                        std::span<const TaskId> after = {}, Member root = 0);
  /// An all-to-all with traffic matrix number `demand`, from 1, of the source. `size` is the typical input of a member, for
  /// reports only.
  TaskId add_all_to_all(ProgramId p, TaskGroup group, std::uint32_t demand, Bytes size, std::string_view name = {},
                        std::span<const TaskId> after = {});
  TaskId add_send(ProgramId p, TaskGroup group, Bytes size, std::uint32_t tag, std::string_view name = {},
                  std::span<const TaskId> after = {});
  TaskId add_receive(ProgramId p, TaskGroup group, Bytes size, std::uint32_t tag, std::string_view name = {},
                     std::span<const TaskId> after = {});
  /// Keeps shares for computations of the program, and returns their number for set_shares().
  [[nodiscard]] std::uint32_t add_shares(ProgramId p, std::vector<Program::Share> shares);
  /// The computation is made of these shares. `number`: of add_shares() for the same program.
  void set_shares(ProgramId p, TaskId task, std::uint32_t number);
  /// `after` waits for `before`, which may be added later. Both are checked by build().
  void add_dependency(ProgramId p, TaskId before, TaskId after);

  /// Gives `rank` the program `p`, with the communicator of each slot that `p` uses.
  void assign(RankId rank, ProgramId p, std::vector<CommunicatorId> slots);
  /// The same for a program whose tasks name their communicators. REQUIRES: all of its tasks have been added.
  void assign(RankId rank, ProgramId p);

  /// Sets the source of the matrices of add_all_to_all(). It must be set before build().
  void set_demands(std::shared_ptr<const TrafficSource> demands) { demands_ = std::move(demands); }

  void warn(std::string line) { warnings_.push_back(std::move(line)); }

  /// Throws ConfigError: a rank without a program, a dependency on a task that does not exist or on itself, a cycle
  /// (named), a slot that is not given or whose communicator the rank is not a member of or has in two slots, members of
  /// one call that disagree about operation, size, root or traffic matrix, a matrix that the source does not have or has
  /// for another number of members, a send whose receive has another size, a send or receive on anything but its end of a
  /// point-to-point communicator. Repeated dependencies count once. A call that some member never makes adds a warning; the
  /// run then throws DeadlockError, which names the waiting ranks.
  [[nodiscard]] TaskGraph build() &&;

 private:
  struct Draft {
    std::vector<Task> tasks;
    std::vector<std::pair<TaskId, TaskId>> edges;  // before, after
    std::string names;
    std::vector<std::uint32_t> name_offsets{0};
    std::vector<CommunicatorId> slots;  // of communicators that its tasks name
    std::vector<std::vector<Program::Share>> shares;
    std::vector<std::uint32_t> shares_of;
    std::unordered_map<std::uint32_t, std::uint32_t> slot_of;
  };
  /// A point-to-point communicator, in the list of its bucket.
  struct Link {
    RankId from;
    RankId to;
    CommunicatorId id;
    std::uint32_t next = 0;  // in links_, from 1; 0: the last of its bucket
  };
  Draft& draft(ProgramId p);
  [[nodiscard]] std::uint32_t& link_bucket(RankId from, RankId to);
  void grow_link_buckets();
  /// The slot that the group has in the program.
  [[nodiscard]] std::uint32_t slot_of(ProgramId p, TaskGroup group);
  TaskId add(ProgramId p, const Task& task, std::string_view name, std::span<const TaskId> after);
  [[nodiscard]] std::string describe(ProgramId p) const;
  [[nodiscard]] Program finish_program(ProgramId p);

  std::vector<Draft> drafts_;
  std::vector<ProgramId> program_of_;
  std::vector<std::vector<CommunicatorId>> slots_of_;
  std::vector<Communicator> communicators_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> link_buckets_;  // a power of two of them: the first of links_ in each, from 1; 0: empty
  std::shared_ptr<const TrafficSource> demands_;
  std::vector<std::string> warnings_;
};

}  // namespace photonrail
