// Computes which ranks are late or slow in which step. Pure: random values come from a stream named by straggler, rank and
// step.
#pragma once

#include "photonrail/execution.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::execution {

/// "every GPU", "GPU of rank 1", "GPUs of ranks 0-3,8": whom a failure of GPUs is of.
[[nodiscard]] std::string gpus_of(const StragglerSpec& failure);

class StragglerInjector {
 public:
  struct Step {
    Duration delay{};
    double slowdown = 1.0;
  };

  /// `stragglers` must outlive the object.
  StragglerInjector(std::span<const StragglerSpec> stragglers, std::size_t ranks, std::uint64_t seed)
      : stragglers_(stragglers), ranks_(ranks), seed_(seed) {
    for (const StragglerSpec& spec : stragglers) {
      if (spec.at) failures_.push_back(&spec);
    }
  }

  /// Returns true when some GPUs fail at a certain time.
  [[nodiscard]] bool has_failures() const { return !failures_.empty(); }
  [[nodiscard]] Step of(RankId rank, std::uint32_t iteration) const;
  /// Returns how long a computation of the rank that begins at `start`, and would take `time`, takes with the failures of
  /// its GPU that the stragglers of a certain time are. None: it never ends.
  [[nodiscard]] std::optional<Duration> with_failures(RankId rank, Time start, Duration time) const {
    return failures_.empty() ? time : with_some_failures(rank, start, time);
  }
  /// Returns how long from `from` to `to` the rank's GPU stood still and it was not yet detected.
  [[nodiscard]] Duration undetected(RankId rank, Time from, Time to) const {
    return failures_.empty() ? Duration{} : undetected_of_some(rank, from, to);
  }
  /// GPUs that stood still or were slow by then, each a line for people.
  [[nodiscard]] std::vector<std::string> failures_until(Time now) const;

 private:
  [[nodiscard]] std::optional<Duration> with_some_failures(RankId rank, Time start, Duration time) const;
  [[nodiscard]] Duration undetected_of_some(RankId rank, Time from, Time to) const;
  [[nodiscard]] bool concerns(std::size_t straggler, RankId rank, std::uint32_t iteration) const;
  [[nodiscard]] Duration delay(std::size_t straggler, RankId rank, std::uint32_t iteration) const;

  std::span<const StragglerSpec> stragglers_;
  std::vector<const StragglerSpec*> failures_;  // those of a certain time: every computation asks for them
  std::size_t ranks_;
  std::uint64_t seed_;
};

}  // namespace photonrail::execution
