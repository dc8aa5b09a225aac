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
    Duration idle{};          ///< it had none; the five add up to the makespan
    double mean_batch = 0.0;  ///< requests of a step
    std::uint64_t preemptions = 0;
    std::uint64_t recomputed_tokens = 0;
    std::uint64_t prompt_tokens = 0;
    std::uint64_t cached_tokens = 0;
    std::uint64_t blocks = 0;
    std::uint64_t most_blocks = 0;  ///< held at once
  };
  struct Slo {
    std::optional<Duration> ttft{};
    std::optional<Duration> tpot{};
    double share = 0.0;  ///< of offered requests that were counted: finished within both; the others are outside
    double per_s = 0.0;  ///< such requests a second
  };

  std::uint64_t offered = 0;  ///< finished + refused + unfinished
  std::uint64_t finished = 0;
  std::uint64_t refused = 0;  ///< can never fit, or the queue was full
  std::uint64_t unfinished = 0;
  std::uint64_t warm_up = 0;        ///< of the finished ones, those that times do not count
  std::uint64_t prompt_tokens = 0;  ///< of finished requests
  std::uint64_t output_tokens = 0;
  Duration makespan{};
  TimeSummary ttft, tpot, itl, e2e;
  TimeSummary parts[kTtftPartCount]{};
  bool exact = true;  ///< percentiles of all but `itl`; else they are up to 1.6 % too long, as those of `itl` always are
  std::optional<Slo> slo;
  std::uint64_t transfers = 0;
  std::uint64_t transfer_bytes = 0;
  TimeSummary transfer;  ///< from when its KV may go until it is there
  std::vector<Engine> engines;
  std::vector<ServedRequest> requests;  ///< in the order in which they ended; the first kMaxServedRows

  [[nodiscard]] double output_tokens_per_s() const;
  [[nodiscard]] double requests_per_s() const;
};
inline constexpr std::size_t kMaxServedRows = 100'000;

}  // namespace photonrail
