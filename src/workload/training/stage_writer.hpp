// Writes the program of one pipeline stage, task by task. PartWriter writes what
// a unit does, RingWriter its context parallelism, WeightWriter parameters and gradients; this one passes and messages.
#pragma once

#include "workload/pipeline/actions.hpp"
#include "workload/training/stage_model.hpp"
#include "workload/training/stage_parts.hpp"
#include "workload/training/stage_pass.hpp"
#include "workload/training/stage_tasks.hpp"
#include "workload/training/stage_weights.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace photonrail::workload {

/// Tasks in schedule order.
class StageWriter {
 public:
  /// Tasks of all stages together: 120 bytes each, and more while the graph is made.
  static constexpr std::size_t kMaxTasks = std::size_t{1} << 24;

  /// REQUIRES: spec is valid; all outlive the writer. write() throws ConfigError when the stage has more than its share of
  /// `max_tasks`.
  StageWriter(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage, const MoeTraffic* experts,
              std::size_t max_tasks = kMaxTasks);
  StageWriter(const StageWriter&) = delete;  // its parts know each other
  StageWriter& operator=(const StageWriter&) = delete;

  /// REQUIRES: it is called once.
  ProgramId write(const std::vector<PipelineAction>& actions);
  /// Returns the operators of all GPUs of the stage. REQUIRES: the spec has operators, and the program is written.
  [[nodiscard]] std::vector<OperatorUse> used_operators() const { return model_.book->used(); }

 private:
  using ResultKey = std::tuple<bool, std::uint32_t, std::uint32_t>;  // forward, virtual stage, micro-batch

  void check_tasks() const;
  void pass(PipelineStep step);
  void pair(PipelineStep first, PipelineStep second);
  [[nodiscard]] StagePass begin(PipelineStep step);
  void end(StagePass& pass);
  [[nodiscard]] PassSegments segments(const StagePass& pass);
  void add_unit(PassSegments& list, const StagePass& pass, std::size_t number);
  void send(const PipelineAction& action);
  void receive(const PipelineAction& action);
  [[nodiscard]] ResultKey key(PipelineStep step, std::uint32_t virtual_stage) const;
  [[nodiscard]] std::uint32_t tag(PipelineStep step) const;

  std::size_t max_tasks_;  // of all stages
  StageModel model_;
  StageTasks tasks_;
  PartWriter parts_;
  std::optional<WeightWriter> weights_;  // from write() on
  TaskId posted_ = TaskId::none();       // messages are posted when this task is done: the result of the pass before
  std::map<ResultKey, TaskId> results_;  // of passes here, and those received
};

}  // namespace photonrail::workload
