// Where requests come from: laws, traces, closed loops and sessions, one request at a time, so that a million takes no
// memory.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace photonrail::serving {

/// A number of tokens.
struct LengthLaw {
  enum class Kind : std::uint8_t { kConstant, kUniform, kNormal, kLogNormal };
  Kind kind = Kind::kConstant;
  double a = 1.0;  ///< the value; the least; the mean; the median
  double b = 0.0;  ///< uniform: the greatest; normal: the deviation; log-normal: that of the logarithm
  std::uint32_t most = 1U << 24;

  /// Rounded to whole tokens, from 1 to `most`.
  [[nodiscard]] std::uint32_t draw(RandomStream& random) const;
  /// The fewest that it can draw.
  [[nodiscard]] std::uint32_t least() const;
  /// Tokens, about: cuts are left out of it, but for a mean beyond `most`.
  [[nodiscard]] double about_mean() const;
};

/// The gaps between requests of an open loop. Rates may change: a gap is drawn for the rate 1 and stretched.
struct ArrivalLaw {
  enum class Kind : std::uint8_t { kPoisson, kGamma, kWeibull, kConstant };
  struct Stage {
    double per_s = 1.0;
    Duration lasts = Duration::max();
  };
  Kind kind = Kind::kPoisson;
  double shape = 1.0;             ///< gamma: the coefficient of variation of gaps; Weibull: the shape
  std::vector<Stage> stages{{}};  ///< one after another; nothing comes after the last

  /// A gap of mean 1.
  [[nodiscard]] double unit_gap(RandomStream& random) const;
};

/// Requests whose prompts begin alike: each takes one of `groups` beginnings at random.
struct SharedPrefix {
  std::uint32_t groups = 0;  ///< 0: none
  std::uint32_t tokens = 0;  ///< of the beginning, a part of the prompt
};

/// A share of the requests that is told apart.
struct RequestClass {
  std::string name;
  double share = 1.0;  ///< of arrivals, in proportion to those of the others
  std::int32_t priority = 0;
  std::optional<Duration> ttft{};  ///< limits in place of SloSpec's
  std::optional<Duration> tpot{};
  std::uint32_t shed_above = 0;  ///< refused where the engine has so many that wait; 0: never
};

/// A request of a trace.
struct TraceRow {
  Time at{};
  std::uint32_t prompt = 1;
  std::uint32_t output = 1;
  std::int32_t priority = 0;
  std::vector<std::uint64_t> hashes{};  ///< of its prompt by Trace::hash_tokens; equal ones have equal beginnings
};

struct Trace {
  std::vector<TraceRow> rows;  ///< by time
  std::uint32_t hash_tokens = 512;
  std::uint64_t left_out = 0;  ///< rows of the file that have no prompt or no answer
};

/// What is offered.
struct RequestSpec {
  std::shared_ptr<const Trace> trace{};  ///< where it is there, nothing of the laws counts
  double time_factor = 1.0;              ///< arrivals of the trace, or of the law, come at so many times their times
  ArrivalLaw arrivals{};
  std::uint32_t concurrency = 0;  ///< above 0: a closed loop of so many clients in place of arrivals
  DelayDistribution think{};      ///< of a client or session, between an answer and its next request
  std::uint32_t turns = 1;        ///< requests of a session; each prompt has all before it
  LengthLaw input{};              ///< of the first turn the prompt, of the others what is new
  LengthLaw output{};
  SharedPrefix prefix{};
  std::vector<RequestClass> classes{};  ///< drawn for each session, or each row of a trace
  std::uint64_t count = 1000;           ///< requests in all, all turns counted; of a trace at most its rows

  /// How long requests come, of a law in the mean; 0 of a closed loop.
  [[nodiscard]] double arrivals_s() const;
  /// Arrivals a second in the mean, of first turns; 0 of a closed loop, and of a trace whose requests come at once.
  [[nodiscard]] double arrivals_per_s() const;
  /// Tokens of an answer in the mean, about.
  [[nodiscard]] double about_output() const;
  /// Another seed gives other requests.
  [[nodiscard]] bool draws() const;
};

/// A request that is offered.
struct Offer {
  Time at{};
  std::uint64_t number = 0;  ///< 0, 1 ... in the order of take()
  std::uint32_t prompt = 1;
  std::uint32_t output = 1;
  std::int32_t priority = 0;
  std::uint32_t request_class = 0;
  std::uint64_t session = 0;        ///< whose turns have one content
  std::uint32_t turn = 0;           ///< of its session
  std::uint64_t content = 0;        ///< equal of the turns of a session: one begins with the other
  std::vector<std::uint64_t> keys;  ///< of blocks at the beginning that other requests may share
};

/// Gives requests in order of time.
class Source {
 public:
  /// `block_tokens`: of the engines, for keys. REQUIRES: Trace::hash_tokens is a multiple of it where a trace has hashes.
  Source(const RequestSpec& spec, std::uint64_t seed, std::uint32_t block_tokens);

  /// The next request as far as it is known now: none where it depends on an answer that is still to come, or where all
  /// have been taken.
  [[nodiscard]] std::optional<Time> next() const;
  Offer take();
  /// A request ended: its client thinks, and asks again.
  void ended(const Offer& offer, Time now);
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] std::uint64_t requests() const { return spec_.count; }  ///< that it gives in all

 private:
  /// A turn that will come.
  struct Coming {
    Time at{};
    std::uint64_t order = 0;
    std::uint32_t turn = 0;
    std::uint32_t history = 0;  // tokens of the turns before
    std::uint64_t session = 0;
    friend bool operator>(const Coming& a, const Coming& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  };

  void draw_arrival();
  [[nodiscard]] Time stretched(Time at) const;
  void come(Time at, std::uint32_t turn, std::uint32_t history, std::uint64_t session);
  [[nodiscard]] Offer draw(const Coming& coming);
  [[nodiscard]] Offer of_trace(const TraceRow& row);
  void add_prefix(Offer& offer);
  void add_class(Offer& offer) const;

  RequestSpec spec_;
  std::uint32_t block_tokens_;
  RandomStream gaps_;
  RandomStream lengths_;
  RandomStream thinking_;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
  std::uint64_t begun_ = 0;  // requests that have come or been promised
  std::uint64_t taken_ = 0;
  std::uint64_t sessions_ = 0;
  std::size_t stage_ = 0;
  Time stage_begin_{};
  Time last_{};  // arrival of an open loop
};

}  // namespace photonrail::serving
