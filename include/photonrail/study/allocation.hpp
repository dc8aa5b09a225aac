// A study of slices, carried out: what `photonrail allocate` prints, as a value.
#pragma once

#include "photonrail/allocation/study.hpp"
#include "photonrail/simulate.hpp"

#include <string>

namespace photonrail {

/// Makes the decisions of a study (allocation::read_study()) and runs its stream with each policy in each order. Where the
/// study names a scenario (AllocationStudy::step), its step is simulated once for each share of the bandwidth, with the
/// controllers and collectives of `known`. Throws ConfigError, and DeadlockError where a job of the stream can never end.
[[nodiscard]] allocation::AllocationOutcome run_allocation(
    const allocation::AllocationStudy& study, const Registries& known = {},
    const allocation::AllocatorRegistry& policies = allocation::AllocatorRegistry::builtin(),
    const allocation::StudyProgress& progress = {});

/// `photonrail.allocation_result/1` (docs/reference/slices.md). `outcome`: of the same study, here and below.
[[nodiscard]] std::string allocation_json(const allocation::AllocationStudy& study,
                                          const allocation::AllocationOutcome& outcome);

/// The jobs of a stream with a queue as CSV: a row a job with arrival, start, end and waiting in seconds, and stops.
[[nodiscard]] std::string allocation_jobs_csv(const allocation::AllocationStudy& study,
                                              const allocation::StreamOutcome& stream);

}  // namespace photonrail
