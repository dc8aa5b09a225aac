// `photonrail plan`
#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "help_commands.hpp"
#include "json/file_text.hpp"
#include "launch.hpp"
#include "options.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/study/plan.hpp"
#include "photonrail/study/sweep.hpp"
#include "progress.hpp"
#include "read.hpp"
#include "stop.hpp"
#include "studies/plan/explain.hpp"
#include "studies/plan/report.hpp"
#include "studies/plan/space.hpp"
#include "studies/plan/table.hpp"
#include "studies/sweep/slurm.hpp"
#include "work_limit.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

namespace photonrail::command {

namespace {

std::string time_text(double seconds) {
  if (seconds >= 1.0) return fmt::format("{:.4g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} us", seconds * 1e6);
}

std::string label_of(const PlannedRun& run) { return fmt::format("{}", fmt::join(run.labels, "; ")); }

double share(Duration part, Duration whole) {
  return whole.count() > 0 ? 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0.0;
}

std::string objective_text(PlanObjective objective, double value) {
  switch (objective) {
    case PlanObjective::kStep:
      return time_text(value);
    case PlanObjective::kGpuSecondsAToken:
      return fmt::format("{:.4g} GPU-us", value * 1e6);
    case PlanObjective::kGpuSecondsARequest:
      return fmt::format("{:.4g} GPU-s", value);
    case PlanObjective::kDays:
      return fmt::format("{:.4g} days", value);
    case PlanObjective::kPower:
      return fmt::format("{:.4g} kW", value / 1e3);
    default:
      return value >= 1e6 ? fmt::format("${:.4g}M", value / 1e6) : fmt::format("${:.4g}", value);
  }
}

std::string heading(PlanObjective objective) {
  constexpr const char* kHeadings[] = {"step",         "a token",     "a request", "time",
                                       "10^12 tokens", "10^6 tokens", "network",   "power"};
  return kHeadings[static_cast<std::size_t>(objective)];
}

std::string certainty(const PlanResult& result) {
  if (result.open == 0) return "proven: no other candidate is better";
  return fmt::format("not proven: {} of the candidates are open, and one may be up to {:.1f} % better", result.open,
                     100.0 * result.gap);
}

std::string answer(const Plan& plan, const PlanResult& result) {
  if (result.best.empty() && result.open > 0) return plan.name + ": no candidate was run in the time\n";
  if (result.best.empty()) {
    return plan.name + ": no candidate can run" + (result.nearest.empty() ? "" : "; the nearest is " + result.nearest) +
           "\n";
  }
  const PlannedRun& best = result.best.front();
  if (plan.objectives.size() > 1)
    return fmt::format("{}: {} on the front ({})\n", plan.name, core::counted(result.best.size(), "candidate"),
                       certainty(result));
  const PlanObjective objective = plan.objectives.front();
  const std::string value = objective_text(objective, best.objectives.front());
  const std::string what = objective == PlanObjective::kStep ? "a step of " + value : heading(objective) + " " + value;
  return fmt::format("{}: {}: {} ({})\n", plan.name, label_of(best), what, certainty(result));
}

// Two lines a candidate: its numbers, and what it is.
std::string ranking(const Plan& plan, const PlanResult& result) {
  std::string text = fmt::format("\n{:>2}", "");
  for (const PlanObjective objective : plan.objectives) text += fmt::format("  {:>12}", heading(objective));
  text += fmt::format("  {:>6}  {:>7}  {:>7}  {:>7}  {:>6}  {:>4}  {:>9}\n", "more", "compute", "exposed", "circuit",
                      "peers", "GB", "network $");
  for (std::size_t i = 0; i < result.best.size(); ++i) {
    const PlannedRun& run = result.best[i];
    const double more = 100.0 * (run.objectives.front() / result.best.front().objectives.front() - 1.0);
    text += fmt::format("{:>2}", i + 1);
    for (std::size_t o = 0; o < plan.objectives.size(); ++o)
      text += fmt::format("  {:>12}", objective_text(plan.objectives[o], run.objectives[o]));
    text += fmt::format("  {:>5.1f}%  {:>6.1f}%  {:>6.1f}%  {:>6.1f}%  {:>5.1f}%  {:>4}  {:>9}\n      {}\n", more,
                        share(run.mean.compute, run.makespan), share(run.mean.exposed_communication, run.makespan),
                        share(run.mean.reconfiguration_wait, run.makespan), share(run.mean.peer_wait, run.makespan),
                        run.memory_bytes ? fmt::format("{:.0f}", *run.memory_bytes / 1e9) : "-",
                        run.usd ? fmt::format("{:.3g}M", *run.usd / 1e6) : "-", label_of(run));
  }
  return text;
}

// "tp: 8 best; 4 +2.1 %; 2 at least +30 %"
std::string worth(const PlanResult& result) {
  const double best = result.best.front().objectives.front();
  std::string text = "\nwith one choice fixed and all others free:\n";
  std::vector<PlanWorth> of = result.worth;
  std::stable_sort(of.begin(), of.end(), [](const PlanWorth& a, const PlanWorth& b) {
    return a.choice != b.choice ? a.choice < b.choice : a.objective < b.objective;
  });
  for (std::size_t i = 0; i < of.size();) {
    std::size_t end = i;
    std::string line;
    for (; end < of.size() && of[end].choice == of[i].choice; ++end) {
      const double more = 100.0 * (of[end].objective / best - 1.0);
      line += line.empty() ? "" : "; ";
      if (of[end].simulated)
        line += of[end].value + (more == 0.0 ? " best" : fmt::format(" +{:.1f} %", more));
      else
        line += of[end].value + (more > 0.0 ? fmt::format(" at least +{:.1f} %", more) : " not decided");
    }
    if (end - i > 1) text += "  " + of[i].choice + ": " + line + "\n";
    i = end;
  }
  return text;
}

std::string counts(const PlanResult& result) {
  std::string text = fmt::format("\n{}: {} simulated ({} of them known before), {} excluded by their bounds, {} open",
                                 core::counted(result.candidates, "candidate"), result.simulated, result.reused,
                                 result.excluded, result.open);
  if (result.failed > 0) text += fmt::format(", {} could not finish", result.failed);
  text += "\n";
  for (const auto& [reason, count] : result.rejected) {
    const auto example = result.examples.find(reason);
    text += fmt::format("  cannot be: {} by {}{}\n", count, reason,
                        example == result.examples.end() ? "" : ", as " + example->second);
  }
  return text;
}

std::string factor_text(double factor) { return fmt::format("{:+.0f} %", 100.0 * (factor - 1.0)); }

std::string explanation_text(const Plan& plan, const plan::PlanExplanation& of) {
  const auto value = [&](const std::optional<double>& objective) {
    return objective ? objective_text(plan.objectives.front(), *objective) : std::string("cannot run");
  };
  std::string text;
  if (!of.ladder.empty()) text += "\nfrom the base to the best:\n";
  for (const plan::PlanRung& rung : of.ladder) text += fmt::format("  {:>14}  {}\n", value(rung.objective), rung.change);
  if (!of.robustness.empty()) text += "\nif a number is another, by -20 to +20 %:\n";
  for (const plan::PlanRobustness& robust : of.robustness) {
    text += fmt::format("  {}: {} to {}; ", robust.what, value(robust.at_low), value(robust.at_high));
    text += robust.changes_at ? fmt::format("from {} on it is {}\n", factor_text(*robust.changes_at), robust.to)
                              : "the best stays the best\n";
  }
  if (of.break_even) {
    const plan::PlanBreakEven& even = *of.break_even;
    const std::string up_to = even.delay_ms ? time_text(*even.delay_ms / 1e3) : "";
    text += fmt::format("\n{} against electrical rails ({}): {}\n", even.candidate, value(even.electrical),
                        even.delay_ms ? "as good up to a delay of " + up_to : "as good at no delay");
  }
  if (!of.is_whole) text += "\nthe time was over before all of this was known; a longer --limit\n";
  return text;
}

std::string plan_text(const Plan& plan, const PlanResult& result, const plan::PlanExplanation& explanation) {
  std::string text = answer(plan, result);
  if (!result.best.empty()) text += ranking(plan, result) + worth(result) + explanation_text(plan, explanation);
  return text + counts(result);
}

struct PlanCommandOptions {
  std::filesystem::path file;  ///< empty: the question of the options below
  std::vector<std::string> set;
  std::filesystem::path out;  ///< empty: write nothing
  std::uint32_t jobs = 0;     ///< threads; 0: as many as cores
  double limit_s = 60.0;
  bool json = false;
  std::string shard;
  SweepLaunchOptions launch;
  std::string model;  ///< a name of `list models`
  std::string gpu = "h200";
  std::uint32_t gpus = 64;
  std::uint32_t gpus_per_server = 8;
  std::uint32_t global_batch = 0;  ///< sequences; 0: one a GPU
  double reconfiguration_ms = 15.0;
};

// A question without a file: all shapes of the model, on electrical rails and on optical ones under Opus.
std::string question(const PlanCommandOptions& options, const Registries& known) {
  InitOptions init;
  init.model = options.model;
  init.gpu = options.gpu;
  init.rail = "electrical";
  init.gpus_per_server = options.gpus_per_server;
  if (options.gpus % options.gpus_per_server != 0) {
    throw ConfigError("--gpus", std::to_string(options.gpus) + " is no multiple of --gpus-per-server",
                      "whole servers of " + std::to_string(options.gpus_per_server));
  }
  init.servers = options.gpus / options.gpus_per_server;
  const std::string delay = std::to_string(options.reconfiguration_ms);
  const std::string batch = std::to_string(options.global_batch > 0 ? options.global_batch : options.gpus);
  return R"({"schema": "photonrail.plan/1", "name": ")" + options.model + " on " + std::to_string(options.gpus) +
         R"( GPUs", "base": )" + commented_scenario(init, known) +
         R"(, "shapes": {"tp": "auto", "pp": "auto", "ep": "auto", "virtual_stages": "auto", "micro_batch": "auto",
             "sharding": ["zero1", "fsdp"], "recompute": "auto"},
         "axes": [{"pointer": "/workload/training/global_batch", "values": [)" +
         batch + R"(]}, {"name": "rails", "variants": {
           "electrical": {"/cluster/rail": {"kind": "electrical"}},
           "optical, opus on demand": {"/cluster/rail": {"kind": "optical", "switch": {"reconfiguration_ms": )" +
         delay + R"(}}, "/controller": {"name": "opus", "mode": "on_demand"}},
           "optical, opus provisioned": {"/cluster/rail": {"kind": "optical", "switch": {"reconfiguration_ms": )" +
         delay + R"(}}, "/controller": {"name": "opus", "mode": "provisioned"}}}}]})";
}

Plan plan_of(const PlanCommandOptions& options, const Registries& known) {
  const std::vector<Override> set = parse_set(options.set);
  if (!options.file.empty()) return parse_plan(json::file_text(options.file), options.file, set);
  return parse_plan(question(options, known), "photonrail plan", set);
}

// The tasks are this command again, and keep what they run in shards/ of the folder.
void launch(const Plan& asked, const PlanCommandOptions& options, const StudyContext& context) {
  if (options.file.empty() || options.file == json::kStandardInput)
    throw CommandError(2, "--launcher slurm: the tasks read the plan again, so it must be a file");
  if (options.out.empty()) throw CommandError(2, "--launcher slurm: the tasks share a folder: --out DIR");
  if (!options.shard.empty()) throw CommandError(2, "--launcher slurm: its tasks have the shards; leave out --shard");
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  const sweep::SlurmProfile profile = profile_of(options.launch, options.jobs);
  const sweep::SlurmJob job = sweep::submit_array({"plan",
                                                   own_program(),
                                                   context.plugins,
                                                   {},
                                                   options.file,
                                                   options.set,
                                                   options.out,
                                                   {"--limit", fmt::format("{}s", options.limit_s)},
                                                   plan::Space(asked, context.known).candidates()},
                                                  profile);
  std::cout << submitted(job)
            << "\nwhen it has ended the same command without --launcher puts together what its tasks found\n";
}

// A shard has no answer of its own.
void tell_shard(const Plan& asked, const PlanCommandOptions& options, const PlanResult& result) {
  std::cout << fmt::format("{}, shard {}: {} known, {} excluded by their bounds, {} open\n", asked.name, options.shard,
                           core::counted(result.simulated, "run"), result.excluded, result.open);
}

void plan(const PlanCommandOptions& options, const StudyContext& context) {
  const Registries& known = context.known;
  if (options.file.empty() == options.model.empty())
    throw ConfigError("photonrail plan", "wants a file, or --model with --gpus", "photonrail plan --help");
  if (options.limit_s <= 0.0) throw ConfigError("--limit", "leaves no time", "60s, 5min, 2h");
  const Plan asked = plan_of(options, known);
  if (options.launch.launcher == "slurm") return launch(asked, options, context);
  const StopSignals signals(options.out.empty() ? "stopped; --out DIR keeps what was simulated"
                                                : "stopped; what was simulated is kept, the same command goes on");
  PlanOptions how;
  how.directory = options.out;
  how.jobs = options.jobs;
  how.limit_s = options.limit_s;
  how.stop = &signals.stop();
  if (!options.shard.empty()) {
    const Shard shard = Shard::parse(options.shard);
    how.shard = shard.index;
    how.shards = shard.count;
  }
  TerminalLine line(true);
  how.progress = [&line](std::uint64_t decided, std::uint64_t of) { line.draw(decided, of, "candidates"); };
  const auto begun = std::chrono::steady_clock::now();
  const PlanResult result = run_plan(asked, how, known);
  line.erase();
  if (how.shard > 0) {
    tell_shard(asked, options, result);
    if (signals.received() != 0) throw CommandError(128 + signals.received(), "stopped");
    return;
  }
  if (!options.json && !options.out.empty()) warn("plan", sweep::slurm_state(options.out));
  how.limit_s -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  TerminalLine why(true);
  how.progress = [&why](std::uint64_t done, std::uint64_t of) { why.draw(done, of, "runs that explain the best"); };
  const plan::PlanExplanation explanation = plan::explain_plan(asked, result, how, known);
  why.erase();
  if (!options.out.empty()) {
    write_file(options.out / "plan.json", plan::plan_json(asked, result, explanation));
    if (!result.best.empty()) {
      write_file(options.out / "best.json", planned_scenario(asked, result.best.front()));
      write_file(options.out / "around.json", sweep_around(asked, result));
      plan::write_table(asked, result, options.out);
    }
  }
  std::string text = options.json ? plan::plan_json(asked, result, explanation) : plan_text(asked, result, explanation);
  if (!options.out.empty() && !options.json && !result.best.empty())
    text += "wrote " + (options.out / "best.json").string() +
            "; photonrail run takes it, photonrail sweep around.json beside it, photonrail report the folder\n";
  std::cout << (options.json ? text : hung_lines(text));
  if (signals.received() != 0) throw CommandError(128 + signals.received(), "stopped");
  if (!result.best.empty()) return;
  if (result.open > 0) throw CommandError(3, asked.name + ": no candidate was run in the time; a longer --limit");
  throw CommandError(2, asked.name + ": no candidate was found that can run");
}

}  // namespace

void add_plan(CLI::App& app, StudyContext& context) {
  PlanCommandOptions& options = context.keep<PlanCommandOptions>();
  CLI::App* command = app.add_subcommand("plan", "Search the best shape of a job, its rails and its controller");
  CLI::Option* const file = add_input(*command, "PLAN.json", options.file, "What is free; or a question of --model");
  add_set(*command, options.set, "the base");
  CLI::Option* const out =
      add_out_folder(*command, options.out, "Write plan.json and best.json here, and go on with what is there");
  command->add_option("--jobs", options.jobs, "Threads (as many as cores)")->check(CLI::Range(1U, 4096U));
  add_time(*command, "--limit", options.limit_s, "End after this time with what is known: 60s, 5min, 2h (60s)");
  command->add_flag("--json", options.json, "Print the result as JSON");
  CLI::Option* const model = command->add_option("--model", options.model, "All shapes of a name of `list models`");
  model->type_name("NAME")->excludes(file);
  const auto of_model = [&](const char* name, auto& value, const char* help) {
    return command->add_option(name, value, help)->needs(model)->capture_default_str();
  };
  of_model("--gpus", options.gpus, "Of the cluster")->check(CLI::Range(1U, 1'000'000U));
  of_model("--gpus-per-server", options.gpus_per_server, "Of each server")->check(CLI::Range(1U, 1024U));
  of_model("--gpu", options.gpu, "A name of `list gpus`");
  of_model("--batch", options.global_batch, "Sequences of a step; 0: one a GPU");
  of_model("--delay-ms", options.reconfiguration_ms, "Of the optical switches")->check(CLI::Range(0.0, 1e6));
  command
      ->add_option("--shard", options.shard,
                   "Only every N-th shape, from the I-th; the plan in the folder puts them together")
      ->type_name("I/N")
      ->needs(out);
  add_slurm(*command, options.launch, "candidates");
  command->callback([&options, &context] { plan(options, context); });
}

}  // namespace photonrail::command
