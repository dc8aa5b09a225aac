// Decides what an engine computes in its next step: a machine from the queue and the blocks to a step, without a clock. The
// rules are those of vLLM V1 (scheduler.py): requests that run come first, in the order in which they were admitted; there
// is no mode for prefill or decode. docs/models/serving.md has them in words.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"
#include "serving/engine/blocks.hpp"
#include "serving/engine/engine_spec.hpp"
#include "serving/engine/intake.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace photonrail::serving {

/// A request as an engine sees it.
struct Request {
  std::uint64_t id = 0;       ///< differs between requests
  std::uint64_t content = 0;  ///< differs between requests that do not continue each other
  std::uint32_t prompt = 1;
  std::uint32_t output = 1;         ///< tokens to generate in all
  std::uint32_t generated = 0;      ///< of these, before it came to this engine
  std::int32_t priority = 0;        ///< less is sooner
  std::vector<std::uint64_t> keys;  ///< of the full blocks of its prompt, EngineSpec::keys_per_block each; may be fewer

  /// The tokens of KV that it needs in all; the last token's is never written.
  [[nodiscard]] std::uint64_t kv_tokens() const { return std::uint64_t{prompt} + output - 1; }
  [[nodiscard]] Content contents(const EngineSpec& engine) const { return {keys, content, engine.keys_per_block}; }
};

/// Names a request that the engine has.
using Slot = std::uint32_t;

/// A request of the running batch.
struct Running {
  Slot slot = 0;
  std::uint32_t computed = 0;  ///< tokens whose KV is in its blocks
  std::uint32_t reached = 0;   ///< prompt and generated tokens
  std::uint32_t last = 0;      ///< what `reached` will be at its end
  std::uint32_t capacity = 0;  ///< tokens that its blocks hold
  std::uint32_t now = 0;       ///< tokens of this step
  std::uint32_t full_at = 0;   ///< tokens at which the next of its blocks is full
  std::uint32_t prompt = 0;
  std::uint32_t until = 0;  ///< what `reached` is at the end of its slice
  Time last_token = Time::never();
  Duration longest_gap{};
};

/// What an engine computes together.
struct Step {
  struct Admitted {
    Slot slot = 0;
    std::uint32_t cached = 0;  ///< tokens that it found
    std::uint32_t tokens = 0;  ///< of its prompt that it has to compute, of one with KV from another engine none
    bool again = false;        ///< it had been preempted: `tokens` are those that it had computed before
  };

  std::uint32_t sequences = 0;  ///< requests of the step
  std::uint32_t prefills = 0;   ///< those with more than one token
  std::uint32_t prefill_tokens = 0;
  std::uint64_t prefill_reads = 0;  ///< sum of tokens x tokens that are cached before them
  std::uint32_t decodes = 0;
  std::uint32_t decode_tokens = 0;   ///< more than `decodes` where drafts are verified
  std::uint64_t decode_cached = 0;   ///< tokens that decodes read, all together
  std::uint32_t longest_cached = 0;  ///< ... that one of them reads
  std::uint32_t swapped_out = 0;     ///< blocks that go to other memory
  std::uint32_t swapped_in = 0;      ///< ... and come back
  bool lacks_blocks = false;         ///< for one that was preempted, or could not be admitted
  std::vector<Admitted> admitted;
  std::vector<Slot> preempted;  ///< in this order

  [[nodiscard]] std::uint32_t tokens() const { return prefill_tokens + decode_tokens; }
  [[nodiscard]] bool empty() const { return sequences == 0; }
  void clear();
};

/// What the end of a step gave.
struct StepEnd {
  struct Finished {
    Slot slot = 0;
    Duration longest_gap{};
  };

  std::vector<Slot> first;         ///< their first token on this engine
  std::uint64_t regular = 0;       ///< tokens that follow one of the step before: their gap is that of the two ends
  std::uint64_t joined = 0;        ///< further tokens of the same instant, which drafts gave
  std::vector<Duration> gaps;      ///< of the other tokens
  std::vector<Finished> finished;  ///< their slots are free again unless the engine keeps finished requests
};

/// Tokens of a running request that a step with room for all would take: drafts too.
[[nodiscard]] std::uint32_t wanted(const EngineSpec& spec, const Running& running);

class Scheduler {
 public:
  /// `keeps_finished`: blocks of a finished request stay until release(), since its KV has to be sent. `draws`: of
  /// speculation.
  explicit Scheduler(const EngineSpec& spec, bool keeps_finished = false, RandomStream draws = RandomStream(1, "drafts"));

  /// False: it can never run here, and must not be enqueued.
  [[nodiscard]] bool fits(const Request& request) const;

  Slot enqueue(Request request);
  /// The place of a request whose KV comes from another engine.
  struct Reserved {
    Slot slot = 0;
    std::uint32_t found = 0;  ///< tokens of its beginning that are here, and need not come
  };
  /// Gives a request blocks for `computed` tokens, of those that another engine has, `there`; one of these comes at least.
  /// None where there are not enough.
  [[nodiscard]] std::optional<Reserved> reserve(Request request, std::uint32_t computed, std::uint32_t there);
  /// The tokens are there: the request may be admitted.
  void deliver(Slot slot);
  /// Tokens of the request's beginning that the engine has.
  [[nodiscard]] std::uint32_t cached_tokens(const Request& request) const;
  /// Frees what a request holds that is finished, or reserved and not delivered: the engine has it no more.
  void release(Slot slot);
  /// All KV is lost: requests compute theirs again, and no content is found. REQUIRES: no step is open.
  void lose_kv();
  /// Tokens and times that a request has got here, for an engine that takes it over.
  struct Progress {
    std::uint32_t generated = 0;  ///< tokens in all
    Time last_token = Time::never();
    Duration longest_gap{};
  };
  [[nodiscard]] Progress progress(Slot slot) const;

  /// Blocks that preempted requests may have in other memory: one that does not fit is computed again. Where they have more
  /// the last of the queue lose theirs. Endless unless this is called.
  void set_swap_room(std::uint64_t blocks);
  /// The next step; empty where nothing can run. REQUIRES: the step before has ended.
  const Step& next();
  /// The step that next() gave ends.
  const StepEnd& finish(Time end);

  [[nodiscard]] const EngineSpec& spec() const { return spec_; }
  [[nodiscard]] const KvBlocks& blocks() const { return blocks_; }
  [[nodiscard]] KvBlocks& blocks() { return blocks_; }  ///< to lend some, and to take them back
  [[nodiscard]] std::span<const Running> running() const { return running_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] bool has_work() const { return !running_.empty() || !waiting_.empty(); }
  [[nodiscard]] std::uint64_t id(Slot slot) const { return known_[slot].request.id; }
  [[nodiscard]] const Step& step() const { return step_; }

 private:
  friend class DecidedSteps;  // steps of EngineSpec::policy

  /// What is not needed in every step.
  struct Known {
    Request request;
    HeldBlocks held;
    std::uint32_t computed = 0;  // of a swapped or delivered request
    std::uint32_t reached = 0;
    std::uint32_t filled = 0;  // blocks whose content is known
    std::uint32_t lost = 0;    // tokens that it had computed when it was preempted
    std::int64_t sequence = 0;
    bool swapped = false;
    bool again = false;
    bool apart = false;
    Time last_token = Time::never();
    Duration longest_gap{};

    /// Its place in the queue is that of its rank, then of its sequence.
    [[nodiscard]] std::int64_t rank(QueueOrder order) const;
  };
  using Place = std::tuple<std::int64_t, std::int64_t, Slot>;  // rank, sequence

  [[nodiscard]] Slot make(Request request);
  enum class Part : std::uint8_t { kAll, kPrompts, kDecodes };
  void run_batch(Part part);
  bool make_room(std::size_t& index, std::uint32_t tokens);
  void preempt(std::size_t index, bool slice_over = false);
  void end_slices();
  void count(Running& running, std::uint32_t tokens, int sign);
  bool give_up_delivered(bool first);
  /// `most_found`: tokens that it may find, at most.
  bool admit(Slot slot, std::uint32_t most_tokens, std::uint32_t most_found = ~0U);
  bool give_blocks(Known& known, std::uint32_t most_found, std::uint32_t& computed, std::uint32_t& tokens);
  void emit(Running& running, std::uint32_t tokens, Time end);

  EngineSpec spec_;
  /// Requests that have blocks and neither run nor wait: those reserved and not delivered, and some that are finished.
  struct Apart {
    bool finished = false;  // so are those that are finished, until release()
    std::uint32_t count = 0;
    bool stall_step = false;  // the only running request waits for their blocks

    void set(Known& known, bool apart) {
      if (known.apart != apart) apart ? ++count : --count;
      known.apart = apart;
    }
  } apart_;
  KvBlocks blocks_;
  std::vector<Known> known_;
  std::vector<Slot> unused_;
  std::vector<Running> running_;
  std::set<Place> waiting_;
  struct Sequences {  // of those that come, and of those that go to the front
    std::int64_t next = 0;
    std::int64_t front = 0;
    Intake intake{};
  } sequences_;
  std::uint64_t preempted_in_vain_ = 0;  // by a policy, since a request got a token
  std::uint32_t budget_ = 0;
  struct Swapped {
    std::uint64_t blocks = 0;  // that preempted requests have in other memory
    std::uint64_t room = ~std::uint64_t{0};
  } swapped_;
  Time previous_end_ = Time::never();
  RandomStream draws_;
  Step step_;
  StepEnd end_;
};

}  // namespace photonrail::serving
