#include "read.hpp"

#include "json/file_text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::command {

std::vector<Override> parse_set(const std::vector<std::string>& set) {
  std::vector<Override> overrides;
  for (const std::string& text : set) overrides.push_back(Override::parse(text));
  return overrides;
}

Scenario read_one(const std::filesystem::path& file, const std::vector<std::string>& set, const Registries& known) {
  return read_scenario(file, parse_set(set), known);
}

TrainingSpec read_training(const std::filesystem::path& file, const std::vector<std::string>& set) {
  return read_training_spec(file, parse_set(set));
}

Scenario read_one_job(const std::filesystem::path& file, const std::vector<std::string>& set, const Registries& known) {
  return one_job(read_one(file, set, known), file);
}

Scenario one_job(Scenario scenario, const std::filesystem::path& file) {
  if (scenario.jobs.empty()) return scenario;
  throw ConfigError(file.string() + ": /jobs",
                    "this is about one job only, and here are " + std::to_string(scenario.jobs.size()),
                    "`photonrail run` takes them together; for one give a scenario whose \"workload\" it is");
}

void check_inputs(const std::vector<std::filesystem::path>& files) {
  if (std::count(files.begin(), files.end(), std::filesystem::path(json::kStandardInput)) > 1)
    throw ConfigError(json::kStandardInput, "is given twice, and can be read once", "write it into a file first");
}

std::vector<Scenario> read_scenarios(const std::vector<std::filesystem::path>& files, const std::vector<std::string>& set,
                                     const Registries& known) {
  check_inputs(files);
  std::vector<Scenario> scenarios;
  for (const auto& file : files) scenarios.push_back(read_one(file, set, known));
  return scenarios;
}

}  // namespace photonrail::command
