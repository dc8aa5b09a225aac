// Best first: jobs in the order of their bounds, each with all of its runs; a job whose bound is above the best step found
// so far, and all behind it, cannot be better. Ties go to the candidate that comes first, so that the number of threads
// does not change the answer.
#include "config/named_files.hpp"
#include "config/scenario_parts.hpp"
#include "core/fnv1a.hpp"
#include "json/json_reader.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/study/plan.hpp"
#include "photonrail/version.hpp"
#include "studies/plan/space.hpp"
#include "studies/pool.hpp"
#include "studies/record_log.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

namespace photonrail {

namespace plan {

namespace {

using json::Json;

/// What a candidate gave.
struct Outcome {
  enum class Kind : std::uint8_t { kDone, kRejected, kFailed };
  Kind kind = Kind::kDone;
  std::string reason{};  ///< of the others
  std::string example{};
  PlannedRun run{};
};

std::string text_of(const Outcome& outcome, std::uint64_t candidate) {
  const PlannedRun& run = outcome.run;
  Json line{{"candidate", candidate}, {"kind", static_cast<std::uint64_t>(outcome.kind)}};
  if (!outcome.reason.empty()) line["reason"] = outcome.reason;
  if (!outcome.example.empty()) line["example"] = outcome.example;
  if (outcome.kind == Outcome::Kind::kDone) {
    line["step_s"] = run.step_s;
    line["makespan_ps"] = run.makespan.count();
    Json mean = Json::array();
    for (const Duration part : {run.mean.compute, run.mean.exposed_communication, run.mean.reconfiguration_wait,
                                run.mean.peer_wait, run.mean.detection})
      mean.push_back(part.count());
    line["mean_ps"] = std::move(mean);
    if (run.memory_bytes) line["memory_bytes"] = *run.memory_bytes;
    if (run.usd) line["usd"] = *run.usd;
    if (run.power_w) line["power_w"] = *run.power_w;
  }
  return line.dump();
}

std::pair<std::uint64_t, Outcome> outcome_of(const std::string& text) {
  const Json line = json::parse_json(text, "runs.jsonl");
  json::JsonReader at(line);
  const auto number = [&at](const char* key) {
    const auto value = at.optional(key);
    return value ? std::optional(value->any_number()) : std::nullopt;
  };
  const auto word = [&at](const char* key) {
    const auto value = at.optional(key);
    return value ? value->string() : std::string{};
  };
  Outcome outcome;
  const std::uint64_t candidate = at.child("candidate").json().natural();
  outcome.kind = static_cast<Outcome::Kind>(at.child("kind").count(0, 2));
  outcome.reason = word("reason");
  outcome.example = word("example");
  if (outcome.kind != Outcome::Kind::kDone) return {candidate, outcome};
  PlannedRun& run = outcome.run;
  run.step_s = *number("step_s");
  run.makespan = Duration{at.child("makespan_ps").json().integer()};
  const auto parts = at.child("mean_ps").elements();
  Duration* const into[] = {&run.mean.compute, &run.mean.exposed_communication, &run.mean.reconfiguration_wait,
                            &run.mean.peer_wait, &run.mean.detection};
  for (std::size_t i = 0; i < parts.size() && i < std::size(into); ++i) *into[i] = Duration{parts[i].json().integer()};
  run.memory_bytes = number("memory_bytes");
  run.usd = number("usd");
  run.power_w = number("power_w");
  return {candidate, outcome};
}

// Of all that the numbers of candidates and what is kept of them depend on: the objective orders them, and limits reject.
std::string hash_of(const Plan& plan) {
  const Json base = json::parse_json(plan.base, plan.file.string());
  std::uint64_t hash = core::fnv1a(config::scenario_hash(base, plan.base_directory), core::fnv1a(version()));
  const Json limits{{"objective", static_cast<std::uint64_t>(plan.objective)},
                    {"usd", plan.limits.usd.value_or(0.0)},
                    {"power_w", plan.limits.power_w.value_or(0.0)}};
  hash = core::fnv1a(limits.dump(), hash);
  for (const PlanAxis& axis : plan.axes) {
    hash = core::fnv1a(axis.name + "\n", hash);
    for (const PlanValue& value : axis.values) {
      for (const Override& set : value.patch) hash = core::fnv1a(set.pointer + "=" + set.value + "\n", hash);
      hash = core::fnv1a("\n", hash);
    }
  }
  if (!plan.shapes) return core::hex(hash);
  const ShapeSpace& s = *plan.shapes;
  for (const auto* list : {&s.tp, &s.cp, &s.pp, &s.ep, &s.virtual_stages, &s.micro_batch}) {
    for (const std::uint32_t value : *list) hash = core::fnv1a(std::to_string(value) + ",", hash);
    hash = core::fnv1a(";", hash);
  }
  for (const auto* list : {&s.sharding, &s.recompute}) {
    for (const std::string& word : *list) hash = core::fnv1a(word + ",", hash);
    hash = core::fnv1a(";", hash);
  }
  return core::hex(hash);
}

/// Ends a run when the time of the search is over.
struct OutOfTime {};
class Deadline : public Observer {
 public:
  explicit Deadline(std::function<bool()> is_over) : is_over_(std::move(is_over)) {}
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void progress(std::uint64_t /*done*/, std::uint64_t /*of*/, Time) override {
    if (is_over_()) throw OutOfTime{};
  }

 private:
  std::function<bool()> is_over_;
};

class Search {
 public:
  Search(const Plan& plan, const PlanOptions& options, const Registries& known)
      : plan_(plan), options_(options), known_(known), space_(plan), jobs_(space_.jobs(rejections_)) {
    if (options.directory.empty()) return;
    log_ = studies::RecordLog(options.directory / "runs.jsonl", "{\"plan\":\"" + hash_of(plan) + "\"}");
    for (const std::string& record : log_.records()) earlier_.insert(outcome_of(record));
  }

  PlanResult run() {
    // Each thread takes the next candidate when it is done with one: which that is depends on what the others found.
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

  [[nodiscard]] std::uint64_t all() const { return jobs_.size() * space_.runs_of_job(); }
  [[nodiscard]] const JobCandidate& job(std::uint64_t candidate) const { return jobs_[candidate / space_.runs_of_job()]; }
  [[nodiscard]] std::uint64_t run_of(std::uint64_t candidate) const { return candidate % space_.runs_of_job(); }
  [[nodiscard]] bool is_over() const {
    return (options_.stop != nullptr && *options_.stop) ||
           std::chrono::duration<double>(Clock::now() - begun_).count() >= options_.limit_s;
  }

  void work(const studies::Stop& stop) {
    while (!stop()) {
      const auto next = take();
      if (!next) return;
      try {
        keep(*next, decide(*next));
      } catch (const OutOfTime&) {
        return leave_open(*next);
      }
    }
  }

  /// The next candidate that may be better than the best; none: there is none, or the time is over.
  std::optional<std::uint64_t> take() {
    const std::scoped_lock lock(mutex_);
    if (options_.progress) options_.progress(next_, all());
    if (next_ == all() || job(next_).bound > best_) return std::nullopt;
    if (earlier_.find(next_) == earlier_.end() && is_over()) return std::nullopt;
    return next_++;
  }

  [[nodiscard]] Outcome decide(std::uint64_t candidate) {
    {
      const std::scoped_lock lock(mutex_);
      const auto at = earlier_.find(candidate);
      if (at != earlier_.end()) {
        ++reused_;
        return at->second;
      }
    }
    Outcome outcome;
    try {
      outcome = simulated(candidate);
    } catch (const ConfigError& e) {
      outcome = {Outcome::Kind::kRejected, e.where(), e.problem()};
    } catch (const DeadlockError& e) {
      outcome = {Outcome::Kind::kFailed, "cannot finish", e.what()};
    } catch (const ControllerError& e) {
      outcome = {Outcome::Kind::kFailed, "the controller is in error", e.what()};
    }
    const std::scoped_lock lock(mutex_);
    if (!options_.directory.empty()) log_.add(text_of(outcome, candidate));
    return outcome;
  }

  [[nodiscard]] Outcome simulated(std::uint64_t candidate) {
    const std::vector<Override> patch = space_.patch(job(candidate), run_of(candidate));
    Scenario scenario = parse_scenario(plan_.base, plan_.base_directory, plan_.name, patch, known_);
    if (const std::string problem = scenario.infeasible(); !problem.empty())
      return {Outcome::Kind::kRejected, "memory of a GPU", problem};
    if (plan_.objective == PlanObjective::kGpuSecondsAToken && !scenario.work)
      throw ConfigError("/objective", "there are no tokens: the workload is no training job", "\"step\"");
    Outcome outcome;
    if (scenario.pricing) {
      const Bill bill = bill_of_materials(fabric_of(scenario.cluster, scenario.pricing->rule),
                                          network_shape(scenario.cluster), *scenario.pricing);
      outcome.run.usd = bill.usd();
      outcome.run.power_w = bill.power_w();
    }
    if (plan_.limits.usd && outcome.run.usd.value_or(0.0) > *plan_.limits.usd)
      return {Outcome::Kind::kRejected, "/limits/usd", "the network costs $" + std::to_string(*outcome.run.usd)};
    if (plan_.limits.power_w && outcome.run.power_w.value_or(0.0) > *plan_.limits.power_w)
      return {Outcome::Kind::kRejected, "/limits/power_w",
              "the network draws " + std::to_string(*outcome.run.power_w) + " W"};
    scenario.run.spread_seeds.reset();
    Deadline deadline([this] { return is_over(); });
    Observer* const observers[] = {&deadline};
    const RunResult result = simulate(scenario, observers, known_);
    outcome.run.step_s = to_seconds(result.step_time());
    outcome.run.makespan = result.makespan;
    outcome.run.mean = result.mean_rank_time();
    outcome.run.memory_bytes = result.peak_memory_bytes();
    return outcome;
  }

  void leave_open(std::uint64_t candidate) {
    const std::scoped_lock lock(mutex_);
    cut_off_.push_back(candidate);
  }

  void keep(std::uint64_t candidate, Outcome outcome) {
    const std::scoped_lock lock(mutex_);
    if (outcome.kind == Outcome::Kind::kDone) {
      PlannedRun& run = outcome.run;
      run.bound_s = job(candidate).bound_s;
      run.objective = space_.objective(job(candidate), run.step_s);
      best_ = std::min(best_, run.objective);
    }
    decided_.emplace(candidate, std::move(outcome));
  }

  [[nodiscard]] PlanResult result();
  void add_gap(PlanResult& result, bool none_ran) const;
  void add_worth(PlanResult& result) const;

  const Plan& plan_;
  const PlanOptions& options_;
  const Registries& known_;
  Rejections rejections_;
  const Space space_;
  const std::vector<JobCandidate> jobs_;  // the least bound first
  const Clock::time_point begun_ = Clock::now();
  studies::RecordLog log_;
  std::map<std::uint64_t, Outcome> earlier_;  // of the folder
  std::mutex mutex_;
  std::uint64_t next_ = 0;  // candidates before it are taken
  double best_ = std::numeric_limits<double>::infinity();
  std::uint64_t reused_ = 0;
  std::map<std::uint64_t, Outcome> decided_;
  std::vector<std::uint64_t> cut_off_;  // runs that the end of the time stopped
};

PlanResult Search::result() {
  PlanResult result;
  result.candidates = space_.candidates();
  result.reused = reused_;
  for (const auto& [reason, of] : rejections_.of) result.rejected[reason] += of.count * space_.runs_of_job();
  std::vector<std::pair<double, std::uint64_t>> order;
  for (const auto& [candidate, outcome] : decided_) {
    switch (outcome.kind) {
      case Outcome::Kind::kRejected:
        ++result.rejected[outcome.reason];
        break;
      case Outcome::Kind::kFailed:
        ++result.failed;
        break;
      case Outcome::Kind::kDone:
        ++result.simulated;
        order.emplace_back(outcome.run.objective, candidate);
    }
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(options_.keep, order.size()); ++i) {
    const std::uint64_t candidate = order[i].second;
    PlannedRun& run = result.best.emplace_back(decided_.at(candidate).run);
    run.labels = space_.labels(job(candidate), run_of(candidate));
    run.patch = space_.patch(job(candidate), run_of(candidate));
  }
  add_gap(result, order.empty());
  if (order.empty() && result.open == 0) result.nearest = rejections_.nearest;
  for (const auto& [reason, of] : rejections_.of) result.examples[reason] = of.example;
  for (const auto& [candidate, outcome] : decided_) {
    if (outcome.kind != Outcome::Kind::kDone) result.examples.try_emplace(outcome.reason, outcome.example);
  }
  add_worth(result);
  return result;
}

// Candidates whose bound is above the best are excluded, whether their run was cut off or never begun.
void Search::add_gap(PlanResult& result, bool none_ran) const {
  double least = best_;
  const auto see = [&](std::uint64_t candidate, std::uint64_t count) {
    const double bound = job(candidate).bound;
    (bound > best_ ? result.excluded : result.open) += count;
    least = std::min(least, bound);
  };
  for (const std::uint64_t candidate : cut_off_) see(candidate, 1);
  if (next_ < all()) see(next_, all() - next_);
  if (result.open > 0) result.gap = none_ran ? 1.0 : std::max(0.0, 1.0 - least / best_);
}

// Of each value of each choice the best run with it, or else the least bound of a candidate with it.
void Search::add_worth(PlanResult& result) const {
  std::map<std::tuple<std::string, std::string>, std::size_t> at;
  const auto see = [&](std::uint64_t candidate, double objective, bool simulated) {
    for (const auto& [choice, value] : space_.values(job(candidate), run_of(candidate))) {
      const auto [entry, fresh] = at.try_emplace({choice, value}, result.worth.size());
      if (fresh) result.worth.push_back({choice, value, objective, simulated});
      PlanWorth& worth = result.worth[entry->second];
      const bool better = simulated && (!worth.simulated || objective < worth.objective);
      const bool lower = !simulated && !worth.simulated && objective < worth.objective;
      if (better || lower) worth = {choice, value, objective, simulated};
    }
  };
  for (const auto& [candidate, outcome] : decided_) {
    if (outcome.kind == Outcome::Kind::kDone) see(candidate, outcome.run.objective, true);
  }
  for (std::uint64_t j = next_ / space_.runs_of_job(); j < jobs_.size(); ++j)
    see(j * space_.runs_of_job(), jobs_[j].bound, false);
  std::stable_sort(result.worth.begin(), result.worth.end(),
                   [](const PlanWorth& a, const PlanWorth& b) { return a.choice < b.choice; });
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

}  // namespace photonrail
