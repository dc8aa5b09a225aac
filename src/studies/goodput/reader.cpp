// Scenarios with a "reliability" section.
#include "studies/goodput/reader.hpp"
#include "json/in_file.hpp"

#include "config/named_files.hpp"
#include "config/scenario_parts.hpp"
#include "core/counted.hpp"
#include "fields/places.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "photonrail/simulate.hpp"
#include "studies/goodput/process/step_times.hpp"

#include <algorithm>
#include <initializer_list>

namespace photonrail::goodput {

namespace {

Json without_members(const Json& object, std::initializer_list<std::string_view> names) {
  Json result = Json::object();
  for (const auto& [key, value] : object.members()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) result.insert(key, value);
  }
  return result;
}

// The file without the traffic of checkpoints in its step.
Json without_checkpoint(const Json& root) {
  Json rest = root;
  if (Json* workload = rest.find("workload"); workload != nullptr && workload->is_object()) {
    *workload = without_members(*workload, {"checkpoint"});
  }
  return rest;
}

// The job once more, with a checkpoint in each of its steps.
std::optional<SimulatedCheckpoint> checkpoint_of(const Json& root, const std::filesystem::path& directory,
                                                 const Registries& known, config::GraphCache* graphs) {
  const Json* section = json::find_at(root, "/workload/checkpoint");
  if (section == nullptr) return std::nullopt;
  SimulatedCheckpoint checkpoint;
  checkpoint.job = config::read_scenario_json(root, directory, known, graphs);
  checkpoint.hash = config::scenario_hash(*section, directory);
  if (const Json* mode = section->find("mode")) checkpoint.asynchronous = mode->string() == "asynchronous";
  if (const Json* steps = section->find("over_steps")) checkpoint.over_steps = static_cast<std::uint32_t>(steps->integer());
  return checkpoint;
}

// A name, and how many seeds there are, change no history.
std::string hash_of(const Json& root, const std::filesystem::path& directory) {
  Json relevant = without_members(root, {"name", "why"});
  if (Json* section = relevant.find("reliability"); section != nullptr && section->is_object()) {
    *section = without_members(*section, {"seeds", "first_seed"});
  }
  return config::scenario_hash(relevant, directory);
}

std::optional<TrainingSpec> training_of(const Json& root, const std::filesystem::path& directory) {
  if (json::find_at(root, "/workload/training") == nullptr) return std::nullopt;
  return config::read_training_spec_of_file(root, directory);
}

// A part that fails or is repaired at a time of the run does so in every step that the months are made of.
template <class Failures>
bool begins_or_ends(const Failures& failures) {
  return std::any_of(failures.begin(), failures.end(), [](const auto& f) { return f.at > Time{} || f.lasts; });
}

bool fails_in_each_step(const Scenario& job) {
  return begins_or_ends(job.cluster.rail.faults) || begins_or_ends(job.cluster.scale_up.faults) ||
         std::any_of(job.stragglers.begin(), job.stragglers.end(), [](const StragglerSpec& s) { return s.at.has_value(); });
}

}  // namespace

GoodputScenario read_goodput_json(const Json& root, const std::filesystem::path& directory, const Registries& known,
                                  config::GraphCache* graphs) {
  JsonReader top(root);
  json::require_schema(top, "photonrail.scenario/1");
  GoodputScenario scenario;
  if (const auto v = top.optional("name")) scenario.name = v->string();
  if (const auto v = top.optional("why")) scenario.why = v->string();
  JsonReader section = top.child("reliability", "what fails and how it is recovered");
  scenario.hash = hash_of(root, directory);
  const Json with_checkpoint = without_members(root, {"name", "why", "reliability"});
  const Json rest = without_checkpoint(with_checkpoint);
  scenario.step_hash = config::scenario_hash(rest, directory);
  std::optional<Duration> step;
  for (const char* key : {"cluster", "placement", "controller", "executor", "collectives", "workload", "stragglers", "cost",
                          "run", "jobs", "network", "astra", "server_faults"}) {
    static_cast<void>(top.optional(key));  // read below, or of no use to a job whose step is given
  }
  top.finish();
  if (section.has("step_s") || section.has("step_ms")) {
    scenario.spec = read_reliability(section, {directory, std::nullopt, 0}, step);
    scenario.step = step.value();
    return scenario;
  }
  scenario.job = config::read_scenario_json(rest, directory, known, graphs);
  if (!scenario.job->jobs.empty()) section.fail("is of one job", "remove all jobs but one");
  scenario.training = training_of(root, directory);
  scenario.checkpoint = checkpoint_of(with_checkpoint, directory, known, graphs);
  scenario.spec = read_reliability(
      section, {directory, scenario.job->cluster, scenario.job->graph.ranks(), scenario.checkpoint.has_value()}, step);
  try {
    check_degraded(scenario.spec, *scenario.job, scenario.training);
  } catch (const core::FieldError& e) {
    fields::Places places;
    places.add("reliability", section.pointer(), &section.json(), kReliabilitySection);
    throw places.located(e);
  }
  return scenario;
}

GoodputScenario parse_goodput(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                              std::span<const Override> overrides, const Registries& known) {
  return json::in_file(json, file, [&](Json& root) {
    config::apply_overrides(root, overrides);
    return read_goodput_json(root, directory, known, nullptr);
  });
}

std::vector<std::string> GoodputScenario::warnings() const {
  std::vector<std::string> lines;
  if (job) lines = job->warnings();
  if (job && fails_in_each_step(*job)) {
    lines.emplace_back(
        "faults, server_faults or stragglers that begin or end at a time do so in every step of these months: a failure of "
        "months is an entry of the section's failures");
  }
  const auto drops = [](const RecoveryOption& option) { return option.action == RecoveryAction::kDropReplica; };
  if (spec.job.replicas <= spec.job.min_replicas && std::any_of(spec.recovery.begin(), spec.recovery.end(), drops)) {
    lines.emplace_back("the option drop_replica is never possible: the job has " +
                       core::counted(spec.job.replicas, "replica") + ", and min_replicas is as many");
  }
  return lines;
}

GoodputScenario read_goodput(const std::filesystem::path& file, std::span<const Override> overrides,
                             const Registries& known) {
  return parse_goodput(json::file_text(file), file.parent_path(), file.string(), overrides, known);
}

}  // namespace photonrail::goodput
