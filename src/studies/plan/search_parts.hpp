// The moves of a search, and what it knows of its jobs on the way.
#pragma once

#include "studies/plan/outcome.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::plan {

/// The next work of a thread: it raises the bound of a job, or simulates one of its runs.
struct Move {
  std::size_t job = 0;
  std::optional<std::uint64_t> run;  ///< none: raise the bound
  std::string step{};                ///< of a run: what its step depends on, which no other thread runs now
};

/// Jobs with runs that are not taken.
struct Waiting {
  std::set<std::pair<double, std::size_t>> quick{};  // by bound, which may be closer
  std::set<std::pair<double, std::size_t>> runs{};   // by place_of()
  std::set<std::string> steps{};                     // of the runs that are under way
  std::size_t busy = 0;                              // moves that are under way
  std::condition_variable returned{};                // one is over
};

/// How far a job is: its runs are taken in order.
struct State {
  std::uint64_t next = 0;   ///< runs before it are taken
  std::uint64_t known = 0;  ///< of the others, from earlier calls
};

/// Steps (Move::step) with their objectives.
using UnlikeSteps = std::set<std::pair<std::string, std::vector<double>>>;

/// A candidate whose run is over.
struct Decided {
  std::size_t job = 0;
  std::uint64_t run = 0;
  std::string step{};  ///< as Move::step
  Outcome outcome{};
};

/// Counts candidates without a run.
struct Tally {
  std::uint64_t excluded = 0;          // candidates that are no longer in the queue
  std::vector<std::size_t> beaten{};   // their jobs
  std::vector<std::size_t> cut_off{};  // jobs of runs that the end of the time stopped
  std::uint64_t reused = 0;            // candidates of the folder
};

}  // namespace photonrail::plan
