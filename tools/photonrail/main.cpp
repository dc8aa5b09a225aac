// The command: options, and what became of them.
#include "commands.hpp"
#include "photonrail/error.hpp"
#include "photonrail/version.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace photonrail::command {

int exit_status(const std::exception& error) {
  if (const auto* told = dynamic_cast<const CommandError*>(&error)) return told->status();
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return 2;
  if (dynamic_cast<const ControllerError*>(&error) != nullptr) return 2;
  if (dynamic_cast<const DeadlockError*>(&error) != nullptr) return 3;
  return 1;
}

namespace {

// Both options are taken one at a time, so that `--set /a=1 scenario.json` leaves the scenario alone.
void add_scenarios(CLI::App& app, std::vector<std::filesystem::path>& scenarios) {
  app.add_option("SCENARIO.json", scenarios, "Scenario files")->required();
}
void add_set(CLI::App& app, std::vector<std::string>& set) {
  app.add_option("--set", set, "Replace a value of the scenario: /json/pointer=value; may be given more than once")
      ->type_name("POINTER=VALUE")
      ->allow_extra_args(false);
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* command = app.add_subcommand("run", "Simulate scenarios and print them side by side");
  add_scenarios(*command, options.scenarios);
  add_set(*command, options.set);
  auto* out = command->add_option("--out", options.out, "Write result.json here; of several scenarios, each in a folder")
                  ->type_name("DIR");
  command->add_flag("--trace", options.trace, "Also write trace.json, a timeline for ui.perfetto.dev")->needs(out);
  command->add_flag("--ccl-bench", options.ccl_bench, "Also write ccl_bench.json, the metrics of CCL-Bench")->needs(out);
  command->add_flag("--quiet", options.quiet, "No table, no warnings: only the paths of what was written");
  command->callback([&options] { run(options); });
}

void add_validate(CLI::App& app, ValidateOptions& options) {
  CLI::App* command = app.add_subcommand("validate", "Check scenarios without running them");
  add_scenarios(*command, options.scenarios);
  add_set(*command, options.set);
  command->add_option("--graphviz", options.graphviz, "Write the cluster of the one scenario as a Graphviz graph")
      ->type_name("FILE");
  command->callback([&options] { validate(options); });
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

void add_list(CLI::App& app, ListOptions& options) {
  CLI::App* command = app.add_subcommand("list", "What a scenario can name");
  command->add_option("KIND", options.kind)->required()->check(CLI::IsMember(list_kinds()));
  add_explain(*command, options);
  command->callback([&options] {
    if (!options.explain) return list(options.kind);
    if (options.kind != "collectives") throw CommandError(2, "--explain is for collectives");
    explain_collectives(options.call);
  });
}

void add_trace(CLI::App& app, TraceOptions& options) {
  CLI::App* trace = app.add_subcommand("trace", "Look at task graphs and write them as Chakra traces");
  trace->require_subcommand(1);

  CLI::App* info = trace->add_subcommand("info", "Count the tasks of a scenario or of a Chakra trace");
  auto* scenario = info->add_option("SCENARIO.json", options.scenario, "A scenario file");
  auto* prefix = info->add_option("--prefix", options.prefix, "A Chakra trace: PREFIX.<rank>.et")->type_name("PREFIX");
  auto* groups = info->add_option("--groups", options.groups, "The communicator groups of the trace");
  prefix->excludes(scenario);
  groups->type_name("FILE")->needs(prefix);
  add_set(*info, options.set);
  auto* schedule = info->add_flag("--schedule", options.schedule, "The pipeline schedule of a training job as a chart");
  schedule->needs(scenario);
  info->add_option("-o", options.svg, "Also draw the chart of --schedule here, as SVG")->type_name("FILE")->needs(schedule);
  info->callback([&options] { options.schedule ? trace_schedule(options) : trace_info(options); });

  CLI::App* write = trace->add_subcommand("export", "Write a scenario's task graph as a Chakra trace");
  write->add_option("SCENARIO.json", options.scenario, "A scenario file")->required();
  write->add_option("--prefix", options.prefix, "Write PREFIX.<rank>.et and PREFIX.json")->required()->type_name("PREFIX");
  add_set(*write, options.set);
  write->callback([&options] { trace_export(options); });
}

void add_calibrate(CLI::App& app, CalibrateOptions& options) {
  CLI::App* command = app.add_subcommand("calibrate", "Fit the compute efficiency of a scenario to a measured step");
  command->add_option("SCENARIO.json", options.scenario, "A scenario file")->required();
  command->add_option("--step-s", options.step_s, "The measured step, in seconds")->required()->type_name("SECONDS");
  command->add_option("--source", options.source, "Where the measurement comes from, kept with the efficiency")
      ->type_name("TEXT");
  command->add_option("-o,--out", options.out, "Write the scenario with the fitted efficiency, in the same folder")
      ->type_name("FILE");
  add_set(*command, options.set);
  command->callback([&options] { calibrate(options); });
}

void add_card(CLI::App& app, CardOptions& options) {
  CLI::App* card = app.add_subcommand("card", "CCL-Bench workload cards: make a scenario of one, or one of a scenario");
  card->require_subcommand(1);
  CLI::App* read = card->add_subcommand("import", "Write a scenario from a card");
  read->add_option("CARD.yaml", options.from, "A workload card")->required();
  CLI::App* write = card->add_subcommand("export", "Write the card of a scenario");
  write->add_option("SCENARIO.json", options.from, "A scenario file")->required();
  for (CLI::App* command : {read, write}) {
    command->add_option("-o,--out", options.out, "Write this file")->required()->type_name("FILE");
  }
  add_set(*write, options.set);
  read->callback([&options] { card_import(options); });
  write->callback([&options] { card_export(options); });
}

void add_collective(CLI::App& app, CollectiveOptions& options) {
  CLI::App* collective = app.add_subcommand("collective", "Collectives as files");
  collective->require_subcommand(1);
  const CLI::Range ranks(2U, 1U << 16);
  const CLI::Range some(1U, 1'000'000U);
  const CLI::Range bytes(std::int64_t{1}, std::int64_t{1} << 50);

  CLI::App* info = collective->add_subcommand("info", "Prove a collective that comes as a file, and count its sends");
  info->add_option("FILE", options.file, "MSCCL XML, or an algorithm of TACCL (.json)")->required();
  info->callback([&options] { collective_info(options); });

  CLI::App* write = collective->add_subcommand("export", "Write a plan of a built-in algorithm as MSCCL XML");
  write->add_option("--op", options.op, "all_reduce, all_gather ...")->required();
  write->add_option("--algorithm", options.algorithm, "See photonrail list collectives")->required();
  write->add_option("--ranks", options.ranks)->required()->check(ranks);
  write->callback([&options] { collective_export(options); });

  CLI::App* make = collective->add_subcommand("synthesize", "Search for a collective on a topology; write it as MSCCL XML");
  make->add_option("TOPOLOGY.json", options.file, "Nodes and links")->required();
  make->add_option("--op", options.op, "all_gather, reduce_scatter or all_reduce")->required();
  make->add_option("--sketch", options.sketch, "What the search may do")->type_name("SKETCH.json");
  make->add_option("--seed", options.seed, "Of the search");
  make->add_option("--tries", options.tries, "Searches; the best is kept (20)")->check(some);
  make->callback([&options] { collective_synthesize(options); });

  for (CLI::App* command : {write, make}) {
    command->add_option("--chunks", options.chunks, "Pieces of a member's share (1)")->check(some);
    command->add_option("--bytes", options.bytes, "Size of the collective; of an all-gather, of a share")->check(bytes);
    command->add_option("-o", options.out, "Write here, not to standard output")->type_name("FILE");
  }
}

void add_pip_switch(CLI::App& app, PipSwitchOptions& options) {
  CLI::App* command = app.add_subcommand("pip-switch", "Matchings of an optical switch on a mesh of programmable cells");
  command->add_option("--ports", options.ports, "Ports of the switch (16)");
  command->add_option("--mesh", options.mesh, "Hexagons of the mesh (9x9)")->type_name("ROWSxCOLUMNS");
  command->add_flag("--json", options.json, "With the waveguides of every route, as JSON");
  auto* svg = command->add_option("-o", options.svg, "Also draw a matching here, as SVG")->type_name("FILE");
  command->add_option("--matching", options.matching, "Which matching to draw (0)")->needs(svg);
  command->callback([&options] { pip_switch(options); });
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Simulates ML training on photonic rails", "photonrail");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  RunOptions run_options;
  ValidateOptions validate_options;
  TraceOptions trace_options;
  CalibrateOptions calibrate_options;
  CardOptions card_options;
  ListOptions list_options;
  CollectiveOptions collective_options;
  PipSwitchOptions pip_switch_options;
  add_run(app, run_options);
  add_validate(app, validate_options);
  add_list(app, list_options);
  add_trace(app, trace_options);
  add_calibrate(app, calibrate_options);
  add_card(app, card_options);
  add_collective(app, collective_options);
  add_pip_switch(app, pip_switch_options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    throw CommandError(2, std::string(error.what()) + " (photonrail --help says what there is)");
  }
  if (!std::cout.flush()) throw CommandError(1, "cannot write to standard output");
  return 0;
}

}  // namespace

}  // namespace photonrail::command

int main(int argc, char** argv) {
  try {
    return photonrail::command::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "photonrail: error: " << error.what() << '\n';
    return photonrail::command::exit_status(error);
  }
}
