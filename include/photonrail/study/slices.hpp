// A study of slices, carried out: what `photonrail allocate` prints, as a value.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/slices/study.hpp"

#include <string>

namespace photonrail {

/// Makes the decisions of a study (slices::read_study()) and runs its stream with each policy in each order. Where the
/// study names a scenario (AllocationStudy::step), its step is simulated once for each share of the bandwidth, with the
/// controllers and collectives of `known`. Throws ConfigError, and DeadlockError where a job of the stream can never end.
[[nodiscard]] slices::AllocationOutcome run_allocation(
    const slices::AllocationStudy& study, const Registries& known = {},
    const slices::AllocatorRegistry& policies = slices::AllocatorRegistry::builtin(),
    const slices::StudyProgress& progress = {});

/// run_allocation(): what happens in each stream, times the questions to its allocator that this asks.
[[nodiscard]] WorkEstimate work_of(const slices::AllocationStudy& study);

/// `photonrail.allocation_result/1` (docs/reference/slices.md). `outcome`: of the same study, here and below.
[[nodiscard]] std::string allocation_json(const slices::AllocationStudy& study, const slices::AllocationOutcome& outcome);

/// The jobs of a stream with a queue as CSV: a row a job with arrival, start, end and waiting in seconds, and stops.
[[nodiscard]] std::string allocation_jobs_csv(const slices::AllocationStudy& study, const slices::StreamOutcome& stream);

}  // namespace photonrail
