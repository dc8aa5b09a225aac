// One engine that generates a closed batch: serving's scheduler and paged KV, in runs of steps between two changes of the
// batch. A machine without a clock, which knows responses by number.
#pragma once

#include "photonrail/units.hpp"
#include "serving/engine/closed_batch.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace photonrail::rl {

/// A stretch of generation, until a response calls a tool or ends.
struct Stretch {
  std::uint64_t sample = 0;
  std::uint64_t prefix = 0;   ///< differs between prompts, and between weights that computed their KV
  std::uint32_t prompt = 1;   ///< tokens of the prompt, which responses to it share
  std::uint32_t context = 1;  ///< tokens before the first new one, the prompt among them
  std::uint32_t tokens = 1;   ///< to generate
  std::uint32_t brought = 0;  ///< tokens whose KV comes from elsewhere, as after a swap
};

class GenerationEngine {
 public:
  /// `times` must outlive the engine. `seed`: of speculation's draws.
  GenerationEngine(const serving::EngineSpec& spec, const serving::StepTime& times, std::uint64_t seed);

  /// REQUIRES: the engine's KV has room for context + tokens. KV that the sample has here is given up, and found again
  /// where no other has taken its blocks.
  void add(const Stretch& stretch);
  /// The sample's KV is given up: its response is complete, or its KV leaves while it waits.
  void release(std::uint64_t sample);
  /// All KV is computed anew, as where new weights came in between.
  void recompute() { batch_.scheduler().lose_kv(); }

  /// Begins the next run; nullopt where the engine has nothing that it can do. REQUIRES: no run is open.
  [[nodiscard]] std::optional<Duration> begin_run(Time now, const serving::RunLimit& limit = {});
  /// Tokens that go through the model in the run that was begun last.
  [[nodiscard]] std::uint64_t run_tokens() const { return tokens_; }
  /// Ends it, and returns the samples whose stretches are complete; they keep their KV until add() or release().
  [[nodiscard]] std::vector<std::uint64_t> end_run();

  [[nodiscard]] bool busy() const { return open_; }
  /// Samples that run or wait.
  [[nodiscard]] std::size_t samples() const;
  [[nodiscard]] const serving::BatchTotals& totals() const { return batch_.totals(); }
  [[nodiscard]] const serving::KvBlocks& blocks() const { return batch_.scheduler().blocks(); }

 private:
  void bring();

  serving::ClosedBatch batch_;
  std::deque<std::pair<serving::Request, std::uint32_t>> inbound_;  ///< with KV from elsewhere that waits for blocks
  std::unordered_map<std::uint64_t, serving::Slot> kept_;           ///< of samples between two stretches
  std::vector<std::uint64_t> done_;
  std::uint64_t tokens_ = 0;
  bool open_ = false;
};

}  // namespace photonrail::rl
