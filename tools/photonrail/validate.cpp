#include "commands.hpp"
#include "console.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/topology.hpp"
#include "read.hpp"

#include <iostream>

namespace photonrail::command {

namespace {

std::string counted(std::size_t n, const std::string& thing, const char* plural = "s") {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : plural);
}

std::string switches(const PlantSummary& plant, const OpticalSwitchSpec& ocs) {
  if (plant.optical_switches == 0) return counted(plant.electrical_switches, "electrical rail switch", "es");
  return std::to_string(plant.optical_switches) + " OCS (" + ocs.name + ", " + to_text(ocs.reconfiguration.typical()) + ")";
}

std::string summary_line(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const PlantSummary plant = summarize(cluster.plant());
  std::string text = scenario.name + ": " + counted(scenario.graph.ranks(), "rank") + ", " +
                     counted(scenario.graph.task_count(), "task") + "; " + counted(cluster.servers, "server") + " of " +
                     counted(cluster.gpus_per_server, "GPU") + ", " + counted(plant.nic_ports, "NIC port") + ", " +
                     switches(plant, cluster.rail.optical) + ", " + counted(plant.cables, "cable") + "; controller " +
                     scenario.controller.name;
  if (!plant.connected) text += "; rails are NOT connected";
  return text;
}

}  // namespace

void validate(const ValidateOptions& options) {
  if (!options.graphviz.empty() && options.scenarios.size() > 1) {
    throw ConfigError("--graphviz", "one file cannot hold the clusters of several scenarios", "give one scenario");
  }
  std::string text;
  for (const auto& file : options.scenarios) {
    const Scenario scenario = read_one(file, options.set);
    warn(scenario.name, scenario.graph.warnings());
    text += summary_line(scenario) + "\n";
    if (!options.graphviz.empty()) {
      write_file(options.graphviz, to_graphviz(scenario.cluster.plant()));
      text += "wrote " + options.graphviz.string() + "\n";
    }
  }
  std::cout << text;
}

}  // namespace photonrail::command
