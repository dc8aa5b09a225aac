// When a reinforcement learning job generates, trains and refits: a machine without a clock, which knows samples by number
// and weights by version. The modes differ in a few numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace photonrail::rl {

/// Version v are the weights after v training steps.
struct ModeSpec {
  std::uint32_t batch = 512;  ///< samples of a training step
  /// Batches that may be begun beyond what the engines' weights are due for: on policy 0, one step off 1; asynchronous: the
  /// staleness threshold (verl), any number from 0.
  double ahead = 0.0;
  /// Samples in flight go on with new weights (partial rollouts): a refit does not wait for them, and a sample begins as
  /// soon as it may. Else samples begin a batch at a time, when none is in flight.
  bool partial = false;
  /// A training step takes the samples that were begun first, as NeMo RL does, whose trajectories have the step that they
  /// are for; else those that were complete first.
  bool in_order = false;
  bool shared = false;          ///< generation and training take turns on the same GPUs
  std::uint32_t oldest = 1000;  ///< versions: an older sample is dropped when a batch is taken, and made again
  std::uint32_t steps = 1;      ///< training steps in all

  /// Throws ConfigError whose `where` is the field.
  void validate() const;
};

/// What a training step took.
struct TakenBatch {
  std::vector<std::uint64_t> samples;
  std::vector<std::uint32_t> staleness;  ///< of each: the version that is trained minus the one that it was begun with
  std::uint32_t dropped = 0;             ///< too old
};

class Schedule {
 public:
  explicit Schedule(const ModeSpec& mode) : mode_(mode) {}

  /// Samples that may be begun now.
  [[nodiscard]] std::uint64_t may_begin() const;
  /// Begins so many samples at once, and returns the number of the first.
  std::uint64_t begin(std::uint64_t samples);
  /// The sample, which is in flight, is made again with the engines' weights.
  void again(std::uint64_t sample) { version_of_[sample] = engines_; }
  /// The sample is complete, scored and queued.
  void complete(std::uint64_t sample);
  [[nodiscard]] bool may_train() const;
  TakenBatch train();
  void trained();
  [[nodiscard]] bool may_refit() const;
  /// No response is in flight, and none may begin before a refit.
  [[nodiscard]] bool waits_for_refit() const { return !refitting_ && in_flight() == 0 && may_begin() == 0; }
  void refit();
  void refitted();

  [[nodiscard]] bool finished() const { return trained_ >= mode_.steps && !refitting_; }
  /// Training steps that are done.
  [[nodiscard]] std::uint32_t version() const { return trained_; }
  /// The version of the engines' weights.
  [[nodiscard]] std::uint32_t engine_version() const { return engines_; }
  [[nodiscard]] std::uint64_t in_flight() const { return begun_ - complete_; }
  [[nodiscard]] std::uint64_t queued() const { return queue_.size(); }
  [[nodiscard]] bool training() const { return training_; }
  [[nodiscard]] bool refitting() const { return refitting_; }
  [[nodiscard]] std::uint64_t begun() const { return begun_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] bool too_old(std::uint64_t sample) const { return trained_ - version_of_[sample] > mode_.oldest; }
  [[nodiscard]] std::uint64_t fresh() const;
  [[nodiscard]] bool first_are_complete() const;

  ModeSpec mode_;
  std::vector<std::uint32_t> version_of_;  ///< by sample: of the engines when it was begun
  std::deque<std::uint64_t> queue_;        ///< complete, in the order in which they are taken
  std::uint64_t taken_ = 0;                ///< samples that were trained or dropped; in order: the first ones
  std::uint64_t begun_ = 0;
  std::uint64_t complete_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint32_t trained_ = 0;
  std::uint32_t engines_ = 0;
  std::uint32_t sent_ = 0;  ///< the version that a refit sends
  bool training_ = false;
  bool refitting_ = false;
};

}  // namespace photonrail::rl
