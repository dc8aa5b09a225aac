#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "photonrail/config.hpp"
#include "photonrail/report.hpp"
#include "read.hpp"

#include <iostream>

namespace photonrail::command {

void infragraph_import(const InfragraphOptions& options) {
  write_file(options.out, scenario_from_infragraph(options.from));
  const Scenario scenario = read_scenario(options.out);
  std::cout << "wrote " << options.out.string() << ": " << core::counted(scenario.cluster.gpus(), "GPU")
            << "\nguessed:\n  an all-reduce of 1 GB among all GPUs, as an infrastructure has no job (/workload)\n";
  if (scenario.cluster.rail.kind == RailKind::kOptical)
    std::cout << "  controller " << scenario.controller.name << " (/controller)\n";
  std::cout << hung_lines(scenario.why, static_cast<std::size_t>(output_width()));
}

void infragraph_export(const InfragraphOptions& options, const Registries& known) {
  write_file(options.out, infragraph_from_scenario(options.from, parse_set(options.set), known));
  std::cout << "wrote " << options.out.string() << '\n';
}

}  // namespace photonrail::command
