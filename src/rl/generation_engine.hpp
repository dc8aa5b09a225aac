// One engine that generates a closed batch: all of its requests are known when they come, and none is turned away. A
// machine without a clock. Decode steps between two changes of the batch are alike and are taken as one run, so that a
// rollout of thousands of tokens costs an event for each response and not for each token.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

namespace photonrail::rl {

/// What a step of an engine takes, in picoseconds. `sequences` decode a token each and read `cached` tokens together.
class GenerationCost {
 public:
  virtual ~GenerationCost() = default;
  [[nodiscard]] virtual double decode(double sequences, double cached) const = 0;
  /// A pass over `tokens` new tokens of prompts, or of sequences whose KV was lost.
  [[nodiscard]] virtual double prefill(double tokens) const = 0;
};

struct GenerationLimits {
  std::uint32_t sequences = 256;  ///< that run at once
  double kv_tokens = 1e18;        ///< that the engine's memory holds
  std::uint32_t longest_run = 0;  ///< decode steps after which a run ends at the latest; 0: none
};

/// A stretch of generation: `prompt` and `cached` tokens are there before, `tokens` come.
struct GenerationRequest {
  std::uint64_t sample = 0;
  double fresh = 0.0;   ///< tokens whose KV must be computed first
  double cached = 0.0;  ///< tokens before the first new one, the fresh ones among them
  double room = 0.0;    ///< tokens of KV that it will ever have: admitted where they fit, so that none is preempted
  std::uint32_t tokens = 1;
};

class GenerationEngine {
 public:
  /// `cost` must outlive the engine.
  GenerationEngine(const GenerationCost& cost, const GenerationLimits& limits) : cost_(&cost), limits_(limits) {}

  void add(const GenerationRequest& request) { waiting_.push_back(request); }
  /// A sample that waits for a tool keeps its KV: it takes no part in steps, and its room stays taken until it is added
  /// again, or until drop().
  void keep(double room) { kept_ += room; }
  void drop(double room) { kept_ -= room; }
  /// All KV of running samples is computed anew in the next run, as where new weights came in between.
  void recompute();

  /// Begins the next run; nullopt where the engine has nothing to do. REQUIRES: no run is open.
  [[nodiscard]] std::optional<Duration> begin_run();
  /// Ends it, and returns the samples whose tokens are complete.
  [[nodiscard]] std::vector<std::uint64_t> end_run();

  [[nodiscard]] bool busy() const { return open_; }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] double generated() const { return generated_; }
  /// Slots that stood empty while the engine ran, in picoseconds x slots, of those that its requests ever filled.
  [[nodiscard]] double slot_time() const { return slot_time_; }

 private:
  struct Running {
    std::uint64_t stop = 0;  ///< decode steps of the engine until its last token
    std::uint64_t sample = 0;
    double room = 0.0;
    double cached_at_stop = 0.0;
    friend bool operator>(const Running& a, const Running& b) {
      return a.stop != b.stop ? a.stop > b.stop : a.sample > b.sample;
    }
  };
  void admit();

  const GenerationCost* cost_;
  GenerationLimits limits_;
  std::deque<GenerationRequest> waiting_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::uint64_t steps_ = 0;      ///< decode steps so far
  std::uint64_t run_steps_ = 0;  ///< of the open run
  bool open_ = false;
  double cached_ = 0.0;  ///< tokens that the running samples have
  double room_ = 0.0;    ///< taken by running samples
  double kept_ = 0.0;
  double fresh_ = 0.0;  ///< tokens to prefill before the next run
  double generated_ = 0.0;
  double slot_time_ = 0.0;
};

}  // namespace photonrail::rl
