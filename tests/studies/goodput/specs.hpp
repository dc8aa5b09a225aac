// Small scenarios of goodput for tests.
#pragma once

#include "studies/goodput/process/history.hpp"

#include <string>
#include <vector>

namespace photonrail::test {

using goodput::ConstantSteps;
using goodput::FailureSource;
using goodput::GoodputSpec;
using goodput::History;
using goodput::RandomTime;
using goodput::RecoveryAction;
using goodput::RecoveryOption;
using goodput::Rollback;
using goodput::TimeUse;

inline RecoveryOption option(RecoveryAction action, double stage_s, Rollback rollback = Rollback::kCheckpoint) {
  RecoveryOption result;
  result.name = "option";
  result.action = action;
  result.rollback = rollback;
  result.stages = {{"stage", RandomTime::constant(stage_s)}};
  return result;
}

/// Failures of servers with exponential times, which take `mttf_s` of one server on average.
inline FailureSource servers_fail(double mttf_s, double repair_s = 0.0) {
  FailureSource source;
  source.per_server = 1;
  source.time_to_failure = RandomTime::exponential(mttf_s);
  source.repair = RandomTime::constant(repair_s);
  return source;
}

/// A job of one server that restarts in place.
inline GoodputSpec one_server(double mttf_s, double work_s, double checkpoint_s, double restart_s, double days) {
  GoodputSpec spec;
  spec.days = days;
  spec.failures = {servers_fail(mttf_s)};
  spec.checkpoint.interval_s = work_s;
  spec.checkpoint.stall_s = checkpoint_s;
  spec.recovery = {option(RecoveryAction::kWait, restart_s)};
  return spec;
}

inline History history_of(const GoodputSpec& spec, double step_s = 1.0, std::uint64_t seed = 1,
                          goodput::HistoryObserver* observer = nullptr) {
  ConstantSteps steps(spec, from_seconds(step_s));
  return goodput::run_history(spec, steps, seed, {}, observer);
}

}  // namespace photonrail::test
