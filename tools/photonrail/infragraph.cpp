#include "photonrail/formats/infragraph.hpp"
#include "commands.hpp"
#include "photonrail/report.hpp"
#include "read.hpp"

#include <iostream>

namespace photonrail::command {

void infragraph_import(const InfragraphOptions& options) {
  write_file(options.out, scenario_from_infragraph(options.from));
  std::cout << "wrote " << options.out.string() << '\n';
}

void infragraph_export(const InfragraphOptions& options, const Registries& known) {
  write_file(options.out, infragraph_from_scenario(options.from, parse_set(options.set), known));
  std::cout << "wrote " << options.out.string() << '\n';
}

}  // namespace photonrail::command
