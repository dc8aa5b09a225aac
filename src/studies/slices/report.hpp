// What came of a study of slices: text for people, JSON, a table of jobs.
#pragma once

#include "studies/slices/study.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::slices {

[[nodiscard]] std::string allocation_text(const AllocationStudy& study, const AllocationOutcome& outcome);

/// Share of accelerators that are wasted, in [0, 1], by domain and then by group.
[[nodiscard]] std::vector<double> wasted_shares(const WasteStudy& study, std::uint64_t seed);

/// The numbers of a study for a row of a table, by name; names have letters, digits, '_' and '.' only. Of one stream, one
/// circuit study and so on they have the keys of the result; of several each has its policy and order, or its number,
/// behind.
[[nodiscard]] std::vector<std::pair<std::string, double>> allocation_numbers(const AllocationStudy& study,
                                                                             const AllocationOutcome& outcome);

}  // namespace photonrail::slices
