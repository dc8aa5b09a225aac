// What came of a study of slices: text for people, JSON, a table of jobs.
#pragma once

#include "photonrail/allocation/study.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::report {

[[nodiscard]] std::string allocation_text(const allocation::AllocationStudy& study,
                                          const allocation::AllocationOutcome& outcome);
/// `photonrail.allocation_result/1`; docs/models/slices.md says what they mean.
[[nodiscard]] std::string allocation_json(const allocation::AllocationStudy& study,
                                          const allocation::AllocationOutcome& outcome);
/// The text and the figures of the streams (SVG) as an HTML page.
[[nodiscard]] std::string allocation_page(const allocation::AllocationStudy& study,
                                          const allocation::AllocationOutcome& outcome, const std::string& figures);
/// A row a job: arrival, start, end, waiting in seconds, stops.
[[nodiscard]] std::string jobs_csv(const std::vector<allocation::SliceJob>& jobs, const allocation::ScheduleResult& result);

/// Share of accelerators that are wasted, in [0, 1], by domain and then by group.
[[nodiscard]] std::vector<double> wasted_shares(const allocation::WasteStudy& study, std::uint64_t seed);

/// The numbers of a study for a row of a table, by name; names have letters, digits, '_' and '.' only. Of one stream, one
/// circuit study and so on they have the keys of the result; of several each has its policy and order, or its number,
/// behind.
[[nodiscard]] std::vector<std::pair<std::string, double>> allocation_numbers(const allocation::AllocationStudy& study,
                                                                             const allocation::AllocationOutcome& outcome);

}  // namespace photonrail::report
