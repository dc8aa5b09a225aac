// Which engines of a run are there: those that fail and come again, and those that start and stop with the load.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "serving/kv/handover.hpp"
#include "serving/serving_state.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::serving {

class Fleet {
 public:
  Fleet(ServingState& state, Handover& handover);

  /// Sets timers for all failures.
  void begin(WorkSink& sink);
  /// The engine fails, by the number of its failure; its requests are lost and routers learn of it; it is there again.
  void fail(std::size_t failure);
  /// Returns the requests that have to begin again.
  [[nodiscard]] std::vector<std::uint32_t> detect(std::size_t failure, WorkSink& sink);
  void repair(std::size_t failure);

  /// Starts and stops engines of pools that scale.
  void scale(WorkSink& sink);
  /// Weights that were on their way are there.
  void weights_done(std::uint64_t of, WorkSink& sink);
  /// The engine takes requests from now on.
  void started(std::uint64_t of);
  /// An engine that drains stops where it has nothing left.
  void stop_if_drained(std::uint32_t engine);

  /// Adds its own numbers.
  void report(ServingResult& result) const;

 private:
  /// State of an engine that starts.
  struct Start {
    std::uint32_t number = 0;    // counts its starts
    std::uint32_t messages = 0;  // that have not come
    Time decided{};
  };
  [[nodiscard]] std::vector<std::uint32_t> engines_of(const EngineFailure& failure) const;
  void keep_progress(std::uint32_t number, bool prefill_failed);
  void scale(std::uint32_t pool, WorkSink& sink);
  void start(std::uint32_t pool, std::uint32_t engine, WorkSink& sink);
  void up(std::uint32_t engine);

  ServingState* state_;
  Handover* handover_;
  std::vector<Start> starts_;          // by engine
  std::vector<Time> next_decision_;    // by pool: not before
  std::vector<bool> timed_;            // by pool: a timer will look at the load
  std::vector<std::uint32_t> failed_;  // by engine: failures that it is out for
  TimeSamples start_times_;
  std::uint64_t weight_bytes_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t stopped_ = 0;
};

}  // namespace photonrail::serving
