// Best first: the job with the least bound comes next. Where that is the quick bound the closer one is found, and the job
// goes back to its place; else one of its runs is simulated. A job whose bound is above the best found so far is excluded.
// Ties go to the candidate that comes first, so that the number of threads does not change the answer.
#include "config/scenario_parts.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/plan/candidate_runs.hpp"
#include "studies/plan/objective.hpp"
#include "studies/plan/outcome.hpp"
#include "studies/plan/space.hpp"
#include "studies/pool.hpp"
#include "studies/record_log.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
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

// Where a candidate is rejected by its bill.
constexpr const char* kTooDear = "/limits/usd";
constexpr const char* kTooMuchPower = "/limits/power_w";

/// What a thread does next: it raises the bound of a job, or simulates one of its runs.
struct Move {
  std::size_t job = 0;
  std::optional<std::uint64_t> run;  ///< none: raise the bound
};

class Search {
 public:
  Search(const Plan& plan, const PlanOptions& options, const Registries& known)
      : plan_(plan),
        options_(options),
        space_(plan),
        jobs_(space_.jobs(rejections_)),
        states_(jobs_.size()),
        runs_(plan, known, [this] {
          tell();
          return is_over();
        }) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) waiting_.queue.emplace(place_of(jobs_[j]), j);
    if (options.directory.empty()) return;
    folder_.log = studies::RecordLog(options.directory / "runs.jsonl", "{\"plan\":\"" + hash_of(plan) + "\"}");
    for (const std::string& record : folder_.log.records()) folder_.earlier.insert(outcome_of(record));
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
    return result();
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// How far a job is.
  struct State {
    bool is_close = false;   ///< its bound is the closer one
    std::uint64_t next = 0;  ///< runs before it are taken
  };

  [[nodiscard]] std::uint64_t all() const { return jobs_.size() * space_.runs_of_job(); }
  [[nodiscard]] std::uint64_t candidate_of(std::size_t job, std::uint64_t run) const {
    return jobs_[job].number * space_.runs_of_job() + run;
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
        keep(*move, decide(*move));
      } catch (const OutOfTime&) {
        const std::scoped_lock lock(mutex_);
        tally_.cut_off.push_back(move->job);
        return;
      }
    }
  }

  /// Where the job stands in the queue: by its bound, and later where a simulation is much work, since what the others take
  /// may exclude it.
  [[nodiscard]] double place_of(const JobCandidate& job) const {
    constexpr double kLittleWork = 1024.0;
    constexpr double kOfADoubling = 0.01;
    return job.bound * (1.0 + kOfADoubling * std::max(0.0, std::log2(job.work / kLittleWork)));
  }

  /// The next move that may find a candidate that none beats; none: there is none, or the time is over.
  std::optional<Move> take() {
    std::unique_lock lock(mutex_);
    if (options_.progress) options_.progress(decided_.size(), all());
    for (;;) {
      waiting_.returned.wait(lock, [&] { return waiting_.raising == 0 || !waiting_.queue.empty(); });
      if (waiting_.queue.empty()) return std::nullopt;
      const auto next = waiting_.queue.begin();
      const std::size_t job = next->second;
      State& state = states_[job];
      if (front_.beats(space_.bounds(jobs_[job], std::nullopt))) {
        tally_.excluded += space_.runs_of_job() - state.next;
        tally_.beaten.push_back(job);
        waiting_.queue.erase(next);
        continue;
      }
      if (folder_.earlier.find(candidate_of(job, state.next)) == folder_.earlier.end() && is_over()) return std::nullopt;
      if (!state.is_close) {
        waiting_.queue.erase(next);
        ++waiting_.raising;
        return Move{job, std::nullopt};
      }
      const std::uint64_t run = state.next++;
      if (state.next == space_.runs_of_job()) waiting_.queue.erase(next);
      if (!front_.beats(space_.bounds(jobs_[job], run))) return Move{job, run};
      ++tally_.excluded;
    }
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
    states_[number].is_close = true;
    waiting_.queue.emplace(place_of(job), number);
    --waiting_.raising;
    waiting_.returned.notify_all();
  }

  [[nodiscard]] Outcome decide(const Move& move) {
    const std::uint64_t candidate = candidate_of(move.job, *move.run);
    {
      const std::scoped_lock lock(mutex_);
      const auto at = folder_.earlier.find(candidate);
      if (at != folder_.earlier.end()) {
        ++tally_.reused;
        return at->second;
      }
    }
    Outcome outcome = simulated(jobs_[move.job], *move.run);
    const std::scoped_lock lock(mutex_);
    if (!options_.directory.empty()) folder_.log.add(text_of(outcome, candidate));
    return outcome;
  }

  [[nodiscard]] Outcome simulated(const JobCandidate& job, std::uint64_t run) {
    NetworkBill bill;
    Outcome refused = refusal(job, run, bill);
    if (refused.kind == Outcome::Kind::kRejected) return refused;
    Outcome outcome = runs_.run(space_.patch(job, run));
    if (!bill.problem.empty()) return outcome;
    outcome.run.usd = bill.usd;
    outcome.run.power_w = bill.power_w;
    return outcome;
  }

  /// Rejected: the candidate cannot be, before it is run.
  [[nodiscard]] Outcome refusal(const JobCandidate& job, std::uint64_t run, NetworkBill& bill) const {
    bill = space_.bill(job, run);
    const PlanLimits& limits = plan_.limits;
    const bool matters =
        limits.usd || limits.power_w || std::any_of(plan_.objectives.begin(), plan_.objectives.end(), reads_bill);
    const auto rejected = [](const std::string& reason, const std::string& example) {
      return Outcome{Outcome::Kind::kRejected, reason, example, {}};
    };
    if (!bill.problem.empty()) return matters ? rejected("the network has no bill", bill.problem) : Outcome{};
    if (limits.usd && bill.usd > *limits.usd)
      return rejected(kTooDear, "the network costs $" + std::to_string(std::llround(bill.usd)));
    if (limits.power_w && bill.power_w > *limits.power_w)
      return rejected(kTooMuchPower, "the network draws " + std::to_string(std::llround(bill.power_w)) + " W");
    return {};
  }

  void keep(const Move& move, Outcome outcome) {
    const std::scoped_lock lock(mutex_);
    const JobCandidate& job = jobs_[move.job];
    if (outcome.kind == Outcome::Kind::kDone) {
      PlannedRun& run = outcome.run;
      run.bound_s = job.bound_s;
      run.objectives = values(plan_, measured(run));
      front_.add(run.objectives);
      best_ = std::min(best_, run.objectives.front());
    }
    decided_.emplace(candidate_of(move.job, *move.run), Decided{move.job, *move.run, std::move(outcome)});
  }

  [[nodiscard]] PlanResult result();
  /// Where none can be: what needs the least more than it may.
  [[nodiscard]] std::string nearest() const;
  void add_gap(PlanResult& result, bool none_ran) const;
  void add_worth(PlanResult& result) const;

  /// A candidate whose run is over.
  struct Decided {
    std::size_t job = 0;
    std::uint64_t run = 0;
    Outcome outcome{};
  };

  /// What an earlier call left.
  struct Folder {
    studies::RecordLog log{};
    std::map<std::uint64_t, Outcome> earlier{};  // by candidate
  };
  /// Jobs with runs that are not taken.
  struct Waiting {
    std::set<std::pair<double, std::size_t>> queue{};  // by place_of()
    std::size_t raising = 0;                           // jobs that are out of the queue for a closer bound
    std::condition_variable returned{};                // one is back
  };
  struct Tally {
    std::uint64_t excluded = 0;          // candidates that are no longer in the queue
    std::vector<std::size_t> beaten{};   // their jobs
    std::vector<std::size_t> cut_off{};  // jobs of runs that the end of the time stopped
    std::uint64_t reused = 0;            // candidates of the folder
  };

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
  for (const auto& [value, of] : order) {
    const Decided& decided = *of;
    PlannedRun& run = result.runs.emplace_back(decided.outcome.run);
    run.labels = space_.labels(jobs_[decided.job], decided.run);
    run.choices = space_.values(jobs_[decided.job], decided.run);
    run.patch = space_.patch(jobs_[decided.job], decided.run);
    if (one ? result.best.size() < options_.keep : !front_.beats(run.objectives)) result.best.push_back(run);
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

// What has memory enough and only costs or draws too much is nearer than what has not.
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
    (front_.beats(space_.bounds(jobs_[job], std::nullopt)) ? result.excluded : result.open) += count;
    least = std::min(least, jobs_[job].bound);
  };
  for (const std::size_t job : tally_.cut_off) see(job, 1);
  for (const auto& [bound, job] : waiting_.queue) see(job, space_.runs_of_job() - states_[job].next);
  if (result.open > 0) result.gap = none_ran ? 1.0 : std::max(0.0, 1.0 - least / best_);
}

/// The best run with each value of a choice, or else the least bound of a candidate with it.
class Best {
 public:
  struct Of {
    double objective = 0.0;
    bool simulated = false;
    std::size_t job = 0;
    std::uint64_t run = 0;
  };

  void see(std::uint64_t value, const Of& candidate) {
    const auto [at, fresh] = of_.try_emplace(value, candidate);
    Of& best = at->second;
    const bool better = candidate.simulated && (!best.simulated || candidate.objective < best.objective);
    const bool lower = !candidate.simulated && !best.simulated && candidate.objective < best.objective;
    if (better || lower) best = candidate;
  }
  [[nodiscard]] const std::map<std::uint64_t, Of>& all() const { return of_; }

 private:
  std::map<std::uint64_t, Of> of_;
};

// All runs of a job have its bound, so that those of the first job that has none yet stand for those of the others.
void Search::add_worth(PlanResult& result) const {
  std::vector<Best> choices;
  Best shapes;  // tp and pp
  const auto see = [&](const Best::Of& candidate) {
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
  for (const auto& [place, job] : waiting_.queue) {
    if (states_[job].next == 0 && (!first || jobs_[job].bound < jobs_[*first].bound)) first = job;
  }
  for (const auto& [place, job] : waiting_.queue) {
    const std::uint64_t end = job == first ? space_.runs_of_job() : states_[job].next + 1;
    for (std::uint64_t run = states_[job].next; run < end; ++run) see({jobs_[job].bound, false, job, run});
  }
  for (std::size_t c = 0; c < choices.size(); ++c) {
    for (const auto& [value, best] : choices[c].all()) {
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

std::string planned_scenario(const Plan& plan, const PlannedRun& run) {
  json::Json scenario = json::parse_json(plan.base, plan.file.string());
  config::apply_overrides(scenario, run.patch);
  std::string name = plan.name;
  for (const std::string& label : run.labels) name += ": " + label;
  scenario["name"] = name;
  return scenario.dump(2) + "\n";
}

std::string sweep_around(const Plan& plan, const PlanResult& result) {
  json::Json sweep{{"schema", "photonrail.sweep/1"},
                   {"name", "around the best of " + plan.name},
                   {"why", "What does each change of one choice of the best candidate cost?"},
                   {"base", json::parse_json(planned_scenario(plan, result.best.front()), plan.file.string())}};
  json::Json variants = json::Json::object();
  for (const PlanValue& value : result.around) {
    json::Json& set = variants[value.label] = json::Json::object();
    for (const Override& change : value.patch) set[change.pointer] = json::parse_json(change.value, change.pointer);
  }
  sweep["axes"] = json::Json::array();
  sweep["axes"].push_back(json::Json{{"name", "candidate"}, {"variants", std::move(variants)}});
  return sweep.dump(2) + "\n";
}

}  // namespace photonrail
