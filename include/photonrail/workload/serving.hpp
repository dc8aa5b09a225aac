// What a run of served requests says, beside what every run says.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// A time over requests, or over gaps between tokens. Percentiles are the least time that the share does not exceed.
struct TimeSummary {
  std::uint64_t count = 0;
  Duration mean{};  ///< exact, rounded down to the picosecond
  Duration p50{}, p90{}, p95{}, p99{}, most{};
};

/// Times of one request. Those of what did not happen to it are Time::never().
struct ServedRequest {
  std::uint64_t number = 0;  ///< in the order of arrival
  Time arrival{};
  std::uint32_t prompt = 0;
  std::uint32_t output = 0;
  std::uint32_t cached = 0;  ///< tokens that it found in the cache, each time that it was admitted
  std::uint32_t preemptions = 0;
  std::uint32_t restarts = 0;  ///< its engine failed, and it began again at another
  std::uint32_t request_class = 0;
  std::uint32_t prefill_engine = 0;
  std::uint32_t decode_engine = 0;
  Time scheduled = Time::never();  ///< its first chunk begins
  Time prefilled = Time::never();  ///< its prompt is computed
  Time sent = Time::never();       ///< the decode engine has blocks for it, and its KV may go
  Time delivered = Time::never();  ///< its KV is there
  Time decoding = Time::never();   ///< its first decode step begins on the decode engine
  Time first = Time::never();      ///< its first token
  Time last = Time::never();       ///< its last token
  Duration longest_gap{};          ///< between two of its tokens
  Duration wire{};                 ///< what its transfer takes with the network to itself
};

/// The parts of the time to the first token, which add up to it for each request to the picosecond.
enum class TtftPart : std::uint8_t {
  kQueue,        ///< from its arrival until its first chunk begins
  kPrefill,      ///< until its prompt is computed
  kBlockWait,    ///< until the decode engine has blocks for it
  kCircuitWait,  ///< until its KV is there, but for the next part: circuits, and other traffic
  kTransfer,     ///< what the transfer takes with the network to itself, as far as prefill does not hide it
  kDecodeQueue,  ///< until its first decode step begins
  kFirstDecode   ///< until its first token
};
inline constexpr int kTtftPartCount = 7;
[[nodiscard]] std::string_view name(TtftPart part);  ///< "queue", "prefill" ...

struct ServingResult {
  struct Engine {
    std::string pool;
    std::uint32_t gpus = 0;
    std::uint64_t steps = 0;
    Duration prefill{};       ///< in steps that computed prompts alone
    Duration decode{};        ///< ... decodes alone
    Duration mixed{};         ///< ... both
    Duration waiting{};       ///< it had requests and could run none: their KV was on its way, or blocks were held for it
    Duration idle{};          ///< it had none
    Duration off{};           ///< it had failed, was not started, or loaded its weights; the six add up to the makespan
    double mean_batch = 0.0;  ///< requests of a step
    std::uint64_t preemptions = 0;
    std::uint64_t recomputed_tokens = 0;
    std::uint64_t prompt_tokens = 0;
    std::uint64_t cached_tokens = 0;
    struct Blocks {
      std::uint64_t total = 0;
      std::uint64_t most = 0;  ///< held at once
    };
    Blocks blocks{};
  };
  /// Requests of one class.
  struct Class {
    std::string name;
    std::uint64_t offered = 0;
    std::uint64_t finished = 0;
    std::uint64_t refused = 0;
    TimeSummary ttft, tpot;
    double share = 0.0;  ///< of offered ones that were counted: finished within the limits of the class
  };
  struct Slo {
    std::optional<Duration> ttft{};
    std::optional<Duration> tpot{};
    double share = 0.0;  ///< of offered requests that were counted: finished within both; the others are outside
    double per_s = 0.0;  ///< such requests a second, in the time of steady_output_tokens_per_s
  };

  /// One of the runs of a search for the greatest rate.
  struct RateTrial {
    double per_s = 0.0;  ///< arrivals a second in the mean
    double share = 0.0;  ///< of offered requests that kept the limits
    std::uint64_t unfinished = 0;
  };
  struct RateSearch {
    double share = 0.0;                   ///< that is wanted
    std::optional<RateTrial> greatest{};  ///< the greatest rate that has it; none: no rate that was tried does
    std::optional<RateTrial> beyond{};    ///< the least rate above it that does not; none: all that were tried do
    std::vector<RateTrial> trials{};      ///< in the order in which they ran
  };

  std::uint64_t offered = 0;  ///< finished + refused + unfinished
  std::uint64_t finished = 0;
  std::uint64_t refused = 0;  ///< can never fit, or the queue was full
  std::uint64_t unfinished = 0;
  std::uint64_t warm_up = 0;        ///< of those offered, the first, whose times do not count
  std::uint64_t prompt_tokens = 0;  ///< of finished requests
  std::uint64_t output_tokens = 0;
  /// Tokens of answers a second while requests come, without the end in which the last answers are given: those of counted
  /// requests that finish, but of the last whose answer begins, from the first counted arrival until it begins. What costs
  /// and energy of tokens are by.
  double steady_output_tokens_per_s = 0.0;
  Duration makespan{};
  TimeSummary ttft, tpot, itl, e2e;
  TimeSummary parts[kTtftPartCount]{};
  bool exact = true;  ///< percentiles of all but `itl`; else they are up to 1.6 % too long, as those of `itl` always are
  std::optional<Slo> slo;
  std::optional<RateSearch> rate_search;  ///< the rest of this result is of its greatest rate, else of its last run
  std::uint64_t transfers = 0;
  std::uint64_t transfer_bytes = 0;
  std::uint64_t found_bytes = 0;   ///< that were not sent, since the decode engine had them
  TimeSummary transfer;            ///< from when its KV may go until it is there
  std::uint64_t failures = 0;      ///< of engines
  std::uint64_t restarts = 0;      ///< of requests, because their engine failed
  std::uint64_t started = 0;       ///< engines that were started in the run ...
  std::uint64_t stopped = 0;       ///< ... and stopped
  std::uint64_t weight_bytes = 0;  ///< that engines which started have loaded from others
  TimeSummary start;               ///< from the decision until the engine takes requests
  std::uint64_t moves = 0;         ///< of KV of preempted requests to memory outside of their engines, and back
  std::uint64_t move_bytes = 0;
  TimeSummary move;            ///< of one
  std::vector<Class> classes;  ///< where requests have some
  std::vector<Engine> engines;
  std::vector<ServedRequest> requests;  ///< in the order in which they ended; the first kMaxServedRows

  [[nodiscard]] double output_tokens_per_s() const;
  [[nodiscard]] double requests_per_s() const;
};
inline constexpr std::size_t kMaxServedRows = 100'000;

}  // namespace photonrail
