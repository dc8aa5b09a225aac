#include "studies/plan/table.hpp"

#include "json/text.hpp"
#include "photonrail/study/sweep.hpp"
#include "photonrail/version.hpp"
#include "studies/plan/outcome.hpp"
#include "studies/sweep/database.hpp"
#include "studies/sweep/manifest.hpp"
#include "studies/sweep/record.hpp"
#include "studies/sweep/tables.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::plan {

namespace {

/// "8" is a number to the figures, "fsdp" a word.
json::Json value_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return json::Json(text);
  return sweep::number_json(number);
}

Sweep sweep_of(const Plan& plan, const PlanResult& result) {
  Sweep sweep;
  sweep.name = plan.name;
  sweep.why = plan.why;
  sweep.file = plan.file;
  sweep.base = plan.base;
  sweep.base_name = plan.file.string();
  sweep.base_directory = plan.base_directory;
  sweep.hash = hash_of(plan);
  for (const PlannedRun& run : result.runs) {
    SweepPoint& point = sweep.points.emplace_back();
    point.index = static_cast<std::uint32_t>(sweep.points.size() - 1);
    for (const std::string& label : run.labels) point.name += (point.name.empty() ? "" : "; ") + label;
    point.patch = run.patch;
    for (const auto& [name, value] : run.choices) {
      point.parameters.emplace_back(name, value_of(value).canonical());
      if (sweep.points.size() == 1) sweep.parameters.push_back(name);
    }
  }
  return sweep;
}

sweep::Record record_of(const SweepPoint& point, const PlannedRun& run) {
  sweep::Record record;
  record.point = point.index;
  record.name = point.name;
  record.version = std::string(version());
  for (const auto& [name, value] : run.choices) record.parameters.emplace_back(name, value_of(value));
  auto& metrics = record.metrics;
  metrics = {{"steady_iteration_s", run.step_s},
             {"makespan_s", to_seconds(run.makespan)},
             {"bound_s", run.bound_s},
             {"per_rank_mean_s.compute", to_seconds(run.mean.compute)},
             {"per_rank_mean_s.exposed_communication", to_seconds(run.mean.exposed_communication)},
             {"per_rank_mean_s.reconfiguration_wait", to_seconds(run.mean.reconfiguration_wait)},
             {"per_rank_mean_s.peer_wait", to_seconds(run.mean.peer_wait)}};
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) metrics.emplace_back(name, *value);
  };
  add("cost.usd", run.usd);
  add("cost.power_w", run.power_w);
  add("cost.energy_per_step_j", run.energy_j);
  add("peak_memory_bytes", run.memory_bytes);
  if (run.productive) add("goodput.ettr_share", run.productive->mean);
  if (run.served) add("serving.slo.per_s", run.served->requests_per_s);
  std::sort(metrics.begin(), metrics.end());
  return record;
}

}  // namespace

void write_table(const Plan& plan, const PlanResult& result, const std::filesystem::path& directory) {
  const Sweep sweep = sweep_of(plan, result);
  const sweep::Manifest manifest = sweep::Manifest::of(sweep);
  std::filesystem::remove(directory / "manifest.json");
  sweep::Database::remove(directory);
  sweep::claim(directory, manifest);
  const sweep::Lock lock(directory);
  sweep::Database database(directory, manifest, sweep::Database::Access::kWrite);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) database.add(record_of(sweep.points[i], result.runs[i]));
  sweep::write_tables(directory, manifest, database);
}

}  // namespace photonrail::plan
