#include "rl/training_phase.hpp"

#include "photonrail/error.hpp"
#include "workload/training/forward_pass.hpp"

namespace photonrail::rl {

namespace {

constexpr std::size_t kMaxGraphs = 64;

PackingLimits limits_of(const TrainingPhase& phase) {
  const ParallelismSpec& p = phase.step.parallelism;
  PackingLimits limits{
      .ranks = p.dp, .tokens = phase.micro_batch_tokens, .packed = phase.packed, .token_multiple = p.tp * p.cp};
  if (phase.step.schedule == PipelineSchedule::kInterleaved) limits.micro_multiple = p.pp;
  if (phase.step.schedule == PipelineSchedule::kDualPipe) {
    limits.micro_multiple = 2;
    limits.micro_least = 2 * p.pp;
  }
  return limits;
}

TrainingSpec job_of(const TrainingPhase& phase, const Packing& packing) {
  TrainingSpec spec = phase.step;
  spec.sequence = packing.sequence;
  spec.micro_batch = packing.sequences;
  spec.global_batch = packing.micro_batches * packing.sequences * spec.parallelism.dp;
  return spec;
}

}  // namespace

TrainingSpec TrainingPhase::of(std::span<const std::uint32_t> tokens) const {
  return job_of(*this, pack(tokens, limits_of(*this)));
}

void TrainingLaunches::take(std::span<const std::uint32_t> tokens) {
  PHOTONRAIL_CHECK(queue_.empty() && tokens.size() % phase_->mini_batches == 0);
  const std::uint32_t models = phase_->critic ? 2 : 1;
  for (std::uint32_t pass = 0; pass < phase_->passes + models - 1; ++pass) queue_.push_back({false, graph(tokens, false)});
  const std::size_t each = tokens.size() / phase_->mini_batches;
  for (std::size_t first = 0; first < tokens.size(); first += each) {
    for (std::uint32_t model = 0; model < models; ++model) {
      queue_.push_back({true, graph(tokens.subspan(first, each), true)});
    }
  }
}

std::optional<TrainingLaunches::Launch> TrainingLaunches::next() {
  if (queue_.empty()) return std::nullopt;
  Launch launch = std::move(queue_.front());
  queue_.pop_front();
  return launch;
}

// Batches differ in their tokens: what was not used lately is not kept.
std::shared_ptr<const TaskGraph> TrainingLaunches::graph(std::span<const std::uint32_t> tokens, bool trains) {
  const Packing packing = pack(tokens, limits_of(*phase_));
  if (graphs_.size() >= kMaxGraphs) graphs_.clear();
  std::shared_ptr<const TaskGraph>& graph = graphs_[{packing, trains}];
  if (!graph) {
    const TrainingSpec spec = job_of(*phase_, packing);
    graph = std::make_shared<const TaskGraph>(trains ? make_training_graph(spec) : workload::make_forward_graph(spec));
  }
  return graph;
}

}  // namespace photonrail::rl
