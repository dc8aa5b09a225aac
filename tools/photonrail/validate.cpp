#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "photonrail/cluster/topology.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::command {

namespace {

using core::counted;

std::string switches(const PlantSummary& plant, const OpticalSwitchSpec& ocs) {
  if (plant.optical_switches == 0) return counted(plant.electrical_switches, "electrical rail switch", "es");
  return std::to_string(plant.optical_switches) + " OCS (" + ocs.name + ", " + to_text(ocs.reconfiguration.typical()) + ")";
}

std::string summary_line(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const PlantSummary plant = summarize(cluster.plant());
  const std::string hosts =
      scenario.storage_ranks > 0 ? " and " + counted(scenario.storage_ranks, "NIC") + " of storage hosts" : "";
  std::string text = scenario.name + ": " + counted(scenario.graph.ranks() - scenario.storage_ranks, "rank") + hosts +
                     ", " + counted(scenario.graph.task_count(), "task") + "; " + counted(cluster.servers, "server") +
                     " of " + counted(cluster.gpus_per_server, "GPU") + ", " + counted(plant.nic_ports, "NIC port") + ", " +
                     switches(plant, cluster.rail.optical) + ", " + counted(plant.cables, "cable") + "; controller " +
                     scenario.controller.name;
  if (!plant.connected) text += "; rails are NOT connected";
  return text;
}

std::string gigabytes(double bytes) { return fmt::format("{:.1f}", bytes / 1e9); }

/// Returns what a GPU of each pipeline stage holds; stages that hold the same are one line.
std::string memory_table(const Scenario& scenario) {
  if (scenario.memory.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"GB a GPU", "parameters", "gradients", "optimizer", "activations", "total"}};
  std::size_t first = 0;
  for (std::size_t s = 0; s < scenario.memory.size(); ++s) {
    const StageMemory& m = scenario.memory[s];
    std::vector<std::string> row{"",
                                 gigabytes(m.parameters),
                                 gigabytes(m.gradients),
                                 gigabytes(m.optimizer),
                                 gigabytes(m.activations),
                                 gigabytes(m.total())};
    const bool same = rows.size() > 1 && std::equal(row.begin() + 1, row.end(), rows.back().begin() + 1);
    if (!same) first = s;
    row[0] = "  stage " + std::to_string(first) + (same ? " to " + std::to_string(s) : "");
    if (same) rows.pop_back();
    rows.push_back(std::move(row));
  }
  return in_columns(rows);
}

}  // namespace

void validate(const ValidateOptions& options, const Registries& known) {
  if (!options.graphviz.empty() && options.scenarios.size() > 1) {
    throw ConfigError("--graphviz", "one file cannot hold the clusters of several scenarios", "give one scenario");
  }
  check_inputs(options.scenarios);
  std::string text;
  for (const auto& file : options.scenarios) {
    const Scenario scenario = read_one(file, options.set, known);
    warn(scenario.name, scenario.warnings());
    const auto describe = [&text](const Scenario& job) { text += summary_line(job) + "\n" + memory_table(job); };
    if (scenario.jobs.empty()) describe(scenario);
    for (std::size_t j = 0; j < scenario.jobs.size(); ++j) describe(scenario.alone(j));
    if (!options.graphviz.empty()) {
      write_file(options.graphviz, to_graphviz(scenario.cluster.plant()));
      text += "wrote " + options.graphviz.string() + "\n";
    }
  }
  std::cout << hung_lines(text);
}

}  // namespace photonrail::command
