// The whole scenario file.
#include "config/named_files.hpp"
#include "config/scenario_parts.hpp"
#include "config/scenario_sources.hpp"
#include "config/sections.hpp"
#include "formats/synthesis/topology_and_sketch.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "json/in_file.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "run/scenario_check.hpp"
#include "studies/goodput/section/section.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

namespace photonrail {

namespace {

using json::Json;
using json::JsonReader;

constexpr std::string_view kScenarioSchema = "photonrail.scenario/1";

}  // namespace

namespace config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;

constexpr std::string_view kOfJobs = "belongs to a job where there are several";
constexpr std::string_view kIntoJobs = "put it into an entry of /jobs";

constexpr Field kScenarioFields[] = {
    fields::known("schema", fields::text_shape(), "`photonrail.scenario/1`.").by("").must(),
    fields::own(
        "name", fields::text_shape(), [](const Reading& at) { into<Scenario>(at).name = at.value.string(); },
        "Its name in results.")
        .or_else("`\"unnamed\"`"),
    fields::text<&Scenario::why>("why", "What the scenario is for.").or_else("`\"\"`"),
    fields::own(
        "jobs", kJobsShape,
        [](const Reading& at) {
          if (at.value.elements().empty())
            at.value.fail("has no jobs", "give one at least, or a \"workload\" in its place");
        },
        "Several jobs in place of one, 1 to 255 that share the cluster.")
        .or_else("none"),
    fields::known("cluster", fields::object_shape(kClusterSection), "The hardware.").must_later(),
    fields::known("workload", fields::object_shape(kWorkloadSection), "The job.")
        .by("graph")
        .refuse_unless("!jobs", kOfJobs, kIntoJobs)
        .must_later(),
    fields::known("placement", fields::object_shape(kPlacementSection), "Which GPU runs which rank.")
        .by("gpu_of_rank")
        .refuse_unless("!jobs", kOfJobs, kIntoJobs)
        .or_else("rank r on GPU r"),
    fields::known("controller", fields::object_shape(kControllerSection), "What re-points circuits.")
        .or_else("`electrical` on electrical rails, required on optical rails"),
    fields::known("executor", fields::object_shape(kExecutorSection), "How a GPU issues its tasks."),
    fields::known("collectives", fields::object_shape(kCollectivesSection), "Which algorithm does which collective."),
    fields::known("stragglers", kStragglersShape, "Ranks that are late or slow; delays add up and slowdowns multiply.")
        .refuse_unless("!jobs", kOfJobs, kIntoJobs)
        .or_else("`[]`"),
    fields::known("cost", fields::object_shape(kCostSection), "Prices of the network.").by("pricing"),
    fields::known("run", fields::object_shape(kRunSection), "How often, with which seed."),
    fields::known("network", fields::object_shape(kNetworkSection), "How exact crowds of flows are.").by("run"),
    fields::known("server_faults", kServerFaultsShape, "Servers that stop, with all their GPUs and NICs.")
        .by("")
        .or_else("`[]`"),
    fields::known(
        "reliability", fields::object_shape(goodput::kReliabilitySection),
        "Failures and recoveries over months, for `photonrail goodput`. A run checks it and has no other use for it.")
        .or_else("none"),
    fields::known("astra", Shape{}, "ASTRA-sim's inputs, which give every section that the scenario does not.")
        .by("")
        .or_else("none"),
};

}  // namespace

constexpr Section kScenarioSection{kScenarioFields};

}  // namespace config

Scenario config::read_scenario_json(const Json& root, const std::filesystem::path& directory, const Registries& known,
                                    GraphCache* graphs) {
  if (const ScenarioSource* const source = source_of(root))
    return read_scenario_json(expand(*source, root, directory), directory, known, graphs);
  JsonReader top(root);
  json::require_schema(top, kScenarioSchema);
  Scenario scenario;
  fields::read(top, kScenarioSection, &scenario);  // before the sections, so that a misspelt one is not found missing
  config::JobSections sections;
  const auto jobs = top.optional("jobs");
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

  scenario.cluster = config::read_cluster(top.child("cluster"), directory);
  scenario.pricing = config::read_cost(cost, directory, scenario.cluster);
  std::vector<config::ServerFault> faults;
  if (server_faults) faults = config::read_server_faults(*server_faults, scenario.cluster.servers);
  const bool served = sections.workload && sections.workload->json().contains("serving");
  if (!served) config::fail_nics(faults, scenario.cluster);
  if (run) scenario.run = config::read_run(*run);
  if (network) config::read_network(*network, scenario.run);
  const config::ReadContext context{directory, known, graphs};
  if (jobs) {
    scenario.jobs = config::read_jobs(*jobs, sections, context, scenario);
    for (JobSpec& job : scenario.jobs) config::stop_gpus(faults, scenario.cluster.gpus_per_server, job);
    config::in_section(top, config::kScenarioSection, [&] { run::check_jobs(scenario); });
    if (reliability) reliability->fail("is of one job", "remove it, or all jobs but one");
    return scenario;
  }
  static_cast<void>(top.child("workload"));
  config::read_job(sections, {}, context, scenario.cluster, scenario);
  if (served)
    config::give_failures_to_agent(faults, scenario);
  else
    config::stop_gpus(faults, scenario.cluster.gpus_per_server, scenario);
  if (reliability) {  // a run has no use for it; what is wrong in it is told all the same
    std::optional<Duration> step;
    const std::size_t ranks = scenario.graph.ranks() - scenario.storage_ranks;
    const bool checkpoint = sections.workload->json().contains("checkpoint");
    static_cast<void>(goodput::read_reliability(*reliability, {directory, scenario.cluster, ranks, checkpoint}, step));
  }
  return scenario;
}

namespace {

TrainingSpec training_in(const Json& root, const std::filesystem::path& directory) {
  JsonReader top(root);
  json::require_schema(top, kScenarioSchema);
  TrainingSpec spec = config::read_training_spec_of_file(root, directory);
  const JsonReader section = top.child("workload").child("training");
  config::in_section(section, config::kTrainingSection, [&] { spec.validate(); });
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
  return set.pointer == "/name" || set.pointer == "/why" || set.pointer == "/run" || set.pointer.starts_with("/run/") ||
         set.pointer.starts_with("/workload/serving/find_rate");
}

// A value as names of runs have it: of an object what it is called, '{"kind": "optical", ...}' as "optical"; the begin of
// what is long.
std::string short_value(const std::string& value) {
  constexpr std::size_t kMaxValue = 40;
  if (const auto object = json::parse_if_json(value); object && object->is_object()) {
    for (const char* key : {"name", "kind", "preset"}) {
      if (const Json* const word = object->find(key); word != nullptr && word->is_string()) return word->string();
    }
  }
  return value.size() <= kMaxValue ? value : value.substr(0, kMaxValue) + "...";
}

// "quickstart, mode=on_demand": the name in the file says what the file does, which an override may have changed.
std::string name_with(std::string_view file, std::span<const Override> overrides) {
  std::string name = std::filesystem::path(file).stem().string();
  for (const Override& set : overrides) {
    if (leaves_the_name_right(set)) continue;
    name += ", " + set.pointer.substr(set.pointer.rfind('/') + 1) + "=" + short_value(set.value);
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
  return json::in_file(json, file, [&](Json& root) {
    config::apply_overrides(root, overrides);
    Scenario scenario = config::read_scenario_json(root, directory, known);
    describe_source(root, directory, file, overrides, scenario);
    return scenario;
  });
}

Scenario read_scenario(const std::filesystem::path& file, std::span<const Override> overrides) {
  return read_scenario(file, overrides, Registries{});
}

Scenario read_scenario(const std::filesystem::path& file, std::span<const Override> overrides, const Registries& known) {
  return parse_scenario(json::file_text(file), file.parent_path(), file.string(), overrides, known);
}

TrainingSpec read_training_spec(const std::filesystem::path& file, std::span<const Override> overrides) {
  return json::in_file(json::file_text(file), file.string(), [&](Json& root) {
    config::apply_overrides(root, overrides);
    return training_in(root, file.parent_path());
  });
}

std::string file_words(const std::exception& error) {
  if (const auto* const of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return ConfigError(of_file->path1().string(), of_file->code().message(), "check the path").what();
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
  if (of_system != nullptr && of_system->code() == std::errc::resource_unavailable_try_again)
    return "cannot start a thread: " + of_system->code().message() +
           " (ulimit -v and -u limit them, and fewer --jobs need fewer)";
  const auto* const of_field = dynamic_cast<const core::FieldError*>(&error);
  if (of_field == nullptr) return error.what();
  config::Places places;
  places.add("", "", nullptr, config::kScenarioSection);
  formats::synthesis::add_places(places);
  return places.located(*of_field).what();
}

}  // namespace photonrail
