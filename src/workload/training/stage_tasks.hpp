// The program of a stage as it is written: its slots, and its last computation. Each compute task of a pass waits for the
// one before it, so that no executor can reorder them.
#pragma once

#include "photonrail/task_graph.hpp"
#include "workload/training/part_cost.hpp"
#include "workload/training/stage_pass.hpp"
#include "workload/training/stage_slots.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace photonrail::workload {

/// Task ids ascend in the order of the calls.
class StageTasks {
 public:
  /// A message over a link of the stage.
  struct Message {
    SlotUse link;
    Bytes size;
    std::uint32_t tag;
  };

  /// Both must outlive the object. `book`: times computations and notes what `ranks` GPUs ran; null: they have FLOPs and
  /// bytes.
  StageTasks(TaskGraphBuilder& builder, std::vector<SlotUse> slots, OperatorBook* book = nullptr, double ranks = 1.0);

  [[nodiscard]] ProgramId program() const { return program_; }
  [[nodiscard]] bool has(SlotUse use) const;
  /// The last computation of a pass, or none.
  [[nodiscard]] TaskId last_compute() const { return last_compute_; }

  /// A computation of the pass: after the last one, what carries its data, and the weights of the unit.
  void compute(StagePass& pass, const Work& work, const std::string& task);
  /// An exchange of what carries the pass's data, where the stage has such a group.
  void exchange(StagePass& pass, SlotUse use, CollectiveOp op, Bytes size, const std::string& part);
  /// An all-to-all of the pass's data with traffic matrix number `demand`. REQUIRES: has(kExpert).
  void exchange_experts(StagePass& pass, std::uint32_t demand, Bytes typical, const std::string& part);

  /// REQUIRES: has(use).
  [[nodiscard]] TaskId collective(SlotUse use, CollectiveOp op, Bytes size, const std::string& task,
                                  const std::vector<TaskId>& after);
  /// A computation that is of no pass.
  [[nodiscard]] TaskId compute_apart(const Work& work, const std::string& task, const std::vector<TaskId>& after);
  /// `after`: a task, or none.
  void send(const Message& message, const std::string& task, TaskId after);
  [[nodiscard]] TaskId receive(const Message& message, const std::string& task, TaskId after);

  /// The tasks of `candidates` that exist.
  [[nodiscard]] static std::vector<TaskId> only(std::initializer_list<TaskId> candidates);

 private:
  [[nodiscard]] std::uint32_t slot(SlotUse use) const;
  void note_shares(TaskId task, const Work& work);

  TaskGraphBuilder& builder_;
  std::vector<SlotUse> slots_;
  OperatorBook* book_;
  double ranks_;
  ProgramId program_;
  TaskId last_compute_ = TaskId::none();
  std::map<OperatorBook::ClassTimes, std::uint32_t> shares_;  // numbers, by what they are made of
};

}  // namespace photonrail::workload
