// Parameters and gradients: fully sharded data parallelism (Zhao et al., arXiv 2304.11277), a sharded optimizer (ZeRO-1:
// Rajbhandari et al., arXiv 1910.02054, section 5.1), or whole replicas.
#pragma once

#include "workload/training/stage_model.hpp"
#include "workload/training/stage_tasks.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::workload {

class WeightWriter {
 public:
  /// Both must outlive the writer. `actions`: of the stage, in order.
  WeightWriter(const StageModel& model, StageTasks& tasks, const std::vector<PipelineAction>& actions);

  /// Asks for the weights of the pass's unit `number` after `pass.issued`, where they are not here. REQUIRES: units in
  /// order.
  void ask_for(StagePass& pass, std::size_t number);
  /// After the backward pass of a unit.
  void reduce_gradients(StagePass& pass, std::size_t number);
  /// After a backward pass: what is left in the chunk's bucket.
  void flush_bucket(std::uint32_t chunk, const std::string& prefix);
  /// The rest of the gradients, the norm, the optimizer.
  void finish_step();

 private:
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

  [[nodiscard]] bool needs_gather(const StagePass& pass, std::size_t number);
  std::vector<TaskId> gather(const Unit& unit, std::uint32_t chunk, const std::string& prefix, TaskId after);
  void reduce(std::int64_t parameters, std::int64_t experts, std::uint32_t chunk, const std::string& what, TaskId after);
  void reduce_over(SlotUse group, SlotUse replicas, std::int64_t parameters, std::uint32_t shard_count,
                   const std::string& what, TaskId after);
  void reduce_embedding(TaskId after);
  void average_loss();
  void clip(TaskId after);
  [[nodiscard]] std::int64_t own_parameters() const;  // those that the optimizer of the rank updates
  [[nodiscard]] std::int64_t padded(std::int64_t size, SlotUse group) const;  // bytes
  void gather_after(TaskId optimizer);
  [[nodiscard]] SlotUse data_slot(SlotUse own, SlotUse mirror, std::uint32_t chunk) const;
  [[nodiscard]] bool is_frozen() const;
  [[nodiscard]] bool is_last(const PipelineStep& step) const;
  [[nodiscard]] static std::int64_t shard(std::int64_t parameters, std::uint32_t shard_count) {  // padded, as FSDP does
    return (parameters + shard_count - 1) / shard_count;
  }

  const StageModel& model_;
  StageTasks& tasks_;
  std::vector<std::vector<char>> held_;  // by chunk and unit: the parameters are here in full
  std::vector<std::uint32_t> last_;      // by chunk: the micro-batch whose gradients come last
  std::vector<Bucket> buckets_;          // by chunk
  std::vector<Late> late_;
  std::vector<TaskId> gradients_;  // what the optimizer waits for
};

}  // namespace photonrail::workload
