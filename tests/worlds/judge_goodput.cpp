// Laws of months of a job: books that add up, the same bytes however they are made, and a folder that is gone on with.
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/goodput.hpp"
#include "studies/goodput/process/history.hpp"
#include "studies/goodput/report.hpp"
#include "worlds/family.hpp"
#include "worlds/inputs.hpp"
#include "worlds/judge.hpp"

#include <atomic>
#include <cmath>
#include <set>

namespace photonrail::worlds {

namespace {

using goodput::GoodputScenario;
using goodput::GoodputSpec;
using goodput::History;
using goodput::Period;

/// Servers are at one place each, a running job has none that is down, and periods follow each other without gaps.
class PlaceLaws : public goodput::HistoryObserver {
 public:
  explicit PlaceLaws(const GoodputSpec& spec) : spec_(&spec) {}

  void period(const Period& period) override {
    if (period.from != last_ || period.to <= period.from) problem = "periods of a history do not follow each other";
    last_ = period.to;
  }
  void places(LongTime, bool running, const std::vector<std::uint32_t>& server_at, const std::vector<std::uint32_t>& down,
              const std::vector<bool>& dropped) override {
    const std::set<std::uint32_t> distinct(server_at.begin(), server_at.end());
    if (distinct.size() != server_at.size()) problem = "a server is at two places";
    const std::uint32_t width = spec_->job.servers / spec_->job.replicas;
    std::uint32_t active = 0;
    for (std::uint32_t place = 0; running && place < server_at.size(); ++place) {
      if (dropped[place / width]) continue;
      ++active;
      if (down[server_at[place]] != 0) problem = "a running job uses a server that is down";
    }
    if (running && active < spec_->job.min_replicas * width) problem = "a job runs with fewer replicas than it needs";
  }

  std::string problem;
  [[nodiscard]] LongTime end() const { return last_; }

 private:
  const GoodputSpec* spec_;
  LongTime last_{};
};

// A part with a constant time to failure has no more failures than such times.
bool fails_too_often(const GoodputSpec& spec, const History& history) {
  for (std::size_t s = 0; s < spec.failures.size() && spec.server_spread == 0.0; ++s) {
    const goodput::RandomTime& time = spec.failures[s].time_to_failure;
    if (time.law != goodput::RandomTime::Law::kConstant) continue;
    const double most = spec.parts_of(spec.failures[s]) * (1.0 + history.wall.seconds() / time.mean_s);
    if (static_cast<double>(history.sources[s].failures) > most) return true;
  }
  return false;
}

std::string problem_of(const GoodputSpec& spec, const History& history) {
  const LongTime longest = LongTime::from_days(spec.days);
  if (history.books.total() != history.wall) return "the uses of time do not add up to the length of the history";
  for (const LongTime time : history.books.of) {
    if (time < LongTime{}) return "a use of time is negative";
  }
  if (history.wall > longest) return "a history is longer than its days";
  if (spec.steps == 0 && history.wall != longest) return "a history is shorter than its days";
  if (spec.steps > 0 && history.steps > spec.steps) return "a history has more steps than the file asks for";
  if (history.interruptions > history.failures) return "more interruptions than failures";
  if (history.ettr() < 0.0 || history.ettr() > 1.0) return "a share of productive time is none";
  std::uint64_t on_job = 0;
  for (const goodput::SourceTally& source : history.sources) {
    if (source.on_job > source.failures) return "more failures of a source hit the job than there were";
    on_job += source.on_job;
  }
  if (on_job != history.failures) return "failures of the sources do not add up to those of the job";
  if (fails_too_often(spec, history)) return "a part fails more often than after its constant time";
  return "";
}

std::string problem_of(const goodput::GoodputSummary& summary) {
  double shares = 0.0;
  for (const goodput::Estimate& share : summary.shares) shares += share.mean;
  if (std::abs(shares - 1.0) > 1e-9) return "the shares of time add up to " + std::to_string(shares);
  if (summary.ettr.mean > 1.0 || summary.goodput.mean > summary.ettr.mean + 1e-12) return "more goodput than there can be";
  return "";
}

std::string text_of(const GoodputResult& result) {
  return goodput::goodput_json({{result.summary, {}, {}, result.configurations}});
}

GoodputResult run_into(const GoodputScenario& scenario, const std::filesystem::path& folder, std::uint32_t threads = 1) {
  GoodputOptions options;
  options.directory = folder;
  options.jobs = threads;
  return run_goodput(scenario, options);
}

// Stopped as by Ctrl-C after its first history; what it throws then has no meaning.
void run_stopped(const GoodputScenario& scenario, const std::filesystem::path& folder) {
  std::atomic<bool> stop = false;
  GoodputOptions options;
  options.directory = folder;
  options.jobs = 1;
  options.stop = &stop;
  options.progress = [&](const GoodputProgress& progress) { stop = progress.done > 0; };
  try {
    static_cast<void>(run_goodput(scenario, options));
  } catch (const std::exception&) {
    return;
  }
}

void judge_ways(const GoodputScenario& scenario, const std::string& expected, Verdict& verdict) {
  const auto differs = [&](const GoodputResult& result, const char* how) {
    ++verdict.runs;
    if (text_of(result) == expected) return;
    verdict.symptom = "resume";
    verdict.detail = std::string("another result ") + how;
  };
  differs(run_into(scenario, {}, 2), "with two threads");
  const Scratch scratch;
  GoodputScenario first = scenario;
  first.spec.seeds = 1;
  static_cast<void>(run_into(first, scratch.folder() / "a"));
  differs(run_into(scenario, scratch.folder() / "a"), "when a folder is gone on with");
  cut_last_line(scratch.folder() / "a/seeds.jsonl");
  differs(run_into(scenario, scratch.folder() / "a"), "when the last line of the folder is cut");
  run_stopped(scenario, scratch.folder() / "b");
  differs(run_into(scenario, scratch.folder() / "b", 2), "after a stop");
}

void judge_places(const GoodputScenario& scenario, Verdict& verdict) {
  if (scenario.job) return;
  PlaceLaws laws(scenario.spec);
  goodput::ConstantSteps steps(scenario.spec, scenario.step);
  const History history = goodput::run_history(scenario.spec, steps, scenario.spec.first_seed, {}, &laws);
  if (laws.problem.empty() && laws.end() != history.wall) laws.problem = "the periods do not add up to the history";
  if (laws.problem.empty()) return;
  verdict.symptom = "places";
  verdict.detail = laws.problem;
}

}  // namespace

Verdict judge_goodput(const World& world, const JudgeOptions&) {
  return ending_of([&](Verdict& verdict) {
    const GoodputScenario scenario =
        goodput::parse_goodput(world.scenario.dump(), inputs(), "world.json", {}, Registries{});
    const GoodputResult result = run_into(scenario, {});
    verdict.laws = {"books", "resume", "places"};
    std::string problem = problem_of(result.summary);
    for (const History& history : result.histories) {
      if (problem.empty()) problem = problem_of(scenario.spec, history);
    }
    const std::string text = text_of(result);
    if (problem.empty() && has_no_number(text)) problem = "the result has a number that is none";
    if (!problem.empty()) {
      verdict.symptom = "books";
      verdict.detail = problem;
      return;
    }
    judge_ways(scenario, text, verdict);
    if (verdict.symptom.empty()) judge_places(scenario, verdict);
  });
}

}  // namespace photonrail::worlds
