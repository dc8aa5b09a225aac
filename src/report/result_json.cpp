// `photonrail.result/1`.
#include "photonrail/report.hpp"
#include "photonrail/version.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace photonrail {

namespace {

using Json = nlohmann::ordered_json;

Json seconds(const std::vector<Duration>& durations) {
  Json list = Json::array();
  for (const Duration d : durations) list.push_back(to_seconds(d));
  return list;
}

Json parts(const RankTime& time) {
  return {{"compute", to_seconds(time.compute)},
          {"exposed_communication", to_seconds(time.exposed_communication)},
          {"reconfiguration_wait", to_seconds(time.reconfiguration_wait)},
          {"peer_wait", to_seconds(time.peer_wait)}};
}

Json ranks(const RunResult& result) {
  Json list = Json::array();
  for (const RankTime& rank : result.ranks) list.push_back(parts(rank));
  return list;
}

Json communication(const RunResult& result) {
  Json by_dimension = Json::object();
  for (std::size_t d = 0; d < result.traffic.size(); ++d) {
    const DimensionTraffic& traffic = result.traffic[d];
    if (traffic.operations == 0) continue;
    by_dimension[std::string(name(static_cast<Dimension>(d)))] = {{"bytes", traffic.bytes.count},
                                                                  {"operations", traffic.operations},
                                                                  {"busy_s", to_seconds(traffic.busy)},
                                                                  {"exposed_s", to_seconds(traffic.exposed)}};
  }
  return by_dimension;
}

Json reconfigurations(const ReconfigurationSummary& summary) {
  return {{"count", summary.count},
          {"per_rail", summary.per_rail},
          {"dark_port_s", to_seconds(summary.dark_port)},
          {"critical_path", summary.critical_path},
          {"total_s", to_seconds(summary.total)},
          {"exposed_s", to_seconds(summary.exposed)},
          {"hidden_share", summary.hidden_share()}};
}

Json windows(const RunResult& result) {
  Json by_change = Json::object();
  for (const auto& [change, lengths] : result.windows) {
    by_change[std::string(name(change.first)) + "->" + std::string(name(change.second))] = seconds(lengths);
  }
  return by_change;
}

}  // namespace

std::string to_json(const RunResult& result) {
  Json json;
  json["schema"] = "photonrail.result/1";
  json["name"] = result.name;
  json["photonrail_version"] = version();
  json["seed"] = result.seed;
  json["makespan_s"] = to_seconds(result.makespan);
  json["iteration_s"] = seconds(result.iterations);
  const auto steady = result.steady_iteration();
  json["steady_iteration_s"] = steady ? Json(to_seconds(*steady)) : Json(nullptr);
  json["per_rank_mean_s"] = parts(result.mean_rank_time());
  json["communication"] = communication(result);
  json["reconfigurations"] = reconfigurations(result.reconfigurations);
  json["windows_s"] = windows(result);
  json["warnings"] = result.warnings;
  if (!result.choices.empty()) json["choices"] = result.choices;
  json["engine"] = {{"events", result.engine.events},
                    {"sends", result.engine.sends},
                    {"wall_s", result.engine.wall_s},
                    {"peak_rss_mb", result.engine.peak_rss_mb}};
  json["ranks"] = ranks(result);
  // Warnings may quote names from a trace, which need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace photonrail
