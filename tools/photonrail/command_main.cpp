// The command: options, and what became of them.
#include "photonrail/command.hpp"

#include "commands.hpp"
#include "format_commands.hpp"
#include "help_commands.hpp"
#include "help_format.hpp"
#include "operators.hpp"
#include "options.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/version.hpp"
#include "plugin.hpp"
#include "report/explanation.hpp"
#include "rows.hpp"
#include "serve.hpp"
#include "stop.hpp"
#include "watch.hpp"
#include "work_limit.hpp"

#include <malloc.h>

#include <CLI/CLI.hpp>

#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace photonrail::command {

// Memory that a run gives back and takes again is kept: by default the heap of the C library shrinks and grows with each
// large block, and the kernel clears its pages anew each time.
static void keep_memory() {
#ifdef __GLIBC__
  constexpr int kKept = 256 << 20;   // bytes at the top of the heap that are not given back
  constexpr int kBlock = 64 << 20;   // larger blocks are mapped on their own
  constexpr int kAtLeast = 1 << 20;  // the heap grows by so much at once
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kBlock);
  mallopt(M_TOP_PAD, kAtLeast);
#endif
}

int exit_status(const std::exception& error) {
  if (const auto* told = dynamic_cast<const CommandError*>(&error)) return told->status();
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return 2;
  if (dynamic_cast<const ControllerError*>(&error) != nullptr) return 2;
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr) return 2;
  if (dynamic_cast<const DeadlockError*>(&error) != nullptr) return 3;
  return 1;
}

namespace {
// Before or after the subcommand: plug-ins are loaded when all arguments are parsed, before the subcommand begins.
void add_plugins(CLI::App& app, Registries& known, std::vector<std::filesystem::path>& plugins, Act act) {
  app.fallthrough();
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [&known, &plugins, act](const std::vector<std::string>& files) {
           if (act == Act::kParse) return;
           for (const std::string& file : files) plugins.push_back(load_plugin(file, known));
         },
         "A shared library with controllers or collectives of your own; may be given more than once")
      ->type_name("FILE.so")
      ->allow_extra_args(false);
  app.add_option_function<double>(
         "--decision-limit",
         [act](double seconds) {
           if (act != Act::kParse) set_decision_limit(seconds);
         },
         "Time of the processor that one decision of a controller of a plug-in may take (60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 1e9));
}

void add_run(CLI::App& app, RunOptions& options, const std::vector<std::filesystem::path>& plugins,
             const Registries& known) {
  CLI::App* command = app.add_subcommand("run", "Simulate scenarios and print them side by side");
  auto* scenarios = add_scenarios(*command, options.scenarios);
  auto* astra = command
                    ->add_option("--astra", options.astra.files.system,
                                 "ASTRA-sim's system file, in place of scenarios: run by its rules")
                    ->type_name("SYSTEM.json")
                    ->excludes(scenarios);
  add_astra(*command, options.astra, astra);
  command
      ->add_option("--backend", options.astra.backend, "With --astra: links without (unaware) or with congestion (aware)")
      ->needs(astra)
      ->check(CLI::IsMember({"unaware", "aware", "congestion_unaware", "congestion_aware"}))
      ->capture_default_str();
  astra->excludes(add_set(*command, options.set));
  auto* out = add_out_folder(*command, options.out, "Write result.json here; of several scenarios, each in a folder");
  auto* trace =
      command->add_flag("--trace", options.trace, "Also write trace.json, a timeline for ui.perfetto.dev")->needs(out);
  command->add_option("--trace-ranks", options.trace_ranks, "Ranks that the timeline shows: 0-7,12 (default: all)")
      ->type_name("RANKS")
      ->needs(trace);
  auto* metrics = command->add_flag("--ccl-bench", options.ccl_bench, "Also write ccl_bench.json, the metrics of CCL-Bench")
                      ->needs(out);
  auto* explain = command->add_flag("--explain", options.explain,
                                    "Also print the costliest operators, and where their times come from");
  for (CLI::Option* const of_scenarios : {trace, metrics, explain}) astra->excludes(of_scenarios);
  command->add_flag("--quiet", options.quiet, "No table, no warnings: only the paths of what was written");
  command->callback([&options, &plugins, &known] {
    options.plugins = plugins;
    run(options, known);
  });
}

void add_validate(CLI::App& app, ValidateOptions& options, const Registries& known) {
  CLI::App* command = app.add_subcommand("validate", "Check scenarios without running them");
  add_scenarios(*command, options.scenarios)->required();
  add_set(*command, options.set);
  command->add_option("--graphviz", options.graphviz, "Write the cluster of the one scenario as a Graphviz graph")
      ->type_name("FILE");
  command->callback([&options, &known] { validate(options, known); });
}

void add_explain_scenario(CLI::App& app, ExplainScenarioOptions& options, const Registries& known) {
  CLI::App* command =
      app.add_subcommand("explain", "What bounds a run, what 10 % more of each resource gives, settings without effect");
  add_input(*command, "SCENARIO.json", options.scenario, "A scenario file")->required();
  add_set(*command, options.set);
  command->add_flag("--json", options.json, "Print the result as JSON");
  command->callback([&options, &known] { explain(options, known); });
}

struct ListOptions {
  std::string kind;
  bool explain = false;
  ExplainOptions call;
};

void add_explain(CLI::App& list, ListOptions& options) {
  auto* explain = list.add_flag("--explain", options.explain, "collectives: what \"auto\" takes for a call, and why");
  const auto add = [&](const char* name, auto& value, const char* help, double least, double most) {
    list.add_option(name, value, help)->needs(explain)->check(CLI::Range(least, most));
  };
  ExplainOptions& call = options.call;
  list.add_option("--op", call.op, "The operation (all_reduce)")->needs(explain);
  add("--bytes", call.bytes, "Its size as a scenario counts it (1 GiB)", 0, 1e15);
  add("--ranks", call.ranks, "How many take part (8)", 2, 65536);
  add("--ranks-per-server", call.ranks_per_server, "How many of them share a server (1)", 1, 65536);
  add("--root", call.root, "Of a rooted operation (0)", 0, 65535);
  add("--chunks", call.chunks, "Pipelined pieces (1)", 1, 1e6);
  add("--ports", call.ports, "Of a NIC (1)", 1, 64);
  add("--port-gb-per-s", call.port_gb_per_s, "Rate of a port (50)", 1e-6, 1e9);
  add("--latency-ns", call.latency_ns, "Of a rail (0)", 0, 1e15);
  add("--overhead-ns", call.overhead_ns, "Of a message (0)", 0, 1e15);
  add("--scale-up-gb-per-s", call.scale_up_gb_per_s, "Rate of a GPU inside its server (450)", 1e-6, 1e9);
  add("--scale-up-latency-ns", call.scale_up_latency_ns, "Inside a server (0)", 0, 1e15);
  add("--reconfiguration-ms", call.reconfiguration_ms, "Optical rails, that need so long for a set of circuits", 0, 1e9);
}

void add_list(CLI::App& app, ListOptions& options, const Registries& known) {
  CLI::App* command = app.add_subcommand("list", "What a scenario can name");
  command->add_option("KIND", options.kind)->required()->transform(CLI::IsMember(list_kinds(), CLI::ignore_case));
  add_explain(*command, options);
  command->callback([&options, &known] {
    if (!options.explain) return list(options.kind, known);
    if (options.kind != "collectives") throw CommandError(2, "--explain is for collectives");
    explain_collectives(options.call, known.collectives);
  });
}

void add_calibrate(CLI::App& app, CalibrateOptions& options, RowsOptions& rows, const Registries& known) {
  CLI::App* command = app.add_subcommand("calibrate", "Fit the compute efficiency of a scenario to a measured step");
  CLI::Option* scenario = add_input(*command, "SCENARIO.json", options.scenario, "A scenario file");
  CLI::Option* step = command->add_option("--step-s", options.step_s, "The measured step, in seconds");
  step->type_name("SECONDS")->needs(scenario);
  CLI::Option* source =
      command->add_option("--source", options.source, "Where the measurement comes from, kept with the efficiency");
  source->type_name("TEXT");
  CLI::Option* out =
      add_out_file(*command, options.out, "Write the scenario with the fitted efficiency, in the same folder");
  CLI::Option* set = add_set(*command, options.set);
  CLI::Option* many =
      add_input(*command, "--rows", rows.file, "Many measured steps with their scenarios: the error of each");
  many->type_name("ROWS.json");
  for (CLI::Option* const of_one : {scenario, source, out, set}) of_one->excludes(many);
  command->add_flag("--fit", rows.fit, "Fit a factor on operator times for each GPU to the rows that are marked")
      ->needs(many);
  command->add_option("--markdown", rows.markdown, "Write the rows as a table")->type_name("FILE")->needs(many);
  command->add_option("--svg", rows.svg, "Write a picture of the rows")->type_name("FILE")->needs(many);
  command
      ->add_option("--max-median", rows.max_median, "Fail above this median error of rows that are not fitted, in per cent")
      ->type_name("PERCENT")
      ->needs(many);
  command->callback([&options, &rows, &known, step] {
    if (!rows.file.empty()) return run_measured_rows(rows, known);
    if (options.scenario.empty()) throw CLI::RequiredError("SCENARIO.json or --rows");
    if (step->empty()) throw CLI::RequiredError("--step-s");
    calibrate(options, known);
  });
}

void add_cost(CLI::App& app, CostOptions& options, const Registries& known) {
  CLI::App* command = app.add_subcommand("cost", "Price a scenario's network, or what was run");
  auto* scenario =
      add_input(*command, "SCENARIO.json", options.scenario, "A scenario file, or a folder of results (none: see --gpus)");
  const auto add_price = [&](const char* name, double& value, const char* help) {
    command->add_option(name, value, help)
        ->type_name("X")
        ->check(CLI::Range(0.0, 1e15))
        ->group("Of results")
        ->needs(scenario);
  };
  add_price("--gpu-usd", options.prices.prices.gpu_usd, "A GPU with its NIC, bought");
  add_price("--server-usd", options.prices.prices.server_usd, "A server without its GPUs, bought");
  add_price("--gpu-hour-usd", options.prices.prices.gpu_hour_usd, "A GPU for an hour, rented with its server");
  add_price("--usd-per-kwh", options.prices.prices.usd_per_kwh, "Energy of network and GPUs");
  add_price("--years", options.prices.prices.years, "Over which what is bought is paid (4)");
  add_price("--tokens", options.prices.tokens, "Of a whole run, for its cost and days");
  command->add_option("--catalogue", options.catalogue, "Prices: a name of `list catalogues`, or a file")
      ->type_name("NAME|FILE");
  command->add_option("--rule", options.rule, "physical, or opus_artifact as published (physical)")->type_name("RULE");
  command->add_option("--gpus", options.gpus, "Clusters of so many GPUs (512,1024,2048,4096,8192)")
      ->delimiter(',')
      ->excludes(scenario)
      ->check(CLI::Range(1U, 1'000'000'000U));
  command->add_flag("--json", options.json, "Print the result as JSON");
  add_set(*command, options.set)->needs(scenario);
  command->callback([&options, &known] { cost(options, known); });
}

void add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App* command = app.add_subcommand("compare", "Say what differs between two results; exit status 1 if it matters");
  command->add_option("A", options.a, "result.json, results.csv, or a folder of them")->required();
  command->add_option("B", options.b, "The same of another run")->required();
  command->add_option("--tolerance", options.tolerance, "A relative difference that does not matter (0.01)")
      ->check(CLI::Range(0.0, 1e9));
  command->callback([&options] { compare(options); });
}

void add_report(CLI::App& app, ReportOptions& options) {
  CLI::App* command = app.add_subcommand("report", "A folder of results as one HTML page, or its figures as files");
  command->add_option("DIR", options.folder, "What --out of run or sweep wrote")->required();
  command->add_option("-o,--out", options.out, "The page (DIR/report.html), or the folder of the figures (DIR/figures)")
      ->type_name("PATH");
  command->add_option("--format", options.format, "html, or each figure a file: svg, png, pdf, csv")
      ->transform(CLI::IsMember({"html", "svg", "png", "pdf", "csv"}, CLI::ignore_case))
      ->capture_default_str();
  const auto add = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help)->type_name("COLUMN");
  };
  add("--metric", options.choices.metric, "What the figures show first (the step time)");
  add("--against", options.choices.against, "The parameter along the axis");
  add("--series", options.choices.series, "The parameter with a line for each value, or values of it: a,b");
  command
      ->add_option(
          "--baseline", options.choices.baseline,
          "The value of that parameter that the others are compared with; none; fastest (electrical, if there is one)")
      ->type_name("VALUE");
  command->add_option("--where", options.where, "Only points with this value of a parameter (several: all of them)")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--log", options.choices.log, "Logarithmic axes: x, y, xy, none (where values span two decades)")
      ->type_name("AXES");
  command->add_option("--title", options.choices.title, "The title of the page, and in place of those of figures as files");
  command->add_option("--figure", options.choices.figure, "Of the figures as files this one alone: comparison")
      ->type_name("ID");
  command->add_option("--size", options.size, "Of a figure as a file, pixels (900; as high as each needs)")
      ->type_name("WxH");
  command->add_option("--font", options.choices.font, "Size of the letters of a figure as a file, pixels (12)")
      ->check(CLI::Range(4U, 100U));
  command->add_flag("--include-infeasible", options.choices.include_infeasible,
                    "Also show points in figures that need more memory than their GPUs have");
  command->callback([&options] { report(options); });
}

void add_fuzz(CLI::App& app, FuzzOptions& options, const std::vector<std::filesystem::path>& plugins,
              const Registries& known) {
  CLI::App* command =
      app.add_subcommand("fuzz", "Search small jobs for one in which a controller or a scheduler breaks a promise");
  command->add_option("NAME", options.policy, "Of `list controllers` or `list schedulers`")->required();
  command->add_option("--cases", options.cases, "How many jobs (500)")->check(CLI::Range(1U, 100'000'000U));
  command->add_option("--seed", options.seed, "Of the search (1)");
  add_out_file(*command, options.out, "Write the scenario that breaks a promise here");
  command->callback([&options, &plugins, &known] {
    options.plugins = plugins;
    fuzz(options, known);
  });
}

void add_pip_switch(CLI::App& app, PipSwitchOptions& options) {
  CLI::App* command = app.add_subcommand("pip-switch", "Matchings of an optical switch on a mesh of programmable cells");
  command->add_option("--ports", options.ports, "Ports of the switch (16)");
  command->add_option("--mesh", options.mesh, "Hexagons of the mesh (9x9)")->type_name("ROWSxCOLUMNS");
  command->add_flag("--json", options.json, "Print the result as JSON, with the waveguides of every route");
  auto* svg = add_out_file(*command, options.svg, "Also draw a matching here, as SVG");
  command->add_option("--matching", options.matching, "Which matching to draw (0)")->needs(svg);
  auto* loss = command->add_option("--cell-loss-db", options.cell_loss_db, "Also loss and crosstalk: loss of a cell");
  command->add_option("--port-loss-db", options.port_loss_db, "Loss between a fibre and the mesh (1)")->needs(loss);
  command->add_option("--crosstalk-db", options.crosstalk_db, "What a cell leaks, below what it passes (-30)")->needs(loss);
  command->callback([&options] { pip_switch(options); });
}

void drop_callbacks(CLI::App& app) {
  app.callback({});
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) drop_callbacks(*sub);
}

void parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return static_cast<void>(app.exit(error));  // --help, --version
    const std::string unknown = unknown_word(app, argc, argv);
    throw CommandError(2,
                       unknown.empty() ? std::string(error.what()) + " (photonrail --help says what there is)" : unknown);
  }
}
}  // namespace

void parse_and_act(int argc, const char* const* argv, const Registries& caller_knows, Act act) {
  Registries known = extendable(caller_knows);
  CLI::App app("Simulates ML training on photonic rails", "photonrail");
  app.formatter(std::make_shared<FoldedHelp>());  // before the subcommands, which take it over
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  RunOptions run_options;
  ServeOptions serve_options;
  ValidateOptions validate_options;
  FormatOptions format_options;
  CalibrateOptions calibrate_options;
  RowsOptions rows_options;
  ListOptions list_options;
  ExplainScenarioOptions explain_options;
  CostOptions cost_options;
  CompareOptions compare_options;
  ReportOptions report_options;
  FuzzOptions fuzz_options;
  PipSwitchOptions pip_switch_options;
  OperatorsOptions operators_options;
  std::vector<std::filesystem::path> plugins;
  StudyContext context{known, plugins};
  add_plugins(app, known, plugins, act);
  add_work_limit(app, {&context.work_limit_s, &run_options.work_limit_s, &serve_options.run.work_limit_s,
                       &calibrate_options.work_limit_s, &rows_options.work_limit_s, &report_options.work_limit_s,
                       &fuzz_options.work_limit_s, &format_options.collective.work_limit_s,
                       &format_options.run.work_limit_s, &explain_options.work_limit_s});
  add_run(app, run_options, plugins, known);
  add_serve(app, serve_options, plugins, known);
  add_sweep(app, context);
  add_validate(app, validate_options, known);
  add_explain_scenario(app, explain_options, known);
  add_list(app, list_options, known);
  add_format_commands(app, format_options, known);
  add_calibrate(app, calibrate_options, rows_options, known);
  add_cost(app, cost_options, known);
  add_goodput(app, context);
  add_plan(app, context);
  add_compare(app, compare_options);
  add_report(app, report_options);
  add_fuzz(app, fuzz_options, plugins, known);
  add_pip_switch(app, pip_switch_options);
  add_allocate(app, context);
  add_operators(app, operators_options);
  HelpOptions help_options;
  add_help_commands(app, help_options, known);
  if (act == Act::kParse) drop_callbacks(app);
  parse(app, argc, argv);
  if (!std::cout.flush()) throw CommandError(1, "cannot write to standard output");
}

}  // namespace photonrail::command

int photonrail::command_main(int argc, const char* const* argv, const Registries& known) {
  command::exit_on_stop_signals();
  command::keep_memory();
  try {
    command::parse_and_act(argc, argv, known, command::Act::kRun);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "photonrail: error: " << report::error_text(file_words(error)) << '\n';
    return command::exit_status(error);
  } catch (...) {  // from code of the caller or of a plug-in
    std::cerr << "photonrail: error: something that is no std::exception was thrown\n";
    return 1;
  }
}
