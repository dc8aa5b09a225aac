// Served requests on a timeline: what each waits for, the engines that it is on and its KV on its way, joined by arrows.
#pragma once

#include "photonrail/workload/serving.hpp"
#include "report/trace_text.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::report {

/// The requests of a run or of one of its jobs.
struct TracedRequests {
  std::string job;                 ///< empty: the run has one
  std::vector<std::string> pools;  ///< by engine
  std::vector<ServedRequest> rows;
};

/// Each request is a chain of spans whose names begin with its number. `arrows`: how many were written before, for numbers
/// that differ. Writes nothing where there are no requests.
void write_requests(const TracedRequests& requests, std::uint32_t process, std::uint64_t& arrows, TraceText& text);

}  // namespace photonrail::report
