#include "studies/sweep/points.hpp"
#include "core/inside.hpp"

#include "config/scenario_parts.hpp"
#include "core/counted.hpp"
#include "core/fnv1a.hpp"
#include "formats/parallel.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/version.hpp"
#include "report/text.hpp"
#include "run/expected_time.hpp"
#include "studies/goodput/reader.hpp"
#include "studies/goodput/work.hpp"
#include "studies/sweep/manifest.hpp"
#include "studies/sweep/slices_point.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

namespace photonrail::sweep {

using core::fnv1a;
using core::hex;

namespace {

class Stopper : public Observer {
 public:
  explicit Stopper(const Stop& stop) : stop_(&stop) {}
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void progress(std::uint64_t, std::uint64_t, Time) override {
    if ((*stop_)()) throw Stopped{};
  }

 private:
  const Stop* stop_;
};

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Stops as `stop` does; throws ConfigError where this thread has taken more than `limit_s` since now.
Stop with_limit(const Stop& stop, double limit_s) {
  if (!(limit_s > 0.0)) return stop;
  return [&stop, limit_s, began = thread_seconds()] {
    if (thread_seconds() - began > limit_s)
      throw ConfigError("", "takes more than " + report::number("%g s", limit_s) + " of processor time",
                        "a greater --point-limit, with --retry-failed");
    return stop();
  };
}

// What the tasks of a rank are, for an estimate.
struct Load {
  double work = 0.0;          // a collective counts once for each member
  double largest_plan = 0.0;  // sends of a collective whose plan is a list
};

Load load_of(const Scenario& scenario, RankId rank) {
  const TaskGraph& graph = scenario.graph;
  Load load;
  for (const Task& task : graph.program(rank).tasks()) {
    const bool collective = task.kind == TaskKind::kCollective;
    const double members =
        collective ? static_cast<double>(graph.communicators()[graph.communicator(rank, task.slot).index()].members.size())
                   : 1.0;
    load.work += members;
    const bool formula = !collective || scenario.collectives.algorithm[static_cast<std::size_t>(task.op)] == "ring";
    if (!formula) load.largest_plan = std::max(load.largest_plan, members * members);
  }
  return load;
}

// Above what was measured for training jobs up to 512 GPUs, all-to-alls and StragglAR among 256. Ranks that are simulated
// once for many make it less.
Estimate estimate_of(const Scenario& scenario) {
  constexpr double kProcess = 12e6;
  constexpr double kTask = 100.0;
  constexpr double kRank = 20e3;
  constexpr double kSend = 700.0;
  const TaskGraph& graph = scenario.graph;
  std::vector<std::optional<Load>> of_program(graph.programs().size());
  Estimate sum;
  double bytes = kProcess + kRank * static_cast<double>(graph.ranks());
  double largest_plan = 0.0;
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    auto& load = of_program[graph.program_of(RankId{r}).index()];
    if (!load) {
      load = load_of(scenario, RankId{r});
      bytes += kTask * static_cast<double>(graph.program(RankId{r}).tasks().size());
      largest_plan = std::max(largest_plan, load->largest_plan);
    }
    sum.work += load->work * scenario.run.iterations;
  }
  sum.bytes = static_cast<std::uint64_t>(bytes + kSend * largest_plan);
  return sum;
}

PointPreview preview_of(const PointScenario& point, double seconds) {
  const Scenario& scenario = *point.job();
  return {point.warnings(), scenario.infeasible(), scenario.peak_memory_bytes(), seconds};
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// What `photonrail run` ends with.
std::pair<int, std::string> failure() {
  try {
    throw;
  } catch (const ConfigError& error) {
    return {2, file_words(error)};
  } catch (const ControllerError& error) {
    return {2, error.what()};
  } catch (const DeadlockError& error) {
    return {3, error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    return {2, file_words(error)};
  } catch (const std::exception& error) {
    return {1, file_words(error)};
  }
}

constexpr std::size_t kMaxListed = 20;  // ranges of points with one problem, and problems, in a message

// "0-2, 7" of ascending numbers.
std::string ranges(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  std::size_t listed = 0;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
    if (++listed > kMaxListed) return text + ", ...";
    for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
    text += text.empty() ? "" : ", ";
    text += std::to_string(numbers[first]);
    if (last == first) continue;
    text += '-';
    text += std::to_string(numbers[last]);
  }
  return text;
}

[[noreturn]] void refuse(const Sweep& sweep, std::span<const std::uint32_t> points,
                         const std::vector<std::string>& problems) {
  std::map<std::string, std::vector<std::uint32_t>> by_problem;
  std::size_t count = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (problems[i].empty()) continue;
    by_problem[problems[i]].push_back(points[i]);
    ++count;
  }
  std::map<std::uint32_t, std::string> in_order;  // by the first point that has it
  for (const auto& [problem, of] : by_problem) {
    in_order[of.front()] = "\n  point" + std::string(of.size() > 1 ? "s " : " ") + ranges(of) + " (" +
                           (of.size() > 1 ? "the first: " : "") + sweep.points[of.front()].name + "): " + problem;
  }
  std::string text =
      std::to_string(count) + " of " + core::counted(points.size(), "point") + " cannot run; none was started";
  std::size_t listed = 0;
  for (const auto& [first, line] : in_order) {
    if (++listed <= kMaxListed) text += line;
  }
  if (in_order.size() > kMaxListed) text += "\n  and " + std::to_string(in_order.size() - kMaxListed) + " other problems";
  throw ConfigError(sweep.file.string(), text);
}

}  // namespace

PointRunner::PointRunner(const Sweep& sweep, const Registries& known, double point_limit_s, bool run_infeasible)
    : sweep_(&sweep),
      known_(&known),
      point_limit_s_(point_limit_s),
      run_infeasible_(run_infeasible),
      base_(json::parse_json(sweep.base, sweep.base_name)),
      studies_(is_study(base_)),
      inputs_(sweep) {}

std::vector<std::string> PointRunner::expand() const {
  std::vector<std::string> names;
  for (const SweepPoint& point : sweep_->points) names.push_back(point.name);
  return names;
}

Json PointRunner::scenario_json(const SweepPoint& point) const {
  if (!point.problem.empty()) throw ConfigError("", point.problem);
  Json root = base_;
  core::inside(sweep_->base_name, [&] { config::apply_overrides(root, point.patch); });
  return root;
}

PointScenario PointRunner::scenario(const Json& json) const {
  return core::inside(sweep_->base_name, [&]() -> PointScenario {
    if (json.contains("reliability")) {
      return {std::nullopt, goodput::read_goodput_json(json, sweep_->base_directory, *known_, &graphs_)};
    }
    return {config::read_scenario_json(json, sweep_->base_directory, *known_, &graphs_), std::nullopt};
  });
}

Estimate PointRunner::examine(std::uint32_t point, PointPreview* preview) const {
  const Json json = scenario_json(sweep_->points[point]);
  if (studies_) {
    const Estimate found = estimate_of(study_of(json, sweep_->base_directory, sweep_->base_name));
    if (preview != nullptr) preview->seconds = found.seconds;
    return found;
  }
  const PointScenario read = scenario(json);
  const Scenario* const job = read.job();
  if (job == nullptr) {
    const double seconds = work_of(*read.months, *known_).seconds();
    if (preview != nullptr) preview->seconds = seconds;
    return {0.0, 0, seconds};
  }
  Estimate found = estimate_of(*job);
  const WorkEstimate once = run::expected_work(*job, *known_);
  found.seconds = once.seconds();
  if (job->run.spread_seeds && draws_of_seed(*job)) found.seconds *= std::max(1U, *job->run.spread_seeds);
  if (read.months) {
    WorkEstimate step;
    step.add(once, 1.0 / job->run.iterations);
    found.seconds += goodput::work_of_months(*read.months, step).seconds();
  }
  if (preview != nullptr) *preview = preview_of(read, found.seconds);
  return found;
}

std::vector<Estimate> PointRunner::check(std::span<const std::uint32_t> points, std::uint32_t threads, const Stop& stop,
                                         std::vector<PointPreview>* previews) const {
  // Points that differ in their seed only are checked once.
  std::vector<std::string> problems(points.size());
  std::vector<std::size_t> same_as(points.size());
  std::map<std::vector<std::pair<std::string, std::string>>, std::size_t> first_of;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<std::pair<std::string, std::string>> patch;
    for (const Override& set : sweep_->points[points[i]].patch) {
      if (set.pointer != "/run/seed") patch.emplace_back(set.pointer, set.value);
    }
    same_as[i] = first_of.emplace(std::move(patch), i).first->second;
  }
  std::vector<Estimate> estimates(points.size());
  if (previews != nullptr) previews->assign(points.size(), {});
  formats::for_each_index(
      points.size(),
      [&](std::size_t i) {
        if (stop() || same_as[i] != i) return;
        try {
          estimates[i] = examine(points[i], previews == nullptr ? nullptr : &(*previews)[i]);
        } catch (const ConfigError& error) {
          problems[i] = error.what();
        }
      },
      threads);
  if (stop()) throw Stopped{};
  bool any = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    estimates[i] = estimates[same_as[i]];
    if (previews != nullptr) (*previews)[i] = (*previews)[same_as[i]];
    problems[i] = problems[same_as[i]];
    any = any || !problems[i].empty();
  }
  if (any) refuse(*sweep_, points, problems);
  return estimates;
}

std::string PointRunner::reads_one_of(std::uint32_t point, const std::set<std::string>& files) const {
  const SweepPoint& of = sweep_->points[point];
  if (!of.problem.empty()) return {};
  for (const SweepInput& input : inputs_.of(scenario_json(of))) {
    const std::string name = input.file.lexically_proximate(sweep_->base_directory).string();
    if (files.contains(name)) return name;
  }
  return {};
}

std::string PointRunner::scenario_hash(std::uint32_t point) const {
  const Json json = scenario_json(sweep_->points[point]);
  return hash_of(json);
}

std::string PointRunner::hash_of(const Json& scenario) const {
  return hex(fold(sweep_->plugins, fold(inputs_.of(scenario), fnv1a(scenario.canonical()))));
}

Record PointRunner::blank(std::uint32_t index) const {
  const SweepPoint& point = sweep_->points[index];
  Record record;
  record.point = index;
  record.name = point.name;
  record.repetition = point.repetition;
  record.version = version();
  for (const auto& [name, value] : point.parameters) record.parameters.emplace_back(name, json::parse_json(value, name));
  return record;
}

Record PointRunner::taken_over(std::uint32_t point, const Record& record) const {
  Record taken = record;
  Record own = blank(point);
  taken.point = own.point;
  taken.name = std::move(own.name);
  taken.repetition = own.repetition;
  taken.parameters = std::move(own.parameters);
  return taken;
}

void PointRunner::simulate_into(const PointScenario& scenario, const Stop& stop, Record& record) const {
  std::optional<Duration> step;
  record.remarks.warnings = scenario.warnings();  // also of a point that fails
  if (const Scenario* const job = scenario.job()) {
    record.seed = job->run.seed;
    record.remarks.infeasible = job->infeasible();
    if (!record.remarks.infeasible.empty() && !run_infeasible_) {
      if (const auto peak = job->peak_memory_bytes()) record.metrics.emplace_back("peak_memory_bytes", *peak);
      return;
    }
    Stopper stopper(stop);
    Observer* const observer = &stopper;
    const RunResult result = simulate(*job, {&observer, 1}, *known_);
    take_result(result, record);
    step = result.step_time();
  }
  if (!scenario.months) return;
  for (std::string& line : scenario.months->warnings()) {
    if (std::find(record.remarks.warnings.begin(), record.remarks.warnings.end(), line) == record.remarks.warnings.end())
      record.remarks.warnings.push_back(std::move(line));
  }
  const auto stop_soon = [&] {
    if (stop()) throw Stopped{};
  };
  add_goodput(*scenario.months, step, *known_, known_steps_, stop_soon, record);
}

Record PointRunner::run(std::size_t at, const Stop& asked) const {
  const Stop stop = with_limit(asked, point_limit_s_);
  const auto index = static_cast<std::uint32_t>(at);
  const SweepPoint& point = sweep_->points[index];
  Record record = blank(index);
  record.provenance.host = host_name();
  record.provenance.started = utc_now();
  const auto started = std::chrono::steady_clock::now();
  try {
    const Json json = scenario_json(point);
    record.scenario_hash = hex(fnv1a(json.canonical()));
    if (studies_) {
      const slices::AllocationStudy study = study_of(json, sweep_->base_directory, sweep_->base_name);
      record.scenario_hash = hash_of(json);
      run_study(study, *known_, stop, record);
    } else {
      const PointScenario scenario = this->scenario(json);
      record.scenario_hash = hash_of(json);
      simulate_into(scenario, stop, record);
    }
    static_cast<void>(inputs_.of(json));  // what changed meanwhile, others read in another state
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception&) {
    std::tie(record.exit_status, record.error) = failure();
    record.metrics.clear();
    record.phases.clear();
    record.windows.clear();
  }
  record.provenance.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return record;
}

}  // namespace photonrail::sweep
