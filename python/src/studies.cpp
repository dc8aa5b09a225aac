// Sweeps from files, the laws of policies, and ASTRA-sim's inputs.
#include "bindings.hpp"

#include "photonrail/formats/astra.hpp"
#include "photonrail/study/goodput.hpp"
#include "photonrail/study/plan.hpp"
#include "photonrail/study/sweep.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "photonrail/testing/fuzz.hpp"
#include "photonrail/testing/laws.hpp"

#include <algorithm>

namespace photonrail::python {

namespace {

// `text`: the file itself, which need not be there; empty: it is read.
py::dict run_sweep_file(const std::filesystem::path& file, const std::filesystem::path& out, std::uint32_t threads,
                        const Registries& known, bool run_infeasible, const std::string& text) {
  SweepSummary summary;
  {
    const Unlocked unlock;
    const Sweep sweep = text.empty() ? read_sweep(file) : parse_sweep(text, file);
    SweepOptions options;
    options.directory = out;
    options.jobs = threads;
    options.run_infeasible = run_infeasible;
    SweepObserver silent;
    summary = run_sweep(sweep, options, silent, known);
  }
  py::dict d;
  d["points"] = summary.points;
  d["done"] = summary.done;
  d["failed"] = summary.failed;
  return d;
}

py::dict dict_of(const goodput::GoodputSummary& summary) {
  const auto three = [](const goodput::Estimate& e) { return py::make_tuple(e.mean, e.low, e.high); };
  py::dict d;
  d["goodput"] = three(summary.goodput);
  d["ettr"] = three(summary.ettr);
  d["mttf_h"] = three(summary.mttf_h);
  d["failures"] = three(summary.failures);
  d["step_s"] = summary.step_s;
  d["steps_per_day"] = summary.steps_per_day();
  d["job_gpus"] = summary.job_gpus;
  d["all_gpus"] = summary.all_gpus;
  return d;
}

// Summary, step of each configuration (none: the job cannot go on), and a column for each use of the time of each history.
py::dict goodput(const std::filesystem::path& file, const std::vector<std::pair<std::string, std::string>>& overrides,
                 std::uint32_t seeds, std::uint32_t threads, const std::filesystem::path& out, const Registries& known) {
  GoodputResult result;
  {
    const Unlocked unlock;
    std::vector<Override> set;
    for (const auto& [pointer, json] : overrides) set.push_back({pointer, json});
    goodput::GoodputScenario scenario = goodput::read_goodput(file, set, known);
    if (seeds > 0) scenario.spec.seeds = seeds;
    GoodputOptions options;
    options.directory = out;
    options.jobs = threads;
    result = run_goodput(scenario, options, known);
  }
  py::dict steps;
  for (const auto& [text, seconds] : result.configurations)
    steps[py::str(text)] = seconds < 0.0 ? py::object(py::none()) : py::float_(seconds);
  py::list rows;
  for (const goodput::History& history : result.histories) {
    py::dict row;
    row["seed"] = history.seed;
    row["wall_s"] = history.wall.seconds();
    for (std::size_t u = 0; u < goodput::kTimeUses; ++u) {
      const auto use = static_cast<goodput::TimeUse>(u);
      row[py::str(std::string(goodput::name(use)) + "_s")] = history.books[use].seconds();
    }
    row["steps"] = history.steps;
    row["failures"] = history.failures;
    row["swaps"] = history.swaps;
    row["drops"] = history.drops;
    rows.append(row);
  }
  py::dict d = dict_of(result.summary);
  d["configurations"] = steps;
  d["histories"] = rows;
  return d;
}

py::dict dict_of(const PlannedRun& run) {
  py::dict row;
  for (const auto& [name, value] : run.choices) row[py::str(name)] = value;
  row["step_s"] = run.step_s;
  row["bound_s"] = run.bound_s;
  row["objectives"] = run.objectives;
  row["memory_bytes"] = run.memory_bytes;
  row["network_usd"] = run.usd;
  row["requests_per_s"] = run.served ? py::object(py::float_(run.served->requests_per_s)) : py::object(py::none());
  row["productive"] = run.productive ? py::object(py::float_(run.productive->mean)) : py::object(py::none());
  return row;
}

// A row for each candidate that was simulated, and what became of the others.
py::dict plan(const std::filesystem::path& file, const std::vector<std::pair<std::string, std::string>>& overrides,
              std::uint32_t threads, double limit_s, const std::filesystem::path& out, const Registries& known) {
  PlanResult result;
  std::string best;
  {
    const Unlocked unlock;
    std::vector<Override> set;
    for (const auto& [pointer, json] : overrides) set.push_back({pointer, json});
    const Plan asked = read_plan(file, set);
    PlanOptions options;
    options.directory = out;
    options.jobs = threads;
    options.limit_s = limit_s;
    result = run_plan(asked, options, known);
    if (!result.best.empty()) best = planned_scenario(asked, result.best.front());
  }
  py::list rows;
  for (const PlannedRun& run : result.runs) rows.append(dict_of(run));
  py::dict d;
  d["runs"] = rows;
  d["best"] = best;
  d["candidates"] = result.candidates;
  d["excluded"] = result.excluded;
  d["open"] = result.open;
  d["gap"] = result.gap;
  d["rejected"] = result.rejected;
  return d;
}

py::dict law_problems(const Registries& known, const std::string& policy) {
  const testing::PolicyUnderTest subject(known.controllers.find(policy));
  py::dict problems;
  for (const testing::PolicyProperty& law : testing::laws()) {
    std::string problem;
    {
      const Unlocked unlock;
      problem = law.problem(subject);
    }
    problems[py::str(law.name)] = problem;
  }
  return problems;
}

// What the policy breaks in random small jobs, with the scenario that repeats it; or "".
std::string fuzz_problem(const Registries& known, const std::string& policy, std::uint32_t cases, std::uint64_t seed) {
  const Unlocked unlock;
  const auto& schedulers = known.schedulers.all();
  const auto& controllers = known.controllers.all();
  const auto named = [&](const auto& of) { return of.name == policy; };
  if (std::any_of(schedulers.begin(), schedulers.end(), named) &&
      std::none_of(controllers.begin(), controllers.end(), named)) {
    const testing::SchedulerFinding found = testing::fuzz_scheduler(known.schedulers, policy, cases, seed);
    return found.problem.empty() ? std::string{} : found.problem + "\n" + found.scenario;
  }
  testing::FuzzOptions options;
  options.cases = cases;
  options.seed = seed;
  const testing::FuzzReport report = testing::fuzz(known.controllers.find(policy), options);
  return report.found ? report.found->text() : std::string{};
}

py::dict astra_run(const AstraOptions& files, bool aware) {
  AnalyticalJob job;
  AnalyticalResult result;
  {
    const Unlocked unlock;
    job = read_astra(files);
    result = simulate_analytical(job, aware ? AnalyticalBackend::kCongestionAware : AnalyticalBackend::kCongestionUnaware);
  }
  py::dict d;
  d["finish_cycles"] = array_of(result.finish_ns);
  d["exposed_communication_cycles"] = array_of(result.exposed_ns);
  d["warnings"] = job.warnings;
  return d;
}

}  // namespace

void bind_studies(py::module_& module) {
  module.def("run_sweep_file", &run_sweep_file, py::arg("file"), py::arg("out"), py::arg("threads"), py::arg("registries"),
             py::arg("run_infeasible"), py::arg("text"));
  module.def("goodput", &goodput, py::arg("file"), py::arg("overrides"), py::arg("seeds"), py::arg("threads"),
             py::arg("out"), py::arg("registries"));
  module.def("plan", &plan, py::arg("file"), py::arg("overrides"), py::arg("threads"), py::arg("limit_s"), py::arg("out"),
             py::arg("registries"));
  module.def("law_problems", &law_problems, py::arg("registries"), py::arg("policy"));
  module.def("fuzz_problem", &fuzz_problem, py::arg("registries"), py::arg("policy"), py::arg("cases"), py::arg("seed"));
  py::class_<AstraOptions>(module, "AstraOptions")
      .def(py::init<>())
      .def_readwrite("system", &AstraOptions::system)
      .def_readwrite("network", &AstraOptions::network)
      .def_readwrite("workload", &AstraOptions::workload)
      .def_readwrite("comm_groups", &AstraOptions::comm_groups)
      .def_readwrite("remote_memory", &AstraOptions::remote_memory);
  module.def("astra_run", &astra_run, py::arg("files"), py::arg("aware"));
  module.def("scenario_from_astra", &scenario_from_astra, py::arg("files"), py::arg("directory"));
}

}  // namespace photonrail::python
