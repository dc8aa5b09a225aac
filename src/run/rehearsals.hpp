// Chooses the specification of a job's controller by running the job before, where the policy wants that.
//
// A rehearsal may be of the job folded by ranks, although a policy that rehearses need not treat equal ranks equally: it
// orders the ways, and the run itself is of whole rails, or of every rank. Such an estimate is checked where it matters, on
// the way that it chose. If that takes another time exactly, all ways are rehearsed exactly.
#pragma once

#include "run/heartbeat.hpp"
#include "run/runner.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::run {

class Rehearsals {
 public:
  struct Choice {
    ControllerSpec controller;
    std::string how{};                    ///< for people; "": nothing was rehearsed, or no way can finish
    std::optional<Duration> estimated{};  ///< the makespan of a rehearsal that was not exact, which has to be confirmed
  };

  /// `caches`: of this job; both must outlive the object. Observers of the job see of a rehearsal only that it
  /// goes on.
  Rehearsals(const JobRun& job, RunCaches& caches);
  Rehearsals(const Rehearsals&) = delete;
  Rehearsals& operator=(const Rehearsals&) = delete;

  /// The way with the shortest run, the first of equals; what the scenario says where the policy wants no rehearsal, or no
  /// way can finish. May be an estimate.
  [[nodiscard]] Choice choose();
  /// The same, and never an estimate: one that choose() gives is confirmed by a rehearsal more.
  [[nodiscard]] Choice choose_confirmed();
  /// The same with all rehearsals exact.
  [[nodiscard]] Choice choose_exactly();

 private:
  struct Best {
    ControllerSpec controller;
    std::size_t number = 0;  ///< among the ways, from 1
    Duration makespan{};
    bool exact = true;
  };

  [[nodiscard]] std::optional<Best> best(bool as_symmetric);
  /// False: the way cannot finish, or takes longer than rehearsal.give_up.
  [[nodiscard]] bool finishes(const ControllerSpec& way, const RehearsalRun& rehearsal, RunResult& result);
  [[nodiscard]] Choice choice(const std::optional<Best>& best) const;

  Heartbeat heartbeat_;
  const JobRun job_;
  RunCaches& caches_;
  const ControllerFactory& factory_;
  std::vector<ControllerSpec> ways_;
};

/// Runs the job alone under the specification that its rehearsals choose, or under another one where the run does not
/// confirm the rehearsal.
void run_job(const JobRun& job, RunResult& result);

}  // namespace photonrail::run
