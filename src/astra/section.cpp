#include "astra/section.hpp"

#include "astra/files/scenario.hpp"
#include "formats/path.hpp"

namespace photonrail::astra {

json::Json scenario_of_section(json::JsonReader& section, const std::filesystem::path& directory) {
  using formats::read_path;
  AstraOptions options;
  options.system = read_path(section.child("system", "a path"), directory);
  options.network = read_path(section.child("network", "a path"), directory);
  options.workload = read_path(section.child("workload", "a path"), directory);
  if (const auto v = section.optional("comm_groups")) options.comm_groups = read_path(*v, directory);
  if (const auto v = section.optional("remote_memory")) options.remote_memory = read_path(*v, directory);
  section.finish();
  return scenario_of(options, {});
}

}  // namespace photonrail::astra
