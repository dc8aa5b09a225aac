// The least times of one rank's program: longest paths through it, on which each collective takes what the bytes that no
// member can do without take at the fastest rate that they could have.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/workload/pipeline.hpp"
#include "studies/plan/bound.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::plan {

/// Facts of a job's ranks.
struct PathFacts {
  bool in_order = true;       ///< rank r runs on GPU r, so that the servers of a group are known
  bool one_at_a_time = true;  ///< collectives of a communicator run one after another
  /// The rank posts each receive from another stage when the pass before it is done, so that it waits for the message.
  bool posts_in_turn = false;
  RingOps rings{};  ///< operations that run as rings
  /// Until a NIC of one port, which receives from one other at a time, receives from another one; 0: it need not wait.
  Duration switching{};
};

/// The least times of one pass.
struct PassPath {
  Duration hop{};      ///< of the message from another stage that it waits for
  Duration before{};   ///< from the message that it waits for to its first computation
  Duration core{};     ///< from its first computation to the end of its last one
  Duration after{};    ///< from that to its result
  Duration through{};  ///< from the message to the end of the last computation; 0: it waits for none
  /// To the last message from another server that it waits for, from its first computation and from the message that it
  /// begins with; below 0: it waits for none.
  Duration inner{-1};
  Duration through_inner{-1};
};

/// Those of a stage's passes of one micro-batch.
struct StagePasses {
  Duration before{};              ///< from the begin of the step to the first computation
  Duration last{};                ///< from the first computation of the last pass to the end of the step
  std::array<bool, 2> crosses{};  ///< whether messages from the stage before and behind are of other servers
  std::vector<std::array<PassPath, 4>> chunks{};  ///< by chunk, then by PassKind
};

class ProgramPath {
 public:
  /// Both must outlive the object. REQUIRES: tasks come after those that they wait for.
  ProgramPath(const TaskGraph& graph, RankId rank, const ClusterSpec& cluster, const PathFacts& facts);

  /// From the beginning of a step to its end. `in_lanes`: collectives of a communicator wait for those before them.
  [[nodiscard]] Duration whole(bool in_lanes) const;
  /// From the beginning to the first message to another stage; none: to the end.
  [[nodiscard]] Duration to_first_send() const;
  /// From the first message of another stage to the first one to another stage, or to the last one.
  [[nodiscard]] Duration receive_to_first_send() const;
  [[nodiscard]] Duration receive_to_last_send() const;
  /// From the last message of another stage on: to the last one to another stage, or to the end of the step.
  [[nodiscard]] Duration last_receive_to_last_send() const;
  [[nodiscard]] Duration last_receive_to_end() const;
  /// Of the passes of the one micro-batch that the program has. REQUIRES: `stage` of a pipeline of that shape wrote it.
  [[nodiscard]] StagePasses passes(const PipelineShape& shape, std::uint32_t stage) const;
  /// Time of the bytes that the rank must receive from other servers, at the rate of its NIC.
  [[nodiscard]] Duration nic() const { return nic_; }
  /// Time of the first message of another stage; 0: there is none.
  [[nodiscard]] Duration hop() const { return received_.empty() ? Duration{} : hops_[received_.front().index()]; }

 private:
  struct Lane {
    Duration began{-1};  // the last operation of it could begin then
    Duration free{};
  };

  /// When tasks end, and until when those that a task waits for, itself too, receive from other servers, by slot.
  struct Ends {
    std::vector<Duration> at{};
    std::vector<Duration> used{};  // by task and slot; empty: receivers need not switch
  };

  void measure(const Task& task, std::uint32_t in_server, bool joins_stages);
  [[nodiscard]] Duration compute(const Task& task) const;
  /// Ends of all tasks when nothing but `from` has happened; none: from the beginning. Before 0: not after it.
  [[nodiscard]] Ends ends(TaskId from, bool in_lanes) const;
  [[nodiscard]] Duration between(TaskId from, TaskId to) const;
  [[nodiscard]] Duration ring(const Task& task, const Communicator& group) const;
  [[nodiscard]] Duration switched(std::span<const Duration> used, std::uint32_t slot) const;
  [[nodiscard]] Duration inner(const Ends& ends, TaskId last, TaskId receive) const;
  [[nodiscard]] PassPath pass(TaskId receive, TaskId first, TaskId last, TaskId send) const;

  const Program& program_;
  const RankId rank_;
  const ClusterSpec& cluster_;
  const PathFacts facts_;
  std::vector<std::uint32_t> members_;    // by slot
  std::vector<std::uint32_t> in_server_;  // by slot: members in the rank's server; 0: not known
  std::vector<Duration> least_;           // by task
  std::vector<bool> is_free_;             // by task: a message that may be received before the pass before it is done
  std::vector<TaskId> received_;          // from other stages
  std::vector<TaskId> sent_;              // to other stages
  std::vector<RankId> senders_;           // by slot: the one of another server that it receives from; none: not known
  std::vector<Duration> arrives_;         // by task: from its begin, until all from the sender is there
  std::vector<Duration> hops_;            // by task: what a message takes once it can leave
  Duration nic_{};
};

}  // namespace photonrail::plan
