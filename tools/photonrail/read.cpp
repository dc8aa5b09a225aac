#include "read.hpp"

#include "photonrail/config.hpp"

namespace photonrail::command {

namespace {

std::vector<Override> parse(const std::vector<std::string>& set) {
  std::vector<Override> overrides;
  for (const std::string& text : set) overrides.push_back(Override::parse(text));
  return overrides;
}

}  // namespace

Scenario read_one(const std::filesystem::path& file, const std::vector<std::string>& set) {
  return read_scenario(file, parse(set));
}

TrainingSpec read_training(const std::filesystem::path& file, const std::vector<std::string>& set) {
  return read_training_spec(file, parse(set));
}

std::vector<Scenario> read_scenarios(const std::vector<std::filesystem::path>& files, const std::vector<std::string>& set) {
  std::vector<Scenario> scenarios;
  for (const auto& file : files) scenarios.push_back(read_one(file, set));
  return scenarios;
}

}  // namespace photonrail::command
