// The whole scenario file.
#include "config/named_files.hpp"
#include "config/reliability_parts.hpp"
#include "config/scenario_astra.hpp"
#include "config/scenario_parts.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "run/scenario_check.hpp"

#include <algorithm>

namespace photonrail {

namespace {

using config::Json;
using config::JsonReader;

constexpr std::string_view kScenarioSchema = "photonrail.scenario/1";

}  // namespace

Scenario config::read_scenario_json(const Json& root, const std::filesystem::path& directory, const Registries& known,
                                    GraphCache* graphs, json::ReadObserver* observer) {
  if (root.contains("astra")) return read_scenario_json(expand_astra(root, directory), directory, known, graphs, observer);
  JsonReader top(root, {}, observer);
  json::require_schema(top, kScenarioSchema);
  Scenario scenario;
  if (const auto v = top.optional("name")) scenario.name = v->string();
  if (const auto v = top.optional("why")) scenario.why = v->string();
  const auto jobs = top.optional("jobs");
  static_cast<void>(top.optional("cluster"));
  if (jobs) {
    if (jobs->elements().empty()) jobs->fail("has no jobs", "give one at least, or a \"workload\" in its place");
    for (const char* key : {"workload", "placement", "stragglers"}) {
      top.refuse(key, "belongs to a job where there are several", "put it into an entry of /jobs");
    }
  }
  config::JobSections sections;
  sections.workload = top.optional("workload");
  sections.placement = top.optional("placement");
  sections.controller = top.optional("controller");
  sections.executor = top.optional("executor");
  sections.collectives = top.optional("collectives");
  sections.stragglers = top.optional("stragglers");
  const auto cost = top.optional("cost");
  const auto run = top.optional("run");
  const auto network = top.optional("network");
  const auto server_faults = top.optional("server_faults");
  const auto reliability = top.optional("reliability");
  static_cast<void>(top.optional("astra"));  // expanded above; the schema has it
  top.finish();  // before the sections, so that a misspelt section is named rather than found missing

  scenario.cluster = config::read_cluster(top.child("cluster"), directory);
  scenario.pricing = config::read_cost(cost, directory, scenario.cluster);
  std::vector<config::ServerFault> faults;
  if (server_faults) faults = config::read_server_faults(*server_faults, scenario.cluster.servers);
  config::fail_nics(faults, scenario.cluster);
  if (run) scenario.run = config::read_run(*run);
  if (network) scenario.run.network_accuracy = config::read_network(*network);
  const config::ReadContext context{directory, known, graphs};
  if (jobs) {
    scenario.jobs = config::read_jobs(*jobs, sections, context, scenario);
    for (Scenario& job : scenario.jobs) config::stop_gpus(faults, job);
    config::in_section(top, config::scenario_keys(), [&] { run::check_jobs(scenario); });
    if (reliability) reliability->fail("is of one job", "remove it, or all jobs but one");
    return scenario;
  }
  static_cast<void>(top.child("workload"));
  config::read_job(sections, {}, context, scenario);
  config::stop_gpus(faults, scenario);
  if (reliability) {  // a run has no use for it; what is wrong in it is told all the same
    std::optional<Duration> step;
    const std::size_t ranks = scenario.graph.ranks() - scenario.storage_ranks;
    const bool checkpoint = sections.workload->json().contains("checkpoint");
    static_cast<void>(config::read_reliability(*reliability, {directory, scenario.cluster, ranks, checkpoint}, step));
  }
  return scenario;
}

namespace {

TrainingSpec training_in(const Json& root, const std::filesystem::path& directory) {
  JsonReader top(root);
  json::require_schema(top, kScenarioSchema);
  TrainingSpec spec = config::read_training_spec_of_file(root, directory);
  const JsonReader section = top.child("workload").child("training");
  config::in_section(section, config::training_keys(), [&] { spec.validate(); });
  return spec;
}

}  // namespace

Scenario parse_scenario(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                        std::span<const Override> overrides) {
  return parse_scenario(json, directory, file, overrides, Registries{});
}

namespace {

// What says what the scenario is for, or repeats it, makes its name no wrong one.
bool leaves_the_name_right(const Override& set) {
  return set.pointer == "/name" || set.pointer == "/why" || set.pointer == "/run" || set.pointer.starts_with("/run/");
}

// "quickstart, mode=on_demand": the name in the file says what the file does, which an override may have changed.
std::string name_with(std::string_view file, std::span<const Override> overrides) {
  constexpr std::size_t kMaxValue = 40;
  std::string name = std::filesystem::path(file).stem().string();
  for (const Override& set : overrides) {
    if (leaves_the_name_right(set)) continue;
    const std::string value = set.value.size() <= kMaxValue ? set.value : set.value.substr(0, kMaxValue) + "...";
    name += ", " + set.pointer.substr(set.pointer.rfind('/') + 1) + "=" + value;
  }
  return name;
}

void describe_source(const Json& root, const std::filesystem::path& directory, std::string_view file,
                     std::span<const Override> overrides, Scenario& scenario) {
  scenario.source.hash = config::scenario_hash(root, directory);
  bool named = false;
  for (const Override& set : overrides) {
    scenario.source.overrides.push_back(set.pointer + "=" + set.value);
    named = named || set.pointer == "/name";
  }
  const bool changed = !std::all_of(overrides.begin(), overrides.end(), leaves_the_name_right);
  if (changed && !named) scenario.name = name_with(file, overrides);
}

}  // namespace

Scenario parse_scenario(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                        std::span<const Override> overrides, const Registries& known) {
  Json root = config::parse_json(json, file);
  try {
    config::apply_overrides(root, overrides);
    Scenario scenario = config::read_scenario_json(root, directory, known);
    describe_source(root, directory, file, overrides, scenario);
    return scenario;
  } catch (const ConfigError& e) {
    throw e.inside(file);
  }
}

Scenario read_scenario(const std::filesystem::path& file, std::span<const Override> overrides) {
  return read_scenario(file, overrides, Registries{});
}

Scenario read_scenario(const std::filesystem::path& file, std::span<const Override> overrides, const Registries& known) {
  return parse_scenario(json::file_text(file), file.parent_path(), file.string(), overrides, known);
}

TrainingSpec read_training_spec(const std::filesystem::path& file, std::span<const Override> overrides) {
  Json root = config::parse_json(json::file_text(file), file.string());
  try {
    config::apply_overrides(root, overrides);
    return training_in(root, file.parent_path());
  } catch (const ConfigError& e) {
    throw e.inside(file.string());
  }
}

}  // namespace photonrail
