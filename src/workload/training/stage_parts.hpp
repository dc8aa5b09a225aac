// The parts are what a unit of a stage computes and exchanges in a pass: embedding, attention, MLP or experts, head.
#pragma once

#include "workload/training/stage_model.hpp"
#include "workload/training/stage_ring.hpp"
#include "workload/training/stage_tasks.hpp"

#include <cstdint>
#include <string>

namespace photonrail::workload {

/// Appends segments that write when they are called; `unit` and the writer must live until then.
class PartWriter {
 public:
  /// Both must outlive the writer.
  PartWriter(const StageModel& model, StageTasks& tasks) : model_(model), tasks_(tasks), ring_(model, tasks) {}

  /// `again`: in front of the names of its tasks.
  void add_forward(PassSegments& list, const Unit& unit, const std::string& again = {});
  void add_backward(PassSegments& list, const Unit& unit);
  /// The weights' half of a split backward pass, which exchanges nothing.
  void weights_of(StagePass& pass, const Unit& unit);

 private:
  void add_experts_forward(PassSegments& list, const std::string& part, const Unit& unit);
  void add_experts_backward(PassSegments& list, const std::string& part, const Unit& unit);
  void experts_beside(StagePass& pass, const std::string& part, const Unit& unit);
  void attention_forward(StagePass& pass, const PartCost& attention, const std::string& part);
  void attention_backward(StagePass& pass, const PartCost& attention, const std::string& part);
  void add_layer_forward(PassSegments& list, const Unit& unit, const std::string& name);
  void add_layer_backward(PassSegments& list, const Unit& unit);
  /// A part whose exchanges run beside its first and its last product, piece by piece.
  void overlapped_part(StagePass& pass, const Work& first, const Work& between, const Work& last, const std::string& part);
  /// `forward`: also of what a backward pass computes again.
  void whole_part(StagePass& pass, const PartCost& cost, const std::string& part, bool forward);
  void sharded_part(StagePass& pass, const Work& work, const std::string& part);
  void enter(StagePass& pass, const std::string& part);
  void leave(StagePass& pass, const std::string& part);
  void gather_routing(StagePass& pass, const std::string& part);
  void to_experts(StagePass& pass, const std::string& part, std::uint32_t layer);
  void from_experts(StagePass& pass, const std::string& part, std::uint32_t layer);
  void all_to_all(StagePass& pass, const std::string& part, std::uint32_t layer, MoeExchange direction);
  void head(StagePass& pass, const Work& work, const std::string& part);
  void shared(StagePass& pass, const Work& work, const std::string& part);
  /// Shared experts, or a projection behind the routed ones.
  [[nodiscard]] bool has_shared() const { return model_.cost.experts.last.forward.flops > 0.0; }
  [[nodiscard]] Work work(const StagePass& pass, const Cost& cost) const;

  const StageModel& model_;
  StageTasks& tasks_;
  RingWriter ring_;
};

}  // namespace photonrail::workload
