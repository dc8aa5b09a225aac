// Writes the program of one pipeline stage, task by task. See stage_program.hpp for what comes out.
#pragma once

#include "workload/pipeline/actions.hpp"
#include "workload/training/layer_cost.hpp"
#include "workload/training/stage_slots.hpp"
#include "workload/training/stage_units.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail::workload {

/// Tasks in schedule order. Each compute task waits for the one before it, so that no executor can reorder them.
class StageWriter {
 public:
  /// Tasks of all stages together: 120 bytes each, and more while the graph is made.
  static constexpr std::size_t kMaxTasks = std::size_t{1} << 24;

  /// REQUIRES: spec is valid; all outlive the writer. write() throws ConfigError when the stage has more than its share of
  /// `max_tasks`.
  StageWriter(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage, const MoeTraffic* experts,
              std::size_t max_tasks = kMaxTasks);

  ProgramId write(const std::vector<PipelineAction>& actions);

 private:
  /// One pass on its way through the units.
  struct Flow {
    PipelineStep step;
    std::string prefix;                          // of the names of its tasks
    TaskId data = TaskId::none();                // what carries the activation or its gradient now
    TaskId issued = TaskId::none();              // after this task the next weights are asked for
    std::vector<TaskId> gathered;                // the weights of the present unit, until something waits for them
    std::vector<std::vector<TaskId>> asked_for;  // the weights of the units, in the order of the pass

    [[nodiscard]] bool forward() const { return step.kind == PassKind::kForward; }
  };
  using Segments = std::vector<std::function<void(Flow&)>>;          // a pass in pieces that other work may stand between
  using ResultKey = std::tuple<bool, std::uint32_t, std::uint32_t>;  // forward, virtual stage, micro-batch

  // stage_program.cpp: passes and messages
  void check_tasks() const;
  void pass(PipelineStep step);
  void pair(PipelineStep first, PipelineStep second);
  [[nodiscard]] Flow begin(PipelineStep step);
  void end(Flow& flow);
  [[nodiscard]] Segments segments(const Flow& flow);
  void add_unit(Segments& list, const Flow& flow, std::size_t number);
  void ask_for(Flow& flow, std::size_t number);
  void send(const PipelineAction& action);
  void receive(const PipelineAction& action);
  [[nodiscard]] ResultKey key(PipelineStep step, std::uint32_t virtual_stage) const;
  [[nodiscard]] std::uint32_t tag(PipelineStep step) const;
  [[nodiscard]] Unit& unit_of(const Flow& flow, std::size_t number);

  // stage_parts.cpp: what a unit computes and exchanges
  void add_forward(Segments& list, const Unit& unit, const std::string& again = {});
  void add_backward(Segments& list, const Unit& unit);
  void add_experts_forward(Segments& list, const std::string& part, std::uint32_t layer);
  void add_experts_backward(Segments& list, const std::string& part, std::uint32_t layer);
  void attention_forward(Flow& flow, const std::string& part);
  void attention_backward(Flow& flow, const std::string& part);
  void weights_of(Flow& flow, const Unit& unit);
  void sharded_part(Flow& flow, const Work& work, const std::string& part);
  void enter(Flow& flow, const std::string& part);
  void leave(Flow& flow, const std::string& part);
  void exchange(Flow& flow, SlotUse use, CollectiveOp op, Bytes size, const std::string& part);
  void to_experts(Flow& flow, const std::string& part, std::uint32_t layer);
  void from_experts(Flow& flow, const std::string& part, std::uint32_t layer);
  void all_to_all(Flow& flow, const std::string& part, std::uint32_t layer, MoeExchange direction);
  void compute(Flow& flow, const Work& work, const std::string& task);
  [[nodiscard]] Work work(const Flow& flow, const Cost& cost) const;

  // stage_ring.cpp: context parallelism
  void ring_forward(Flow& flow, const std::string& part);
  void ring_backward(Flow& flow, const std::string& part, const Work& work);
  [[nodiscard]] TaskId pass_on(Flow& flow, TaskId block, std::uint32_t ring_tag, const std::string& task);

  // stage_weights.cpp: parameters and gradients
  [[nodiscard]] bool needs_gather(const Flow& flow, std::size_t number);
  std::vector<TaskId> gather(const Unit& unit, std::uint32_t chunk, const std::string& prefix, TaskId after);
  void reduce_gradients(Flow& flow, std::size_t number);
  void reduce(std::int64_t parameters, std::int64_t experts, std::uint32_t chunk, const std::string& what, TaskId after);
  void reduce_over(SlotUse group, SlotUse replicas, std::int64_t parameters, std::uint32_t shard_count,
                   const std::string& what, TaskId after);
  void flush_bucket(std::uint32_t chunk, const std::string& prefix);
  void reduce_embedding(TaskId after);
  void finish_step();
  void average_loss();
  void clip(TaskId after);
  [[nodiscard]] std::int64_t own_parameters() const;  // those that the optimizer of the rank updates
  void gather_after(TaskId optimizer);
  [[nodiscard]] SlotUse data_slot(SlotUse own, SlotUse mirror, std::uint32_t chunk) const;
  [[nodiscard]] bool is_last(const PipelineStep& step) const;

  [[nodiscard]] bool has(SlotUse use) const;
  [[nodiscard]] std::uint32_t slot(SlotUse use) const;
  [[nodiscard]] Bytes message() const { return spec_.sequence_parallel ? cost_.activation_shard : cost_.activation; }
  [[nodiscard]] static std::int64_t shard(std::int64_t parameters, std::uint32_t shard_count) {  // padded, as FSDP does
    return (parameters + shard_count - 1) / shard_count;
  }
  /// The tasks of `candidates` that exist.
  [[nodiscard]] static std::vector<TaskId> only(std::initializer_list<TaskId> candidates);

  struct Bucket {
    std::int64_t parameters = 0;
    std::int64_t experts = 0;
    std::uint32_t number = 0;
  };
  struct Late {  // a reduction that waits for the end of the backward passes
    std::int64_t parameters = 0;
    std::int64_t experts = 0;
    std::uint32_t chunk = 0;
    std::string what;
  };

  TaskGraphBuilder& builder_;
  const TrainingSpec& spec_;
  std::uint32_t stage_;
  std::size_t max_tasks_;      // of all stages
  const MoeTraffic* experts_;  // demands of their all-to-alls; null: even
  PipelineShape shape_;
  ModelCost cost_;
  std::vector<SlotUse> slots_;
  ProgramId program_;
  std::vector<std::vector<Unit>> units_;  // by chunk, in forward order
  std::vector<std::vector<char>> held_;   // by chunk and unit: the parameters are here in full
  std::vector<std::uint32_t> last_;       // by chunk: the micro-batch whose gradients come last

  TaskId last_compute_ = TaskId::none();
  TaskId posted_ = TaskId::none();       // messages are posted when this task is done: the result of the pass before
  std::map<ResultKey, TaskId> results_;  // of passes here, and those received
  std::vector<Bucket> buckets_;          // by chunk
  std::vector<Late> late_;
  std::vector<TaskId> gradients_;  // what the optimizer waits for
};

}  // namespace photonrail::workload
