#include "serve.hpp"

#include "options.hpp"
#include "photonrail/error.hpp"
#include "read.hpp"
#include "run/served_workload.hpp"

#include <CLI/CLI.hpp>

namespace photonrail::command {

void serve(ServeOptions options, const Registries& known) {
  // The file's own keys of the search stay.
  if (options.find_rate) options.run.set.push_back("/workload/serving/find_rate/most_runs=40");
  const std::vector<Scenario> scenarios = read_scenarios(options.run.scenarios, options.run.set, known);
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (run::ServedWorkload::of(scenarios[i]) == nullptr)
      throw ConfigError(options.run.scenarios[i].string(), "serves no requests", "photonrail run takes any scenario");
  }
  run_scenarios(scenarios, options.run, known);
}

void add_serve(CLI::App& app, ServeOptions& options, const std::vector<std::filesystem::path>& plugins,
               const Registries& known) {
  CLI::App* command = app.add_subcommand("serve", "Serve the requests of scenarios, or find the rate that they can have");
  add_scenarios(*command, options.run.scenarios)->required();
  add_set(*command, options.run.set);
  add_out_folder(*command, options.run.out,
                 "Write result.json and requests.csv here; of several scenarios, each in a folder");
  command->add_flag("--find-rate", options.find_rate, "Find the greatest rate at which the share of the SLO is kept");
  command->add_flag("--quiet", options.run.quiet, "No table, no warnings: only the paths of what was written");
  command->callback([&options, &plugins, &known] {
    options.run.plugins = plugins;
    serve(options, known);
  });
}

}  // namespace photonrail::command
