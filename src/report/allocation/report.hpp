// What came of a study of slices: text for people, JSON, a table of jobs.
#pragma once

#include "photonrail/allocation/study.hpp"

#include <string>
#include <vector>

namespace photonrail::report {

/// A policy with an order of the queue, or without a queue.
struct StreamOutcome {
  std::string policy{};
  std::string order{};  ///< "": without a queue
  allocation::ScheduleResult schedule{};
  allocation::LossResult loss{};  ///< without a queue
};

struct DecisionOutcome {
  allocation::SliceDecision decision{};
  std::string difference{};  ///< from what is expected; ""
};

struct AllocationOutcome {
  std::vector<DecisionOutcome> decisions{};  ///< as in the study
  std::vector<StreamOutcome> streams{};
};

[[nodiscard]] std::string allocation_text(const allocation::AllocationStudy& study, const AllocationOutcome& outcome);
/// `photonrail.allocation_result/1`; docs/slices.md has its keys.
[[nodiscard]] std::string allocation_json(const allocation::AllocationStudy& study, const AllocationOutcome& outcome);
/// The text and the figures of the streams (SVG) as an HTML page.
[[nodiscard]] std::string allocation_page(const allocation::AllocationStudy& study, const AllocationOutcome& outcome,
                                          const std::string& figures);
/// A row a job: arrival, start, end, waiting in seconds, stops.
[[nodiscard]] std::string jobs_csv(const std::vector<allocation::SliceJob>& jobs, const allocation::ScheduleResult& result);

}  // namespace photonrail::report
