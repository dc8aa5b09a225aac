#include "studies/sweep/parallelism_axis.hpp"

#include "config/scenario_parts.hpp"
#include "photonrail/training.hpp"

#include <array>
#include <cstdint>

namespace photonrail::sweep {

namespace {

constexpr const char* kTraining = "/workload/training";

std::vector<std::uint32_t> divisors(std::uint32_t n) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t d = 1; d <= n; ++d) {
    if (n % d == 0) list.push_back(d);
  }
  return list;
}

Choice choice_of(const ParallelismSpec& p) {
  Choice choice;
  const std::array<std::pair<const char*, std::uint32_t>, 4> sizes{
      {{"tp", p.tp}, {"cp", p.cp}, {"pp", p.pp}, {"dp", p.dp}}};
  for (const auto& [name, size] : sizes) {
    const Json value = static_cast<std::int64_t>(size);
    choice.parameters.emplace_back(name, value);
    choice.patch.push_back({std::string(kTraining) + "/parallelism/" + name, value.canonical()});
  }
  return choice;
}

}  // namespace

Axis read_parallelism_axis(const JsonReader& value, const Json& base, const std::filesystem::path& directory) {
  if (value.string() != "all") value.fail("\"" + value.string() + "\" is no set of factorisations", "\"all\"");
  if (json::find_at(base, kTraining) == nullptr) value.fail("is for a training job, and the base has none", "\"variants\"");
  config::JsonReader top(base);
  const ClusterSpec cluster = config::read_cluster(top.child("cluster"), directory);
  TrainingSpec spec = config::read_training_spec_of_file(base, directory);
  Axis axis;
  axis.names = {"tp", "cp", "pp", "dp"};
  std::string problem;
  const std::uint32_t gpus = cluster.gpus();
  for (const std::uint32_t tp : divisors(cluster.gpus_per_server)) {
    for (const std::uint32_t cp : divisors(gpus / tp)) {
      for (const std::uint32_t pp : divisors(gpus / tp / cp)) {
        ParallelismSpec& p = spec.parallelism;
        p.tp = tp;
        p.cp = cp;
        p.pp = pp;
        p.dp = gpus / tp / cp / pp;
        try {
          spec.validate();
          axis.choices.push_back(choice_of(p));
        } catch (const ConfigError& error) {
          problem = error.problem();
        }
      }
    }
  }
  if (axis.choices.empty())
    value.fail("no factorisation of " + std::to_string(gpus) + " GPUs is valid: " + problem,
               "another job, or other servers");
  return axis;
}

}  // namespace photonrail::sweep
