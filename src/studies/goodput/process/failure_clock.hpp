// When which part fails next, over all sources of a cluster and its trace.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/study/goodput/spec.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::goodput {

struct Failure {
  LongTime at{};
  std::uint32_t source = 0;  ///< spec.failures.size(): of the trace
  std::uint32_t part = 0;    ///< of the trace: the server
  LongTime detection{};
  LongTime repair{};
};

/// Parts with exponential times to failure are one Poisson process; a failure of a part that is down already is to be
/// ignored, which leaves the process of each part as it should be. Others have a clock each. The servers of the job and the
/// spares have streams of their own, so that a number of spares does not shift what happens to the job.
class FailureClock {
 public:
  /// `spec` must outlive it. Failures after `end` are not needed.
  FailureClock(const GoodputSpec& spec, std::uint64_t seed, LongTime end);

  /// Of the next failure; none: no more until the end.
  [[nodiscard]] std::optional<LongTime> next() const;
  /// REQUIRES: next().
  Failure pop();
  /// The part works again, or was not harmed: its next failure is drawn, where it has a clock of its own.
  void renew(std::uint32_t source, std::uint32_t part, LongTime now);

 private:
  struct Clock {
    LongTime at{};
    std::uint32_t part = 0;
    [[nodiscard]] bool operator<(const Clock& other) const {  // of std heaps: the earliest is on top
      return at != other.at ? at > other.at : part > other.part;
    }
  };
  /// The parts of a source in the job, or in the spares.
  struct Line {
    std::uint32_t source = 0;
    std::uint32_t first_part = 0;
    std::uint32_t parts = 0;
    RandomStream times;
    RandomStream delays;
    double rate_sum = 0.0;             ///< exponential: of all parts, in units of one part's rate
    std::vector<double> cumulative{};  ///< exponential with unequal servers: of rate_sum, by server
    std::optional<LongTime> next{};    ///< exponential
    std::vector<Clock> clocks{};       ///< others: a heap
  };

  void add_line(std::uint32_t source, std::uint32_t first, std::uint32_t parts, const char* where);
  void draw_next(Line& line, LongTime now);
  [[nodiscard]] std::uint32_t draw_part(Line& line) const;
  void draw_clock(Line& line, std::uint32_t part, LongTime now);
  [[nodiscard]] double spread_of(const FailureSource& source, std::uint32_t part) const;
  [[nodiscard]] static std::optional<LongTime> next_of(const Line& line);
  [[nodiscard]] std::optional<std::size_t> earliest() const;  ///< index of the line
  [[nodiscard]] std::optional<LongTime> next_of_trace() const;

  const GoodputSpec* spec_;
  std::uint64_t seed_;
  LongTime end_;
  std::vector<double> spread_;  // by server; empty: all 1
  std::vector<Line> lines_;
  std::vector<std::uint32_t> server_;  // of the trace's servers
  std::size_t traced_ = 0;             // faults of the trace that were popped
};

}  // namespace photonrail::goodput
