#include "read.hpp"

#include "photonrail/error.hpp"

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
  Scenario scenario = read_one(file, set, known);
  if (scenario.jobs.empty()) return scenario;
  throw ConfigError(file.string() + ": /jobs", "this is about one job only", "give a scenario with a \"workload\"");
}

std::vector<Scenario> read_scenarios(const std::vector<std::filesystem::path>& files, const std::vector<std::string>& set,
                                     const Registries& known) {
  std::vector<Scenario> scenarios;
  for (const auto& file : files) scenarios.push_back(read_one(file, set, known));
  return scenarios;
}

}  // namespace photonrail::command
