#include "format_commands.hpp"

#include "options.hpp"
#include "report/page.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <iostream>

namespace photonrail::command {

namespace {

void add_trace(CLI::App& app, TraceOptions& options, const Registries& known) {
  CLI::App* trace = app.add_subcommand("trace", "Look at task graphs and write them as Chakra traces");
  trace->require_subcommand(1);

  CLI::App* info = trace->add_subcommand("info", "Count the tasks of a scenario or of a Chakra trace");
  auto* scenario = add_input(*info, "SCENARIO.json", options.scenario, "A scenario file");
  auto* prefix = info->add_option("--prefix", options.prefix, "A Chakra trace: PREFIX.<rank>.et")->type_name("PREFIX");
  auto* groups = info->add_option("--groups", options.groups, "The communicator groups of the trace");
  prefix->excludes(scenario);
  groups->type_name("FILE")->needs(prefix);
  add_set(*info, options.set);
  auto* schedule = info->add_flag("--schedule", options.schedule, "The pipeline schedule of a training job as a chart");
  schedule->needs(scenario);
  add_out_file(*info, options.svg, "Also draw the chart of --schedule here, as SVG")->needs(schedule);
  info->callback([&options, &known] { options.schedule ? trace_schedule(options) : trace_info(options, known); });

  CLI::App* write = trace->add_subcommand("export", "Write a scenario's task graph as a Chakra trace");
  add_input(*write, "SCENARIO.json", options.scenario, "A scenario file")->required();
  write->add_option("--prefix", options.prefix, "Write PREFIX.<rank>.et and PREFIX.json")->required()->type_name("PREFIX");
  add_set(*write, options.set);
  write->callback([&options, &known] { trace_export(options, known); });
}

void add_card(CLI::App& app, CardOptions& options, const Registries& known) {
  CLI::App* card = app.add_subcommand("card", "CCL-Bench workload cards: make a scenario of one, or one of a scenario");
  card->require_subcommand(1);
  CLI::App* read = card->add_subcommand("import", "Write a scenario from a card");
  add_input(*read, "CARD.yaml", options.from, "A workload card")->required();
  CLI::App* write = card->add_subcommand("export", "Write the card of a scenario");
  add_input(*write, "SCENARIO.json", options.from, "A scenario file")->required();
  for (CLI::App* command : {read, write}) add_out_file(*command, options.out, "Write this file")->required();
  add_set(*write, options.set);
  read->callback([&options, &known] {
    card_import(options);
    run_imported(options.out, {}, known);
  });
  write->callback([&options, &known] { card_export(options, known); });
}

// What an import has beside its input: where the scenario goes, and whether it is run at once.
void add_imported(CLI::App& command, std::filesystem::path& out, FormatOptions& all, const Registries& known,
                  const std::function<void()>& import) {
  add_out_file(command, out, "Write this file")->required();
  command
      .add_option("--run", all.run.folder,
                  "Run it too: prints the table, and writes result, timeline and page into this folder")
      ->type_name("DIR")
      ->check([](const std::string& name) { return name.empty() ? "is empty: name a folder" : ""; });
  command.callback([&all, &out, &known, import] {
    import();
    run_imported(out, all.run, known);
  });
}

void add_import(CLI::App& app, FormatOptions& all, const Registries& known) {
  AstraCommandOptions& options = all.astra;
  InfragraphOptions& infragraph = all.infragraph;
  CLI::App* read =
      app.add_subcommand("import", "Make a scenario of the inputs of another simulator, or of an infrastructure");
  read->require_subcommand(1);
  CLI::App* command = read->add_subcommand("astra", "Write a scenario from ASTRA-sim's inputs");
  auto* system = command->add_option("--astra,--system", options.files.system, "Its system file")->type_name("SYSTEM.json");
  auto* folder = command->add_option("DIR", all.astra_folder, "A folder with all of its files, in place of naming each");
  folder->excludes(system);
  add_astra(*command, options, system);
  add_imported(*command, options.out, all, known, [&all] {
    if (all.astra.files.system.empty() && all.astra_folder.empty())
      throw CLI::RequiredError("DIR, or --system with --network and --workload");
    all.astra_folder.empty() ? astra_import(all.astra) : import_astra_folder(all.astra, all.astra_folder);
  });

  CLI::App* model = read->add_subcommand("hf", "Write a training scenario of a model of Hugging Face's");
  model->add_option("MODEL", all.hf.from, "Its folder, or its config.json")->required();
  model->add_option("--servers", all.hf.servers, "Servers of 8 GPUs (the fewest that hold it)")
      ->type_name("N")
      ->check(CLI::Range(1U, 100'000U));
  model->add_option("--gpu", all.hf.gpu, "A name of `photonrail list gpus`")->type_name("GPU")->capture_default_str();
  add_imported(*model, all.hf.out, all, known, [&all, &known] { import_hf(all.hf, known); });

  CLI::App* cluster = read->add_subcommand("infragraph", "Write a scenario on the cluster of an InfraGraph infrastructure");
  add_input(*cluster, "INFRASTRUCTURE.yaml", infragraph.from, "YAML or JSON")->required();
  add_imported(*cluster, infragraph.out, all, known, [&infragraph] { infragraph_import(infragraph); });
  CLI::App* write = app.add_subcommand("export", "Write what other tools read");
  write->require_subcommand(1);
  CLI::App* graph = write->add_subcommand("infragraph", "Write the cluster of a scenario as an InfraGraph infrastructure");
  add_input(*graph, "SCENARIO.json", infragraph.from, "A scenario file")->required();
  add_set(*graph, infragraph.set);
  graph->callback([&infragraph, &known] { infragraph_export(infragraph, known); });
  add_out_file(*graph, infragraph.out, "Write this file")->required();
}

void add_import_traces(CLI::App& app, FormatOptions& options, const Registries& known) {
  CLI::App* read = app.get_subcommand("import");
  const auto add = [&](const char* name, const char* help, const char* from, ImportTraceOptions& of) {
    CLI::App* command = read->add_subcommand(name, help);
    command->add_option("TRACES", of.from, from)->required();
    command->add_option("--gpus-per-server", of.gpus_per_server, "Of the cluster (8, 4 or 2, as divides the ranks)")
        ->type_name("N")
        ->check(CLI::Range(1U, 1024U));
    add_imported(*command, of.out, options, known, [&of, &known] { import_trace(of, known); });
  };
  add("chakra", "Write a scenario of Chakra traces", "Their folder, or PREFIX of PREFIX.RANK.et", options.import_chakra);
  add("kineto", "Write a scenario of traces of PyTorch's profiler", "Their folder, or a pattern with one *",
      options.import_kineto);
  CLI::App* card = read->add_subcommand("card", "Write a scenario of a CCL-Bench card");
  add_input(*card, "CARD.yaml", options.card.from, "A workload card")->required();
  add_imported(*card, options.card.out, options, known, [&options] { card_import(options.card); });
}

void add_collective(CLI::App& app, CollectiveOptions& options, const Registries& known) {
  CLI::App* collective = app.add_subcommand("collective", "Collectives as files");
  collective->require_subcommand(1);
  const CLI::Range ranks(2U, 1U << 16);
  const CLI::Range some(1U, 1'000'000U);
  const CLI::Range bytes(std::int64_t{1}, std::int64_t{1} << 50);

  CLI::App* info = collective->add_subcommand("info", "Prove a collective that comes as a file, and count its sends");
  info->add_option("FILE", options.file, "MSCCL XML, or an algorithm of TACCL (.json)")->required();
  info->callback([&options] { collective_info(options); });

  CLI::App* write = collective->add_subcommand("export", "Write a plan of an algorithm as MSCCL XML");
  write->add_option("--op", options.op, "all_reduce, all_gather ...")->required();
  write->add_option("--algorithm", options.algorithm, "See photonrail list collectives")->required();
  write->add_option("--ranks", options.ranks, "Members")->required()->check(ranks);
  write->callback([&options, &known] { collective_export(options, known.collectives); });

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
    add_out_file(*command, options.out, "Write here, not to standard output");
  }
}

}  // namespace

void run_imported(const std::filesystem::path& file, const ImportedRun& options, const Registries& known) {
  if (options.folder.empty()) {
    std::cout << "photonrail run " << file.string() << " runs it\n";
    return;
  }
  RunOptions run_options;
  run_options.scenarios = {file};
  run_options.out = options.folder;
  run_options.trace = true;
  run_options.work_limit_s = options.work_limit_s;
  std::cout << '\n';
  run(run_options, known);
  ReportOptions page;
  page.folder = options.folder;
  page.work_limit_s = options.work_limit_s;
  if (report::why_no_page().empty()) report(page);
}

void add_format_commands(CLI::App& app, FormatOptions& options, const Registries& known) {
  add_trace(app, options.trace, known);
  add_card(app, options.card, known);
  add_import(app, options, known);
  add_import_traces(app, options, known);
  add_collective(app, options.collective, known);
}

}  // namespace photonrail::command
