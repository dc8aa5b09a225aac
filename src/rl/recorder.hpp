// Keeps the times of a reinforcement learning job's phases, step by step.
#pragma once

#include "photonrail/workload/rl.hpp"
#include "rl/rollouts.hpp"
#include "rl/schedule.hpp"
#include "rl/spec.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace photonrail::rl {

class Recorder {
 public:
  explicit Recorder(const RlSpec& spec);

  /// A batch is taken for training.
  void takes(const TakenBatch& batch, const Rollouts& rollouts, Time now);
  /// An optimizer step begins: the first of a batch ends its log-probabilities.
  void training_begins(Time now);
  void optimizer_step() { ++result_.steps.back().optimizer_steps; }
  void training_ends(Time now);
  /// What training keeps moves to the hosts, or comes back. The first ends where preparations begin, the second here.
  void moved(double bytes) { result_.offloaded_bytes += bytes; }
  void prepares(Time now) { result_.steps.back().offload = now - taken_; }
  void reloaded(Time now) { result_.steps.back().reload = now - trained_; }
  /// KV of a response that waited for a tool has left and come back.
  void swapped(double bytes) { result_.swapped_bytes += 2.0 * bytes; }
  void made_again(std::uint64_t samples) { result_.made_again += samples; }
  /// Controllers have the requests of all of its ranks.
  void refit_announced(Time now) { announced_ = std::min(announced_, now); }
  void refit_begins(Time now);
  void refit_ends(Time now);
  /// The engine begins a run, or stands still, and samples of it may wait for tools.
  void engine(std::uint32_t engine, bool runs, bool waits_for_tools, Time now);
  [[nodiscard]] const RlResult& result() const { return result_; }

 private:
  void close(Time now);

  RlResult result_;
  std::uint32_t prompt_ = 0;        ///< tokens
  bool open_ = false;               ///< the last step has not ended
  Time ended_{};                    ///< the step before
  Time taken_{};                    ///< the batch of the open step
  Time training_ = Time::never();   ///< its training began, and has not ended
  Time trained_{};                  ///< ... ended
  Time announced_ = Time::never();  ///< the refit that is next
  Time refit_{};
  Duration known_{};                ///< the refit that goes on, before it began
  std::vector<Time> stands_since_;  ///< by engine, for samples at tools; never: it does not
};

}  // namespace photonrail::rl
