// The least times of one rank's program: longest paths through it, on which each collective takes what the bytes that no
// member can do without take at the fastest rate that they could have.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::plan {

/// What is known of a job's ranks.
struct PathFacts {
  bool in_order = true;       ///< rank r runs on GPU r, so that the servers of a group are known
  bool one_at_a_time = true;  ///< collectives of a communicator run one after another
  /// The rank posts each receive from another stage when the pass before it is done, so that it waits for the message.
  bool posts_in_turn = false;
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
  /// What the bytes that the rank must receive from other servers take at the rate of its NIC.
  [[nodiscard]] Duration nic() const { return nic_; }
  /// What a message of another stage takes; 0: there is none.
  [[nodiscard]] Duration hop() const { return hop_; }

 private:
  struct Lane {
    Duration began{-1};  // the last operation of it could begin then
    Duration free{};
  };

  void measure(const Task& task, std::uint32_t in_server, bool joins_stages);
  [[nodiscard]] Duration compute(const Task& task) const;
  /// Ends of all tasks when nothing but `from` has happened; none: from the beginning. Before 0: not after it.
  [[nodiscard]] std::vector<Duration> ends(TaskId from, bool in_lanes) const;
  [[nodiscard]] Duration between(TaskId from, TaskId to) const;

  const Program& program_;
  const ClusterSpec& cluster_;
  const PathFacts facts_;
  std::vector<std::uint32_t> members_;    // by slot
  std::vector<std::uint32_t> in_server_;  // by slot: members in the rank's server; 0: not known
  std::vector<Duration> least_;           // by task
  std::vector<bool> is_free_;             // by task: a message that may be received before the pass before it is done
  std::vector<TaskId> received_;          // from other stages
  std::vector<TaskId> sent_;              // to other stages
  Duration nic_{};
  Duration hop_{};
};

}  // namespace photonrail::plan
