// `photonrail.result/1`.
#include "report/result_json.hpp"

#include "photonrail/report.hpp"
#include "photonrail/version.hpp"
#include "report/bill_json.hpp"
#include "report/rank_spread.hpp"
#include "report/rl_report.hpp"
#include "report/run_json.hpp"
#include "report/serving_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

namespace {

using json::Json;

constexpr std::uint64_t kMaxWindows = 10'000;  // of one kind: bounds the size of the file for a million ranks

std::string key_of(std::pair<Dimension, Dimension> change) {
  return std::string(name(change.first)) + "->" + std::string(name(change.second));
}

std::uint64_t count(const std::vector<WindowCount>& windows) {
  return std::accumulate(windows.begin(), windows.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const WindowCount& w) { return sum + w.count; });
}

Json seconds(const std::vector<Duration>& durations) {
  Json list = Json::array();
  for (const Duration d : durations) list.push_back(to_seconds(d));
  return list;
}

// `detection`: of a run in which failures were not detected at once; `idle`: of an agent's workload; others have no such
// entries.
Json parts(const RankTime& time, bool detection, bool idle) {
  Json parts{{"compute", to_seconds(time.compute)},
             {"exposed_communication", to_seconds(time.exposed_communication)},
             {"reconfiguration_wait", to_seconds(time.reconfiguration_wait)},
             {"peer_wait", to_seconds(time.peer_wait)}};
  if (detection) parts.insert("detection", to_seconds(time.detection));
  if (idle) parts.insert("idle", to_seconds(time.idle));
  return parts;
}

/// Ranks whose times are the same.
struct RankClass {
  const RankTime* time = nullptr;
  std::uint64_t count = 0;
  std::size_t first = 0;  // of the range that the next rank may continue
  std::size_t last = 0;
  std::string ranges{};  // before it, each with a comma behind

  void end_range() { ranges += std::to_string(first) + (last > first ? "-" + std::to_string(last) : "") + ","; }
  void add(std::size_t rank) {
    if (count++ > 0 && rank == last + 1) {
      last = rank;
      return;
    }
    if (count > 1) end_range();
    first = last = rank;
  }
};

std::array<std::int64_t, 6> key_of(const RankTime& time) {
  return {time.compute.count(),
          time.exposed_communication.count(),
          time.reconfiguration_wait.count(),
          time.peer_wait.count(),
          time.detection.count(),
          time.idle.count()};
}

// One row for all ranks with the same times, in the order of the first of each: of a folded run they are few.
Json rank_classes(const RunResult& result) {
  std::vector<RankClass> classes;
  std::map<std::array<std::int64_t, 6>, std::size_t> known;
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    const auto [entry, fresh] = known.try_emplace(key_of(result.ranks[r]), classes.size());
    if (fresh) classes.push_back({&result.ranks[r]});
    classes[entry->second].add(r);
  }
  Json list = Json::array();
  for (RankClass& of : classes) {
    of.end_range();
    of.ranges.pop_back();
    Json& row = list.push_back(Json{{"ranks", of.ranges}, {"count", of.count}});
    const Json times = parts(*of.time, report::has_detection(result), report::has_idle(result));
    for (const auto& [part, seconds] : times.members()) row[part] = seconds;
  }
  return list;
}

Json communication(const RunResult& result) {
  Json by_dimension = Json::object();
  for (std::size_t d = 0; d < result.traffic.size(); ++d) {
    const DimensionTraffic& traffic = result.traffic[d];
    if (traffic.operations == 0) continue;
    by_dimension[std::string(name(static_cast<Dimension>(d)))] = {
        {"bytes", traffic.bytes.count},
        {"operations", traffic.operations},
        {"busy_s", to_seconds(traffic.busy)},
        {"exposed_s", to_seconds(traffic.exposed)},
        {"reconfiguration_wait_s", to_seconds(traffic.reconfiguration_wait)},
        {"commands", report::commands_for(result, d)}};
  }
  return by_dimension;
}

// Kinds that were launched.
Json launches(const RunResult& result) {
  Json list = Json::array();
  for (const LaunchTotals& of : result.launches) {
    if (of.count == 0) continue;
    list.push_back(Json{{"kind", of.kind},
                        {"count", of.count},
                        {"time_s", to_seconds(of.time)},
                        {"longest_s", to_seconds(of.longest)},
                        {"bytes", of.bytes.count}});
  }
  return list;
}

Json reconfigurations(const ReconfigurationSummary& summary) {
  const std::optional<double> hidden = summary.hidden_share();
  Json json = {{"count", summary.count},
               {"per_rail", summary.per_rail},
               {"dark_port_s", to_seconds(summary.dark_port)},
               {"critical_path", summary.critical_path},
               {"total_s", to_seconds(summary.total)},
               {"exposed_s", to_seconds(summary.exposed)},
               {"hidden_share", hidden ? Json(*hidden) : Json(nullptr)},
               {"circuits", summary.circuits},
               {"circuits_per_command",
                summary.count == 0 ? Json(nullptr)
                                   : Json(static_cast<double>(summary.circuits) / static_cast<double>(summary.count))},
               {"by_change", report::changes_json(summary)}};
  if (summary.blocking) {
    json["blocking"] = {{"waited", summary.blocking->waited},
                        {"displaced", summary.blocking->displaced},
                        {"cells", summary.blocking->cells},
                        {"loss_db", summary.blocking->loss_db}};
  }
  return json;
}

// Each window of its own; of more than kMaxWindows an even part of the ascending list, with the ends.
Json one_by_one(const std::vector<WindowCount>& windows) {
  const std::uint64_t all = count(windows);
  const std::uint64_t written = std::min(all, kMaxWindows);
  Json list = Json::array();
  std::size_t at = 0;
  std::uint64_t before = 0;  // windows of lengths before windows[at]
  for (std::uint64_t i = 0; i < written; ++i) {
    const std::uint64_t wanted = written == 1 ? 0 : i * (all - 1) / (written - 1);
    while (before + windows[at].count <= wanted) before += windows[at++].count;
    list.push_back(to_seconds(windows[at].length));
  }
  return list;
}

// Says how many windows there were, where not all are written.
Json thinned(const RunResult& result) {
  Json by_change = Json::object();
  for (const auto& [change, lengths] : result.windows) {
    if (count(lengths) > kMaxWindows) by_change[key_of(change)] = count(lengths);
  }
  return by_change;
}

Json windows(const RunResult& result) {
  Json by_change = Json::object();
  for (const auto& [change, lengths] : result.windows) {
    by_change[key_of(change)] = one_by_one(lengths);
  }
  return by_change;
}

Json cost_json(const CostSummary& summary, const ClusterSpec& cluster) {
  const auto& gpus = summary.gpu_energy_per_step_j;
  return {{"catalogue", summary.catalogue},
          {"rule", name(summary.rule)},
          {"fabric", name(summary.bill.fabric)},
          {"gpus", cluster.gpus()},
          {"servers", cluster.servers},
          {"switches", report::switches_of(summary.bill)},
          {"usd", summary.bill.usd()},
          {"power_w", summary.bill.power_w()},
          {"network_energy_per_step_j", summary.network_energy_per_step_j},
          {"gpu_energy_per_step_j", gpus ? Json(*gpus) : Json(nullptr)},
          {"energy_per_step_j", gpus ? Json(*gpus + summary.network_energy_per_step_j) : Json(nullptr)},
          {"bill", report::to_json_array(summary.bill)}};
}

Json network(const EngineSummary& engine) {
  return {{"accuracy", engine.network_accuracy}, {"epochs", engine.epochs}, {"flows_in_epochs", engine.flows_in_epochs}};
}

Json folding(const FoldingSummary& summary) {
  Json json = {{"ranks", summary.ranks}, {"classes", summary.classes}};
  if (!summary.off.empty()) json["off"] = summary.off;
  return json;
}

// Each of several jobs has these of its own.
Json jobs(const RunResult& result) {
  Json list = Json::array();
  for (const RunResult& job : result.jobs) {
    Json& entry = list.push_back(Json::object());
    entry["name"] = job.name;
    entry["start_s"] = to_seconds(job.start);
    entry["makespan_s"] = to_seconds(job.makespan);
    if (job.alone) entry["alone_s"] = to_seconds(*job.alone);
    if (job.alone) entry["slowdown"] = job.slowdown();
    entry["simulated"] = report::simulated_json(job);
    report::add_training(job, entry);
    entry["iteration_s"] = seconds(job.iterations);
    entry["per_rank_mean_s"] = parts(job.mean_rank_time(), report::has_detection(job), report::has_idle(job));
    if (!job.launches.empty()) entry["launches"] = launches(job);
    if (job.serving) entry["serving"] = report::serving_json(*job.serving);
    if (job.rl) entry["rl"] = report::rl_json(*job.rl);
    entry["communication"] = communication(job);
    entry["reconfigurations"] = reconfigurations(job.reconfigurations);
  }
  return list;
}

Json spread(const RunResult::Spread& spread) {
  return {{"seeds", spread.seeds},
          {"unfinished", spread.unfinished},
          {"min_s", to_seconds(spread.min)},
          {"median_s", to_seconds(spread.median)},
          {"max_s", to_seconds(spread.max)}};
}

void collect(const Json& value, const std::string& path, std::vector<std::pair<std::string, double>>& into) {
  if (value.is_number()) into.emplace_back(path, value.number());
  if (!value.is_object()) return;
  for (const auto& [key, entry] : value.members()) {
    if (key == "wall_s" || key == "peak_rss_mb" || (path.empty() && key == "simulated")) continue;
    collect(entry, path.empty() ? key : path + "." + key, into);
  }
}

}  // namespace

namespace report {

Json result_json(const RunResult& result, bool lists) {
  Json json;
  json["schema"] = "photonrail.result/1";
  json["name"] = result.name;
  json["photonrail_version"] = version();
  json["seed"] = result.seed;
  json["makespan_s"] = to_seconds(result.makespan);
  json["iteration_s"] = seconds(result.iterations);
  const auto steady = result.steady_iteration();
  json["steady_iteration_s"] = steady ? Json(to_seconds(*steady)) : Json(nullptr);
  if (result.spread) json["spread"] = spread(*result.spread);
  json["simulated"] = simulated_json(result);
  add_training(result, json);
  json["infeasible"] = result.infeasible.empty() ? Json(nullptr) : Json(result.infeasible);
  json["per_rank_mean_s"] = parts(result.mean_rank_time(), report::has_detection(result), report::has_idle(result));
  json["per_rank_spread_s"] = rank_spread_json(result);
  if (!result.launches.empty()) json["launches"] = launches(result);
  if (result.serving) json["serving"] = serving_json(*result.serving);
  if (result.rl) json["rl"] = report::rl_json(*result.rl);
  json["communication"] = communication(result);
  json["reconfigurations"] = reconfigurations(result.reconfigurations);
  if (result.utilisation) json["utilisation"] = utilisation_json(*result.utilisation);
  if (lists) json["quantiles_s"] = quantiles_json(result);
  if (lists) json["windows_s"] = windows(result);
  if (Json counts = thinned(result); lists && !counts.empty()) json["windows_count"] = std::move(counts);
  if (result.cost) json["cost"] = cost_json(*result.cost, result.cluster);
  json["folding"] = folding(result.folding);
  json["warnings"] = result.warnings;
  json["notes"] = report::notes_json(result.notes);
  if (result.critical_path) json["critical_path"] = report::path_json(*result.critical_path);
  if (!result.choices.empty()) json["choices"] = result.choices;
  if (result.engine.network_accuracy > 0.0) json["network"] = network(result.engine);
  json["engine"] = {{"events", result.engine.events},
                    {"sends", result.engine.sends},
                    {"wall_s", result.engine.wall_s},
                    {"peak_rss_mb", result.engine.peak_rss_mb}};
  if (!result.jobs.empty()) json["jobs"] = jobs(result);
  if (lists) json["rank_classes"] = rank_classes(result);
  return json;
}

std::vector<std::pair<std::string, double>> numbers_of_job(const Json& job) {
  std::vector<std::pair<std::string, double>> numbers;
  const Json* const name = job.find("name");
  if (name == nullptr || !name->is_string()) return numbers;
  const std::string path = "jobs." + name->string() + ".";
  for (const auto& [key, value] : job.members()) {
    if (value.is_number() || key == "per_rank_mean_s") collect(value, path + key, numbers);
  }
  return numbers;
}

std::vector<std::pair<std::string, double>> numbers_of_quantiles(const Json& quantiles) {
  std::vector<std::pair<std::string, double>> numbers;
  const Json* const probabilities = quantiles.find("probabilities");
  if (probabilities == nullptr || !probabilities->is_array()) return numbers;
  for (const auto& [what, by_dimension] : quantiles.members()) {
    if (!by_dimension.is_object()) continue;
    for (const auto& [dimension, histogram] : by_dimension.members()) {
      const Json* const values = histogram.is_object() ? histogram.find("quantiles") : nullptr;
      if (values == nullptr || !values->is_array() || values->size() != probabilities->size()) continue;
      for (std::size_t i = 0; i < values->size(); ++i) {
        const double p = probabilities->elements()[i].is_number() ? probabilities->elements()[i].number() : 0.0;
        if (!values->elements()[i].is_number() || (p != 0.5 && p != 0.99)) continue;
        numbers.emplace_back("quantiles_s." + what + "." + dimension + (p == 0.5 ? ".p50" : ".p99"),
                             values->elements()[i].number());
      }
    }
  }
  return numbers;
}

std::vector<std::pair<std::string, double>> numbers_of(const RunResult& result) {
  std::vector<std::pair<std::string, double>> numbers = numbers_of_quantiles(quantiles_json(result));
  const Json json = result_json(result, false);
  collect(json, "", numbers);
  if (const Json* const jobs = json.find("jobs")) {
    for (const Json& job : jobs->elements()) {
      const auto of_job = numbers_of_job(job);
      numbers.insert(numbers.end(), of_job.begin(), of_job.end());
    }
  }
  std::erase_if(numbers, [](const auto& entry) { return entry.first == "seed" || !std::isfinite(entry.second); });
  return numbers;
}

}  // namespace report

std::string to_json(const RunResult& result) {
  // Warnings may quote names from a trace, which need not be UTF-8.
  return report::result_json(result, true).dump(2) + "\n";
}

}  // namespace photonrail
