// One history of a job over months, by the seed of its random numbers.
#pragma once

#include "photonrail/study/goodput/history.hpp"
#include "photonrail/study/goodput/policy.hpp"
#include "studies/goodput/process/step_times.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::goodput {

class HistoryObserver {
 public:
  virtual ~HistoryObserver() = default;
  /// In ascending time, without gaps.
  virtual void period(const Period&) {}
  /// After every change of servers, for laws: which server is at each place of the job, and which servers are down.
  virtual void places(LongTime /*now*/, bool /*running*/, const std::vector<std::uint32_t>& /*server_at*/,
                      const std::vector<std::uint32_t>& /*down*/, const std::vector<bool>& /*dropped*/) {}
};

/// The same arguments give the same history, on every machine and in any thread. `steps` is asked for the configurations
/// that occur. Throws ConfigError (a spec that is not valid, unknown policies) and DeadlockError: the healthy job cannot
/// run.
[[nodiscard]] History run_history(const GoodputSpec& spec, StepTimes& steps, std::uint64_t seed,
                                  const PolicyTable& policies = {}, HistoryObserver* observer = nullptr);

}  // namespace photonrail::goodput
