// The profiling runs of a job: one step on electrical rails, without stragglers.
#pragma once

#include "run/heartbeat.hpp"
#include "run/job_setup.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::run {

/// The cluster with electrical rails on which no message waits for another.
[[nodiscard]] ClusterSpec on_electrical_rails(const ClusterSpec& cluster);

/// They are made when they are first wanted. What they give depends on the job alone, so that all rehearsals and the run
/// share it; ranks of one class have the same.
class ProfilingRuns {
 public:
  struct Wanted {
    bool order = false;
    bool slack = false;
    bool tail = false;  ///< of a folded job, and where nothing makes computations shorter or longer

    [[nodiscard]] bool any() const { return order || slack || tail; }
  };

  /// The references must outlive the object. `observers` see only that it goes on.
  ProfilingRuns(const Scenario& scenario, const RunSpec& run, const Registries& registries,
                std::span<Observer* const> observers = {});

  [[nodiscard]] Profile of_ranks(Wanted wanted);
  /// Profiles by class of the folding, of ranks that treat equal ranks equally on electrical rails. `whole_rails`: the
  /// folding's, which keeps ranks apart that electrical rails do not. Nullopt: the folded run is ambiguous, for the reason
  /// in `why_not`.
  [[nodiscard]] std::optional<Profile> of_classes(const folding::Folding& folding, bool whole_rails, Wanted wanted,
                                                  std::string& why_not);

 private:
  /// Holds what one run gave.
  struct Recorded {
    std::vector<std::uint32_t> row_of_rank;  ///< of `profile`; empty: a row for each rank, which was run
    Profile profile;
    bool tail_tried = false;  ///< `profile` has it where there is one
  };

  [[nodiscard]] bool has(Wanted wanted) const;
  [[nodiscard]] bool record_folded(Wanted wanted);
  /// Nullptr: every rank is run. False: it is ambiguous, and what was recorded before stays.
  bool record(const folding::Folding* folding, Wanted wanted, std::string& why_not);
  [[nodiscard]] Profile rows(const std::vector<std::uint32_t>& of, Wanted wanted) const;

  const Scenario& scenario_;
  const RunSpec run_;
  const Registries& registries_;
  Heartbeat heartbeat_;
  std::optional<Recorded> recorded_;
};

}  // namespace photonrail::run
