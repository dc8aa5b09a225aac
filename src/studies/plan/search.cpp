// Best first: the job with the least bound comes next. Where that is the quick bound the closer one is found, and the job
// goes back to its place; else one of its runs is simulated, unless its own bound excludes it. A job whose bound is above
// the best found so far is excluded. Once there is a best, all quick bounds below it are made close before anything else
// runs, and first runs of jobs go before second ones: bounds are milliseconds, and runs may be minutes. Ties go to the
// candidate that comes first, so that the number of threads does not change the answer.
#include "config/scenario_parts.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/plan/best_of_value.hpp"
#include "studies/plan/candidate_runs.hpp"
#include "studies/plan/folder.hpp"
#include "studies/plan/objective.hpp"
#include "studies/plan/outcome.hpp"
#include "studies/plan/search_parts.hpp"
#include "studies/plan/space.hpp"
#include "studies/plan/step_key.hpp"
#include "studies/pool.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

namespace photonrail {

namespace plan {

namespace {

class Search {
 public:
  Search(const Plan& plan, const PlanOptions& options, const Registries& known)
      : plan_(plan),
        options_(options),
        space_(plan, known),
        jobs_(space_.jobs(rejections_)),
        states_(jobs_.size()),
        folder_(plan, options),
        runs_(plan, known, [this] {
          tell();
          return is_over();
        }) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) waiting_.quick.emplace(jobs_[j].bound, j);
    if (options.shard > 0) keep_shard();
    take_over_news();
  }

  PlanResult run() {
    // Each thread takes the next move when it is done with one: which that is depends on what the others found.
    studies::Pool pool;
    pool.threads = options_.jobs > 0 ? options_.jobs : std::max(1U, std::thread::hardware_concurrency());
    std::vector<studies::PendingPoint> workers(pool.threads);
    pool.run(std::move(workers), [this](std::size_t, const studies::Stop& stop) {
      work(stop);
      return [] {};
    });
    if (options_.shard == 0 && plan_.objectives.size() == 1) fill();
    return result();
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::uint64_t all() const { return jobs_.size() * space_.runs_of_job(); }
  [[nodiscard]] std::uint64_t candidate_of(std::size_t job, std::uint64_t run) const {
    return jobs_[job].number * space_.runs_of_job() + run;
  }
  /// Where fewer are known than are to be told: first runs of excluded jobs, by their closer bounds, for half of the time.
  void fill() {
    constexpr double kOfTime = 0.5;
    std::set<std::pair<double, std::size_t>> order;
    for (const std::size_t job : tally_.beaten) {
      if (left(job) > 0 && decided_.count(candidate_of(job, states_[job].next)) == 0) order.emplace(jobs_[job].bound, job);
    }
    std::set<std::size_t> close;
    while (!order.empty() && unlike() < options_.keep) {
      if (std::chrono::duration<double>(Clock::now() - begun_).count() > kOfTime * options_.limit_s || is_over()) return;
      const std::size_t job = order.begin()->second;
      order.erase(order.begin());
      try {
        if (close.insert(job).second) {
          space_.raise_bound(jobs_[job]);
          order.emplace(jobs_[job].bound, job);
          continue;
        }
        const Move move{job, states_[job].next, {}};
        add(move, decide(move));
        ++states_[job].next;
        --tally_.excluded;
      } catch (const ConfigError&) {
        continue;  // it cannot be, and is told as excluded
      } catch (const OutOfTime&) {
        return;
      }
    }
  }

  /// Of the runs that are over those whose steps or objectives differ.
  [[nodiscard]] std::size_t unlike() const {
    UnlikeSteps seen;
    for (const auto& [candidate, of] : decided_) {
      if (of.outcome.kind == Outcome::Kind::kDone) seen.emplace(of.step, of.outcome.run.objectives);
    }
    return seen.size();
  }

  /// Runs of the job that are neither taken nor known.
  [[nodiscard]] std::uint64_t left(std::size_t job) const {
    return space_.runs_of_job() - states_[job].next - states_[job].known;
  }
  /// Jobs of all shards are alike: each has some of those whose bounds are the least.
  void keep_shard() {
    std::size_t place = 0;
    for (auto at = waiting_.quick.begin(); at != waiting_.quick.end(); ++place)
      at = place % options_.shards + 1 == options_.shard ? std::next(at) : waiting_.quick.erase(at);
  }
  /// Takes over what earlier calls left, and what other processes write.
  void take_over_news() {
    for (const Folder::Record& record : folder_.news()) take_over(record);
  }
  void take_over(const Folder::Record& record) {
    const std::uint64_t number = record.first / space_.runs_of_job();
    const auto at = std::lower_bound(jobs_.begin(), jobs_.end(), number,
                                     [](const JobCandidate& job, std::uint64_t wanted) { return job.number < wanted; });
    if (at == jobs_.end() || at->number != number || decided_.count(record.first) > 0) return;
    const auto job = static_cast<std::size_t>(at - jobs_.begin());
    const std::uint64_t run = record.first % space_.runs_of_job();
    add({job, run, {}}, record.second);
    if (run >= states_[job].next) ++states_[job].known;
    ++tally_.reused;
  }

  [[nodiscard]] bool is_over() const {
    return (options_.stop != nullptr && *options_.stop) ||
           std::chrono::duration<double>(Clock::now() - begun_).count() >= options_.limit_s;
  }

  /// Within long runs, too.
  void tell() {
    if (!options_.progress) return;
    const std::scoped_lock lock(mutex_);
    options_.progress(decided_.size(), all());
  }

  void work(const studies::Stop& stop) {
    while (!stop()) {
      const auto move = take();
      if (!move) return;
      if (!move->run) {
        raise(move->job);
        continue;
      }
      try {
        is_excluded(*move) ? exclude(*move) : keep(*move, decide(*move));
      } catch (const OutOfTime&) {
        const std::scoped_lock lock(mutex_);
        tally_.cut_off.push_back(move->job);
        done(*move);
        return;
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        done(*move);
        throw;
      }
    }
  }

  /// Where the next run of the job stands: by the bound, and later where a simulation is much work, and behind first runs
  /// of other jobs, since what these take may exclude it.
  [[nodiscard]] double place_of(std::size_t job) const {
    constexpr double kLittleWork = 1024.0;
    constexpr double kOfADoubling = 0.01;
    constexpr double kOfALaterRun = 0.03;
    const double work = std::max(0.0, std::log2(jobs_[job].work / kLittleWork));
    return jobs_[job].bound * (1.0 + kOfADoubling * work + (states_[job].next > 0 ? kOfALaterRun : 0.0));
  }

  /// The next move that may find a candidate that none beats; none: there is none, or the time is over.
  std::optional<Move> take() {
    std::unique_lock lock(mutex_);
    if (options_.progress) options_.progress(decided_.size(), all());
    take_over_news();
    for (;;) {
      drop_beaten(waiting_.quick);
      const bool raise = !waiting_.quick.empty() && (!front_.empty() || waiting_.runs.empty() ||
                                                     waiting_.quick.begin()->first <= waiting_.runs.begin()->first);
      if (is_over()) return std::nullopt;
      if (raise) {
        const std::size_t job = waiting_.quick.begin()->second;
        waiting_.quick.erase(waiting_.quick.begin());
        ++waiting_.busy;
        return Move{job, std::nullopt, {}};
      }
      if (auto move = next_run()) {
        ++waiting_.busy;
        return move;
      }
      if (waiting_.busy == 0 && waiting_.quick.empty()) return std::nullopt;
      if (waiting_.busy > 0) waiting_.returned.wait(lock);
    }
  }

  /// Those at the head of a queue that are excluded.
  void drop_beaten(std::set<std::pair<double, std::size_t>>& queue) {
    while (!queue.empty() && front_.beats(space_.bounds(jobs_[queue.begin()->second], std::nullopt))) {
      const std::size_t job = queue.begin()->second;
      tally_.excluded += left(job);
      tally_.beaten.push_back(job);
      queue.erase(queue.begin());
    }
  }

  /// The first run in the queue whose step no other thread runs; none: there is none now.
  std::optional<Move> next_run() {
    for (auto at = waiting_.runs.begin(); at != waiting_.runs.end();) {
      const std::size_t job = at->second;
      State& state = states_[job];
      if (front_.beats(space_.bounds(jobs_[job], std::nullopt))) {
        tally_.excluded += left(job);
        tally_.beaten.push_back(job);
        at = waiting_.runs.erase(at);
        continue;
      }
      for (; state.next < space_.runs_of_job(); ++state.next) {
        const bool known = decided_.count(candidate_of(job, state.next)) > 0;
        if (!known && !front_.beats(space_.bounds(jobs_[job], state.next))) break;
        known ? --state.known : ++tally_.excluded;
      }
      if (state.next == space_.runs_of_job()) {
        at = waiting_.runs.erase(at);
        continue;
      }
      std::string step = step_of(job, state.next);
      if (!step.empty() && !waiting_.steps.insert(step).second) {
        ++at;
        continue;
      }
      waiting_.runs.erase(at);
      const std::uint64_t run = state.next++;
      if (state.next < space_.runs_of_job()) waiting_.runs.emplace(place_of(job), job);
      return Move{job, run, std::move(step)};
    }
    return std::nullopt;
  }

  /// The key of a run's step (step_key.hpp); empty where the run is impossible and will say why.
  [[nodiscard]] std::string step_of(std::size_t job, std::uint64_t run) const {
    try {
      return step_key(plan_, space_.patch(jobs_[job], run), false);
    } catch (const ConfigError&) {
      return {};
    }
  }

  /// A move is over. REQUIRES: the mutex is held.
  void done(const Move& move) {
    if (!move.step.empty()) waiting_.steps.erase(move.step);
    --waiting_.busy;
    waiting_.returned.notify_all();
  }

  void raise(std::size_t number) {
    JobCandidate job = jobs_[number];
    try {
      space_.raise_bound(job);
    } catch (const ConfigError&) {
      // Its run says what it is that cannot be.
    }
    const std::scoped_lock lock(mutex_);
    jobs_[number] = job;
    waiting_.runs.emplace(place_of(number), number);
    done({number, std::nullopt, {}});
  }

  /// By the bound of the run alone, on its own rails.
  [[nodiscard]] bool is_excluded(const Move& move) {
    {
      const std::scoped_lock lock(mutex_);
      if (front_.empty()) return false;
    }
    try {
      const std::vector<double> bounds = space_.bounds_on_rails(jobs_[move.job], *move.run);
      const std::scoped_lock lock(mutex_);
      return front_.beats(bounds);
    } catch (const ConfigError&) {
      return false;
    }
  }

  void exclude(const Move& move) {
    const std::scoped_lock lock(mutex_);
    ++tally_.excluded;
    done(move);
  }

  [[nodiscard]] Outcome decide(const Move& move) {
    Outcome outcome = simulated(jobs_[move.job], *move.run);
    const std::scoped_lock lock(mutex_);
    folder_.add({candidate_of(move.job, *move.run), outcome});
    return outcome;
  }

  [[nodiscard]] Outcome simulated(const JobCandidate& job, std::uint64_t run) {
    const NetworkBill bill = space_.bill(job, run);
    const Outcome refused = refusal(plan_, bill);
    if (refused.kind == Outcome::Kind::kRejected) return refused;
    Outcome outcome = runs_.run(space_.patch(job, run));
    if (!bill.problem.empty()) return outcome;
    outcome.run.usd = bill.usd;
    outcome.run.power_w = bill.power_w;
    return outcome;
  }

  void keep(const Move& move, Outcome outcome) {
    const std::scoped_lock lock(mutex_);
    add(move, std::move(outcome));
    done(move);
  }

  void add(const Move& move, Outcome outcome) {
    const JobCandidate& job = jobs_[move.job];
    if (outcome.kind == Outcome::Kind::kDone) {
      PlannedRun& run = outcome.run;
      run.bound_s = job.bound_s;
      run.objectives = values(plan_, measured(run));
      front_.add(run.objectives);
      best_ = std::min(best_, run.objectives.front());
    }
    const std::string step = move.step.empty() ? step_of(move.job, *move.run) : move.step;
    decided_.emplace(candidate_of(move.job, *move.run), Decided{move.job, *move.run, step, std::move(outcome)});
  }

  [[nodiscard]] PlanResult result();
  /// Where none can be: what needs the least more than it may.
  [[nodiscard]] std::string nearest() const;
  void add_gap(PlanResult& result, bool none_ran) const;
  void add_worth(PlanResult& result) const;

  const Plan& plan_;
  const PlanOptions& options_;
  const Clock::time_point begun_ = Clock::now();
  Rejections rejections_;
  const Space space_;
  std::vector<JobCandidate> jobs_;
  std::vector<State> states_;  // by job
  std::mutex mutex_;           // of all below but runs_
  Folder folder_;
  Waiting waiting_;
  Tally tally_;
  double best_ = std::numeric_limits<double>::infinity();  // of the first objective
  Front front_;
  CandidateRuns runs_;
  std::map<std::uint64_t, Decided> decided_;  // by candidate
};

PlanResult Search::result() {
  PlanResult result;
  result.candidates = space_.candidates();
  result.reused = tally_.reused + runs_.reused();
  for (const auto& [reason, of] : rejections_.of) result.rejected[reason] += of.count * space_.runs_of_job();
  std::vector<std::pair<double, const Decided*>> order;
  for (const auto& [candidate, decided] : decided_) {
    switch (decided.outcome.kind) {
      case Outcome::Kind::kRejected:
        ++result.rejected[decided.outcome.reason];
        break;
      case Outcome::Kind::kFailed:
        ++result.failed;
        break;
      case Outcome::Kind::kDone:
        ++result.simulated;
        order.emplace_back(decided.outcome.run.objectives.front(), &decided);
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const bool one = plan_.objectives.size() == 1;
  UnlikeSteps unlike;
  for (const auto& [value, of] : order) {
    const Decided& decided = *of;
    PlannedRun& run = result.runs.emplace_back(decided.outcome.run);
    run.labels = space_.labels(jobs_[decided.job], decided.run);
    run.choices = space_.values(jobs_[decided.job], decided.run);
    run.patch = space_.patch(jobs_[decided.job], decided.run);
    const bool told = one ? result.best.size() < options_.keep && unlike.emplace(decided.step, run.objectives).second
                          : !front_.beats(run.objectives);
    if (told) result.best.push_back(run);
  }
  if (!order.empty()) {
    const Decided& best = *order.front().second;
    result.around = space_.around(jobs_[best.job], best.run);
  }
  add_gap(result, order.empty());
  if (order.empty() && result.open == 0) result.nearest = nearest();
  for (const auto& [reason, of] : rejections_.of) result.examples[reason] = of.example;
  for (const auto& [candidate, decided] : decided_) {
    const Outcome& outcome = decided.outcome;
    if (outcome.kind != Outcome::Kind::kDone) result.examples.try_emplace(outcome.reason, outcome.example);
  }
  add_worth(result);
  return result;
}

// A candidate that has memory enough and only costs or draws too much is nearer than one that has not.
std::string Search::nearest() const {
  double least = std::numeric_limits<double>::infinity();
  std::string text = rejections_.nearest;
  for (const auto& [candidate, decided] : decided_) {
    const Outcome& outcome = decided.outcome;
    const bool too_dear = outcome.reason == kTooDear;
    if (!too_dear && outcome.reason != kTooMuchPower) continue;
    const NetworkBill bill = space_.bill(jobs_[decided.job], decided.run);
    const double excess = too_dear ? bill.usd / *plan_.limits.usd : bill.power_w / *plan_.limits.power_w;
    if (excess >= least) continue;
    least = excess;
    text.clear();
    for (const std::string& label : space_.labels(jobs_[decided.job], decided.run))
      text += (text.empty() ? "" : "; ") + label;
    text += ": " + outcome.example;
  }
  return text;
}

// Candidates whose bound is above the best are excluded, whether their run was cut off or never begun.
void Search::add_gap(PlanResult& result, bool none_ran) const {
  double least = best_;
  result.excluded = tally_.excluded;
  const auto see = [&](std::size_t job, std::uint64_t count) {
    if (count == 0) return;
    (front_.beats(space_.bounds(jobs_[job], std::nullopt)) ? result.excluded : result.open) += count;
    least = std::min(least, jobs_[job].bound);
  };
  for (const std::size_t job : tally_.cut_off) see(job, 1);
  for (const auto* queue : {&waiting_.quick, &waiting_.runs}) {
    for (const auto& [place, job] : *queue) see(job, left(job));
  }
  if (result.open > 0) result.gap = none_ran ? 1.0 : std::max(0.0, 1.0 - least / best_);
}

// All runs of a job have its bound, so that those of the first job that has none yet stand for those of the others.
void Search::add_worth(PlanResult& result) const {
  std::vector<BestOfValue> choices;
  BestOfValue shapes;  // tp and pp
  const auto see = [&](const BestOfValue::Of& candidate) {
    const std::vector<std::uint32_t> numbers = space_.value_numbers(jobs_[candidate.job], candidate.run);
    choices.resize(numbers.size());
    for (std::size_t c = 0; c < numbers.size(); ++c) choices[c].see(numbers[c], candidate);
    const ShapeNumbers& shape = jobs_[candidate.job].shape;
    if (plan_.shapes) shapes.see(std::uint64_t{shape.tp} << 32 | shape.pp, candidate);
  };
  for (const auto& [candidate, decided] : decided_) {
    if (decided.outcome.kind == Outcome::Kind::kDone)
      see({decided.outcome.run.objectives.front(), true, decided.job, decided.run});
  }
  for (const std::size_t job : tally_.beaten) see({jobs_[job].bound, false, job, 0});
  std::optional<std::size_t> first;  // of the jobs that have no run yet
  std::vector<std::size_t> open;
  for (const auto* queue : {&waiting_.quick, &waiting_.runs}) {
    for (const auto& [place, job] : *queue) open.push_back(job);
  }
  for (const std::size_t job : open) {
    if (states_[job].next == 0 && (!first || jobs_[job].bound < jobs_[*first].bound)) first = job;
  }
  for (const std::size_t job : open) {
    const std::uint64_t end = job == first ? space_.runs_of_job() : states_[job].next + 1;
    for (std::uint64_t run = states_[job].next; run < end; ++run) see({jobs_[job].bound, false, job, run});
  }
  for (std::size_t c = 0; c < choices.size(); ++c) {
    for (const auto& [value, best] : choices[c].all()) {
      if (!std::isfinite(best.objective)) continue;  // it cannot be, by its bound
      const auto values = space_.values(jobs_[best.job], best.run);
      result.worth.push_back({values[c].first, values[c].second, best.objective, best.simulated});
    }
  }
  std::stable_sort(result.worth.begin(), result.worth.end(),
                   [](const PlanWorth& a, const PlanWorth& b) { return a.choice < b.choice; });
  for (const auto& [sizes, best] : shapes.all()) {
    result.map.push_back(
        {static_cast<std::uint32_t>(sizes >> 32), static_cast<std::uint32_t>(sizes), best.objective, best.simulated});
  }
}

}  // namespace

}  // namespace plan

PlanResult run_plan(const Plan& plan, const PlanOptions& options, const Registries& known) {
  return plan::Search(plan, options, known).run();
}

}  // namespace photonrail
