#include "photonrail/testing/fuzz.hpp"

#include "core/counted.hpp"
#include "core/printed.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/policy_kit.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "testing/own_registries.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace photonrail::testing {

namespace {

struct Stopped {
  Violation why;
};

/// Stops a run in which an operation waits for circuits beyond Patience, or that does not end.
class Watchman : public HistoryHash {
 public:
  explicit Watchman(Duration longest_wait) : longest_wait_(longest_wait) {}

  void operation(const OperationEvent& event) override {
    HistoryHash::operation(event);
    const auto key = std::pair{event.rank, event.sequence};
    if (event.state == OperationEvent::State::kWaitingForCircuits) {
      waiting_.emplace(key, event);
    } else if (const auto found = waiting_.find(key); found != waiting_.end()) {
      check_wait(found->second, event.at);
      waiting_.erase(found);
    }
    look(event.at);
  }
  void circuit(const CircuitEvent& event) override {
    HistoryHash::circuit(event);
    look(event.at);
  }

 private:
  void check_wait(const OperationEvent& waiting, Time now) const {
    if (now - waiting.at <= longest_wait_) return;
    throw Stopped{{Invariant::kStarvation, "rank " + std::to_string(waiting.rank.value) +
                                               " waits for the circuits of task " + std::to_string(waiting.task.value) +
                                               " from " + core::seconds_text(waiting.at) + " and still at " +
                                               core::seconds_text(now)}};
  }
  void look(Time now) const {
    if (now.since_start() <= 2 * longest_wait_) return;
    for (const auto& [key, event] : waiting_) check_wait(event, now);
    throw Stopped{{Invariant::kRestless, "the job is not done at " + core::seconds_text(now)}};
  }

  Duration longest_wait_;
  std::map<std::pair<RankId, std::uint32_t>, OperationEvent> waiting_;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

Violation blame(const Transcript& said, const std::exception& error) {
  for (const Answer& answer : said.changes) {
    if (!answer.no_matching.empty()) return {Invariant::kMatching, answer.no_matching};
    if (!answer.torn_down.empty()) return {Invariant::kBusy, answer.torn_down};
  }
  if (const auto* stuck = dynamic_cast<const DeadlockError*>(&error)) return {Invariant::kStuck, joined(stuck->stuck())};
  return {Invariant::kFault, error.what()};
}

struct Outcome {
  std::optional<Violation> violation;
  std::uint64_t history = 0;
};

/// When a run of a case has taken too long.
struct Limits {
  Duration longest_wait{};
  std::uint64_t asked = 0;
  std::uint64_t changes = 0;  ///< more are restless
};

Limits limits_of(const FuzzCase& fuzz_case, const Patience& patience) {
  const double serial = patience.serial_times * static_cast<double>(serial_time(fuzz_case).count());
  const Duration longest = std::max(patience.least, Duration{static_cast<std::int64_t>(serial)});
  return {longest, patience.asked, 4 * rounds(fuzz_case) * fuzz_case.gpus_per_server};
}

Outcome run_once(const PolicyUnderTest& subject, const Scenario& scenario, const Limits& limits) {
  Transcript said;
  said.most = limits.asked;
  Watchman watchman(limits.longest_wait);
  Observer* const observers[] = {&watchman};
  Outcome outcome;
  const auto changed = [&] { return " (circuits were changed " + core::counted(said.changes.size(), "time") + ")"; };
  try {
    const RunResult result = simulate(scenario, observers, only_electrical_and(overheard(subject.factory, said)));
    if (std::string problem = books_problem(result); !problem.empty()) {
      outcome.violation = {Invariant::kBooks, std::move(problem)};
    }
  } catch (Stopped& stopped) {
    outcome.violation = std::move(stopped.why);
    if (said.changes.size() > limits.changes) {
      outcome.violation->invariant = Invariant::kRestless;
      outcome.violation->what += changed();
    }
  } catch (const Restless&) {
    outcome.violation = {Invariant::kRestless,
                         "asked " + core::counted(said.asked, "time") + ", and the job is not done" + changed()};
  } catch (const std::exception& error) {
    outcome.violation = blame(said, error);
  }
  outcome.history = watchman.value();
  return outcome;
}

Scenario scenario_for(const PolicyUnderTest& subject, const FuzzCase& fuzz_case) {
  return under(subject, subject.settings[fuzz_case.setting % subject.settings.size()], scenario_of(fuzz_case));
}

}  // namespace

std::string_view name(Invariant invariant) {
  switch (invariant) {
    case Invariant::kMatching:
      return "every plan is a matching of ports that exist";
    case Invariant::kBusy:
      return "no circuit in use is torn down";
    case Invariant::kStuck:
      return "every job finishes";
    case Invariant::kStarvation:
      return "no operation starves";
    case Invariant::kRestless:
      return "every job comes to its end";
    case Invariant::kBooks:
      return "the parts of every rank's time add up to the makespan";
    case Invariant::kDeterminism:
      return "the same scenario has the same history";
    case Invariant::kFault:
      return "nothing is thrown";
  }
  return "";
}

std::string books_problem(const RunResult& result) {
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    const RankTime& time = result.ranks[r];
    const Duration parts[] = {
        time.compute, time.exposed_communication, time.reconfiguration_wait, time.peer_wait, time.detection, time.idle};
    for (const Duration part : parts) {
      if (part < Duration{}) return "a part of rank " + std::to_string(r) + " is negative";
    }
    if (time.total() != result.makespan) {
      return "the parts of rank " + std::to_string(r) + " add up to " + std::to_string(time.total().count()) +
             " ps, the makespan is " + std::to_string(result.makespan.count()) + " ps";
    }
  }
  const Duration all = std::accumulate(result.iterations.begin(), result.iterations.end(), Duration{});
  const bool repeats = result.jobs.empty() && result.launches.empty();
  if (repeats && all != result.makespan) return "the iterations do not add up to the makespan";
  return "";
}

std::optional<Violation> check(const PolicyUnderTest& subject, const FuzzCase& fuzz_case, const Patience& patience) {
  const Scenario scenario = scenario_for(subject, fuzz_case);
  const Limits limits = limits_of(fuzz_case, patience);
  const Outcome first = run_once(subject, scenario, limits);
  if (first.violation) return first.violation;
  const Outcome second = run_once(subject, scenario, limits);
  if (!second.violation && second.history == first.history) return std::nullopt;
  return Violation{Invariant::kDeterminism,
                   "the second run had another history" + (second.violation ? ": " + second.violation->what : "")};
}

Finding shrink(const PolicyUnderTest& subject, const FuzzCase& fuzz_case, const Violation& violation,
               std::uint64_t most_runs, const Patience& patience) {
  Finding finding{fuzz_case, fuzz_case, violation, scenario_for(subject, fuzz_case), subject.factory, 0};
  for (bool progress = true; progress;) {
    progress = false;
    for (FuzzCase& candidate : simpler(finding.small)) {
      if (finding.shrink_runs == most_runs) return finding;
      if (!valid(candidate)) continue;
      ++finding.shrink_runs;
      auto found = check(subject, candidate, patience);
      if (!found || found->invariant != violation.invariant) continue;
      finding.small = std::move(candidate);
      finding.violation = std::move(*found);
      finding.scenario = scenario_for(subject, finding.small);
      progress = true;
      break;
    }
  }
  return finding;
}

std::string Finding::text() const {
  return "the policy " + describe(scenario.controller) + " breaks \"" + std::string(name(violation.invariant)) +
         "\": " + violation.what + "\nrepeat it with `photonrail run` of\n" + to_json(small, scenario, factory);
}

FuzzReport fuzz(const PolicyUnderTest& subject, const FuzzOptions& options) {
  FuzzReport report;
  RandomStream random(options.seed, "policy fuzzer");
  while (report.cases < options.cases && !report.found) {
    const FuzzCase drawn = draw_case(random);
    ++report.cases;
    if (const auto violation = check(subject, drawn, options.patience)) {
      report.found = shrink(subject, drawn, *violation, options.shrink_runs, options.patience);
    }
  }
  return report;
}

}  // namespace photonrail::testing
