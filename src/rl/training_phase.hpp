// What training ranks do with a batch: forward passes for log-probabilities, then an optimizer step for each mini-batch, as
// task graphs of the training generator. Says what is launched, one after another.
#pragma once

#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"
#include "rl/packing.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::rl {

struct TrainingPhase {
  /// The model and how it is trained. Its sequence, global batch and micro-batch follow from the responses.
  TrainingSpec step{};
  std::uint32_t passes = 2;        ///< forward passes before training: log-probabilities of the policy, of a reference
  bool critic = false;             ///< a second model of the size values the responses in a pass of its own, and is trained
  std::uint32_t mini_batches = 1;  ///< optimizer steps, a divisor of the batch
  bool packed = true;              ///< see PackingLimits
  std::uint32_t micro_batch_tokens = 0;  ///< see PackingLimits

  [[nodiscard]] std::uint32_t ranks() const { return step.parallelism.ranks(); }
  /// The job of a mini-batch of responses of so many tokens, their prompts included.
  [[nodiscard]] TrainingSpec of(std::span<const std::uint32_t> tokens) const;
};

class TrainingLaunches {
 public:
  struct Launch {
    bool trains = false;  ///< else a forward pass
    std::shared_ptr<const TaskGraph> graph;
  };

  /// `phase` must outlive the object.
  explicit TrainingLaunches(const TrainingPhase& phase) : phase_(&phase) {}

  /// A batch is taken: tokens of its responses, in the order in which they are trained. REQUIRES: none is left of the batch
  /// before.
  void take(std::span<const std::uint32_t> tokens);
  /// What comes next; nullopt: the batch is trained.
  [[nodiscard]] std::optional<Launch> next();
  /// Nothing comes next.
  [[nodiscard]] bool done() const { return queue_.empty(); }

 private:
  using Key = std::pair<Packing, bool>;
  [[nodiscard]] std::shared_ptr<const TaskGraph> graph(std::span<const std::uint32_t> tokens, bool trains);

  const TrainingPhase* phase_;
  std::deque<Launch> queue_;
  std::map<Key, std::shared_ptr<const TaskGraph>> graphs_;
};

}  // namespace photonrail::rl
