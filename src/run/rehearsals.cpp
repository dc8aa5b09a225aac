#include "run/rehearsals.hpp"

#include "execution/observer_list.hpp"
#include "photonrail/error.hpp"
#include "run/equal_steps.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::run {

namespace {

// A good way first: a rehearsal ends as soon as it cannot be better than the best so far.
std::vector<std::size_t> order_of(std::size_t ways, std::size_t first) {
  std::vector<std::size_t> order(ways);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (first < ways) std::swap(order[0], order[first]);
  return order;
}

// Returns true when the run differs from an exact rehearsal in nothing, so that it confirms an estimate by itself.
bool run_confirms(const JobRun& job) {
  const bool drawn = job.scenario.cluster.rail.optical.reconfiguration.kind != DelayDistribution::Kind::kConstant;
  return !drawn && job.scenario.stragglers.empty() && !execution::watch_ranks(job.observers);
}

}  // namespace

Rehearsals::Rehearsals(const JobRun& job, RunCaches& caches)
    : heartbeat_(job.observers),
      job_{job.scenario, job.registries, job.run, heartbeat_.list(), job.agent},
      caches_(caches),
      factory_(job.registries.controllers.find(job.scenario.controller.name)) {
  if (job.agent != nullptr || job.scenario.workload != nullptr) return;  // check_decided() refuses policies that rehearse
  if (factory_.rehearse == nullptr || job.scenario.cluster.rail.kind != RailKind::kOptical) return;
  ways_ = factory_.rehearse(factory_.complete(job.scenario.controller));
  std::erase_if(ways_, [&](const ControllerSpec& way) { return !job.registries.controllers.knows(way.name); });
}

Rehearsals::Choice Rehearsals::choose() { return choice(best(true)); }

Rehearsals::Choice Rehearsals::choose_confirmed() {
  Choice chosen = choose();
  if (!chosen.estimated) return chosen;
  RunResult exact;
  const bool confirmed = finishes(chosen.controller, {}, exact) && exact.makespan == chosen.estimated;
  if (!confirmed) return choose_exactly();
  chosen.estimated.reset();
  return chosen;
}

Rehearsals::Choice Rehearsals::choose_exactly() { return choice(best(false)); }

Rehearsals::Choice Rehearsals::choice(const std::optional<Best>& best) const {
  if (!best) return {job_.scenario.controller};
  Choice chosen{best->controller};
  chosen.how = factory_.name + " rehearsed " + std::to_string(ways_.size()) + " ways and took number " +
               std::to_string(best->number) + ", " + best->controller.describe();
  if (!best->exact) chosen.estimated = best->makespan;
  return chosen;
}

// The best way is the first of equals in the list, whatever the order of the rehearsals. A way that is listed before the
// best so far therefore replaces it with the same end, and a way that is listed behind it only with an earlier one.
std::optional<Rehearsals::Best> Rehearsals::best(bool as_symmetric) {
  std::optional<Best> best;
  for (const std::size_t i : order_of(ways_.size(), factory_.rehearse_first)) {
    RehearsalRun rehearsal{.as_symmetric = as_symmetric};
    if (best) rehearsal.give_up = Time{} + best->makespan - (i + 1 < best->number ? Duration{} : Duration{1});
    RunResult trial;
    if (!finishes(ways_[i], rehearsal, trial)) continue;
    if (rehearsal.give_up && Time{} + trial.makespan > *rehearsal.give_up) continue;
    const bool folded = trial.folding.classes < trial.folding.ranks;
    const bool exact = !folded || !as_symmetric || job_.registries.controllers.find(ways_[i].name).rank_symmetric;
    best = Best{ways_[i], i + 1, trial.makespan, exact};
  }
  return best;
}

bool Rehearsals::finishes(const ControllerSpec& way, const RehearsalRun& rehearsal, RunResult& result) {
  try {
    Runner(job_, way, caches_, rehearsal).run(result);
    return true;
  } catch (const GaveUp&) {
  } catch (const DeadlockError&) {
  } catch (const ControllerError&) {
  }
  return false;
}

namespace {

// False: the run contradicts the estimate, and `result` is as before.
bool run_as_estimated(const Runner& runner, Duration estimated, RunResult& result) {
  RunResult tried = result;
  try {
    runner.run(tried);
  } catch (const DeadlockError&) {
    return false;
  } catch (const ControllerError&) {
    return false;
  }
  if (tried.makespan != estimated) return false;
  result = std::move(tried);
  return true;
}

}  // namespace

void run_job(const JobRun& job, RunResult& result) {
  RunCaches caches(job);
  Rehearsals rehearsals(job, caches);
  Rehearsals::Choice chosen = run_confirms(job) ? rehearsals.choose() : rehearsals.choose_confirmed();
  const Runner runner(job, chosen.controller, caches);
  if (!chosen.estimated) {
    if (!run_equal_steps(job, chosen.controller, caches, result)) runner.run(result);
  } else if (!run_as_estimated(runner, *chosen.estimated, result)) {
    chosen = rehearsals.choose_exactly();
    Runner(job, chosen.controller, caches).run(result);
  }
  if (!chosen.how.empty()) result.choices.insert(result.choices.begin(), chosen.how);
}

}  // namespace photonrail::run
