#include "report/run_json.hpp"

#include "photonrail/workload/training_operators.hpp"
#include "report/explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <variant>

namespace photonrail::report {

using json::Json;

namespace {

constexpr std::array kProbabilities{0.0, 0.5, 0.9, 0.99, 1.0};

Json controller_json(const ControllerSpec& spec) {
  Json json = {{"name", spec.name}, {"policy", spec.describe()}};
  for (const auto& [key, delay] :
       {std::pair{"request_s", spec.request}, std::pair{"service_s", spec.service}, std::pair{"command_s", spec.command},
        std::pair{"acknowledgement_s", spec.acknowledgement}}) {
    if (delay > Duration{}) json[key] = to_seconds(delay);
  }
  for (const auto& [key, value] : spec.parameters.all()) {
    if (const auto* word = std::get_if<std::string>(&value)) json[key] = *word;
    if (const auto* number = std::get_if<double>(&value)) json[key] = *number;
    if (const auto* time = std::get_if<Duration>(&value)) json[key + "_s"] = to_seconds(*time);
  }
  return json;
}

Json rail_json(const RailSpec& rail) {
  if (rail.kind == RailKind::kElectrical) {
    Json json{{"kind", "electrical"}, {"radix", rail.switch_radix}, {"oversubscription", rail.oversubscription}};
    if (!rail.faults.empty()) json["faults"] = rail.faults.size();
    if (rail.uplinks.routing != UplinkRouting::kFluid) json["routing"] = name(rail.uplinks.routing);
    return json;
  }
  Json json{{"kind", "optical"},
            {"switch", rail.optical.name},
            {"reconfiguration_s", to_seconds(rail.optical.reconfiguration.typical())},
            {"settle_s", to_seconds(rail.optical.settle)},
            {"link_up_s", to_seconds(rail.optical.link_up)},
            {"planes", rail.planes},
            {"forwarding", rail.forwarding},
            {"on_dark", rail.on_dark == OnDark::kPause ? "pause" : "error"},
            {"faults", rail.faults.size()}};
  if (const auto& pip = rail.optical.pip) {
    json["pip"] = {{"rows", pip->rows},
                   {"columns", pip->columns},
                   {"cell_loss_db", pip->cell_loss_db},
                   {"port_loss_db", pip->port_loss_db},
                   {"crosstalk_db", pip->crosstalk_db}};
  }
  if (rail.pods.servers > 0) {
    json["servers_per_pod"] = rail.pods.servers;
    json["pods_joined_by"] = rail.pods.layer == PodSpec::Layer::kOptical ? "optical" : "electrical";
  }
  return json;
}

std::string shape_of(const ScaleUpShape& shape) {
  if (shape.kind == ScaleUpShape::Kind::kRing) return "ring";
  std::string sides;
  for (const std::uint32_t side : shape.sides) sides += (sides.empty() ? "" : "x") + std::to_string(side);
  return (shape.twisted ? "twisted torus " : "torus ") + sides;
}

struct GpusOfModel {
  const GpuSpec* model = nullptr;
  std::size_t gpus = 0;
};

// They are by name, where there are several.
std::map<std::string, GpusOfModel> other_models(const ClusterSpec& cluster) {
  std::map<std::string, GpusOfModel> models;
  if (!cluster.has_other_models()) return models;
  for (const std::uint32_t number : cluster.unlike_of_gpus()) {
    const GpuSpec& gpu = cluster.gpu_model(number);
    GpusOfModel& of = models[gpu.name];
    if (of.model == nullptr) of.model = &gpu;
    ++of.gpus;
  }
  return models;
}

// What most clusters do not have is there where it is.
void add_peculiarities(const ClusterSpec& cluster, Json& json) {
  if (cluster.nic.gpus > 1) json["gpus_per_nic"] = cluster.nic.gpus;
  std::size_t unlike = 0;
  for (const UnlikeGpus& some : cluster.unlike) {
    unlike += some.servers.size() * (some.gpus.empty() ? cluster.gpus_per_server : some.gpus.size());
  }
  if (unlike > 0) json["unlike_gpus"] = unlike;
  for (const auto& [name, of] : other_models(cluster)) {
    json["gpu_models"][name] = {{"gpus", of.gpus}, {"peak_tflops", of.model->peak_tflops}};
  }
  const ScaleUpSpec& inside = cluster.scale_up;
  if (inside.shape.kind != ScaleUpShape::Kind::kCrossbar) json["scale_up_shape"] = shape_of(inside.shape);
  if (!inside.lines.empty()) json["scale_up_protocols"] = inside.lines.size();
  if (!inside.faults.empty()) json["scale_up_faults"] = inside.faults.size();
}

Json cluster_json(const ClusterSpec& cluster) {
  const GpuSpec& gpu = cluster.gpu;
  Json json{{"servers", cluster.servers},
            {"gpus_per_server", cluster.gpus_per_server},
            {"gpu", gpu.name},
            {"peak_tflops", gpu.peak_tflops},
            {"compute_efficiency", gpu.compute_efficiency},
            {"memory_gb_per_s", gpu.memory_gb_per_s},
            {"memory_gb", gpu.memory_gb},
            {"scale_up_gb_per_s", cluster.scale_up.per_gpu.bytes_per_second / 1e9},
            {"nic_ports", cluster.nic.ports},
            {"nic_port_gb_per_s", cluster.nic.per_port.bytes_per_second / 1e9},
            {"nic_latency_s", to_seconds(cluster.nic.latency)},
            {"rail", rail_json(cluster.rail)}};
  add_peculiarities(cluster, json);
  return json;
}

std::string word(const std::optional<Dimension>& d) { return d ? std::string(name(*d)) : "none"; }

Json quantiles_of(const std::map<Dimension, DurationHistogram>& by_dimension) {
  Json json = Json::object();
  for (const auto& [dimension, histogram] : by_dimension) {
    if (histogram.count() == 0) continue;
    Json list = Json::array();
    for (const double p : kProbabilities) list.push_back(to_seconds(histogram.quantile(p)));
    json[std::string(name(dimension))] = {{"count", histogram.count()}, {"quantiles", std::move(list)}};
  }
  return json;
}

}  // namespace

Json simulated_json(const RunResult& result) {
  Json json;
  if (result.jobs.empty()) json["controller"] = controller_json(result.controller);
  json["cluster"] = cluster_json(result.cluster);
  json["ranks"] = result.ranks.size();
  json["overrides"] = result.source.overrides;
  if (!result.source.hash.empty()) json["scenario_hash"] = result.source.hash;
  return json;
}

namespace {

constexpr std::size_t kCostliest = 10;

/// Of the GPU time of all computations: seconds by class and source, and the operators that take most of it.
Json operators_json(const OperatorUsage& usage) {
  Json json = Json::object();
  Json& classes = json["seconds"] = Json::object();
  for (int c = 0; c < kOperatorClassCount; ++c) {
    Json by_source = Json::object();
    for (const OperatorSource source : kOperatorSources) {
      const double seconds = usage.seconds(static_cast<OperatorClass>(c), source);
      if (seconds > 0.0) by_source[std::string(to_string(source))] = seconds;
    }
    if (!by_source.members().empty()) classes[std::string(name(static_cast<OperatorClass>(c)))] = std::move(by_source);
  }
  Json& costliest = json["costliest"] = Json::array();
  for (std::size_t i = 0; i < std::min(kCostliest, usage.operators.size()); ++i) {
    const OperatorUse& use = usage.operators[i];
    costliest.push_back({{"name", use.name},
                         {"class", std::string(name(use.kind))},
                         {"source", std::string(to_string(use.source))},
                         {"times", use.times},
                         {"seconds", use.seconds}});
  }
  return json;
}

}  // namespace

void add_training(const RunResult& result, Json& entry) {
  if (result.work && result.work->operators) entry["operators"] = operators_json(*result.work->operators);
  if (const auto tokens = result.tokens_per_s()) entry["tokens_per_s"] = *tokens;
  if (const auto mfu = result.mfu()) entry["mfu"] = *mfu;
  if (result.work) entry["model_flops"] = result.work->flops;
  if (const auto bytes = result.peak_memory_bytes()) entry["peak_memory_bytes"] = *bytes;
  if (result.memory.empty()) return;
  Json& stages = entry["stage_memory_bytes"] = Json::array();
  for (const StageMemory& m : result.memory) {
    stages.push_back({{"parameters", m.parameters},
                      {"gradients", m.gradients},
                      {"optimizer", m.optimizer},
                      {"activations", m.activations},
                      {"total", m.total()}});
  }
}

Json changes_json(const ReconfigurationSummary& summary) {
  Json list = Json::array();
  for (const auto& [change, totals] : summary.by_change) {
    list.push_back({{"before", word(change.first)},
                    {"after", word(change.second)},
                    {"count", totals.count},
                    {"circuits", totals.circuits},
                    {"total_s", to_seconds(totals.total)},
                    {"exposed_s", to_seconds(totals.exposed)}});
  }
  return list;
}

std::uint64_t commands_for(const RunResult& result, std::size_t dimension) {
  std::uint64_t commands = 0;
  for (const auto& [change, totals] : result.reconfigurations.by_change) {
    if (change.second && static_cast<std::size_t>(*change.second) == dimension) commands += totals.count;
  }
  return commands;
}

Json utilisation_json(const Utilisation& utilisation) {
  Json json{
      {"rail_ports", utilisation.rail_ports}, {"scale_up", utilisation.scale_up}, {"switching", utilisation.switching}};
  if (utilisation.switching > 0.0) json["circuits"] = utilisation.circuits();
  for (const Utilisation::Link& link : utilisation.site_links) {
    json["site_links"].push_back({{"from", link.from}, {"to", link.to}, {"busy", link.busy}, {"bytes", link.bytes.count}});
  }
  if (utilisation.uplinks) {
    json["uplinks"] = utilisation.uplinks->mean;
    json["busiest_uplink"] = utilisation.uplinks->busiest;
    for (const Utilisation::Uplink& uplink : utilisation.uplinks->single) {
      json["single_uplinks"].push_back({{"rail", uplink.rail.value},
                                        {"leaf", uplink.leaf},
                                        {"uplink", uplink.uplink},
                                        {"busy", uplink.busy},
                                        {"bytes_up", uplink.up.count},
                                        {"bytes_down", uplink.down.count}});
    }
  }
  return json;
}

Json notes_json(std::span<const Note> notes) {
  Json list = Json::array();
  for (const Note& note : notes) {
    list.push_back({{"id", note.id}, {"key", note.key}, {"text", note.text}, {"value", note.value}});
  }
  return list;
}

Json path_json(const CriticalPath& path) {
  const double whole = std::max(to_seconds(path.total()), 1e-12);
  Json parts = Json::array();
  for (const PathPart& part : path.parts) {
    Json& entry = parts.push_back(Json{{"part", part.label()},
                                       {"time_s", to_seconds(part.time)},
                                       {"share", to_seconds(part.time) / whole},
                                       {"stretches", part.stretches}});
    if (part.dimension) entry["dimension"] = std::string(name(*part.dimension));
    if (part.place) entry["place"] = std::string(name(*part.place));
  }
  Json json{{"parts", std::move(parts)}};
  if (path.busiest) {
    json["busiest"] = {{"name", path.busiest->name},
                       {"place", std::string(name(path.busiest->place))},
                       {"utilisation", path.busiest->utilisation},
                       {"time_s", to_seconds(path.busiest->time)}};
  }
  Json waits = Json::object();
  for (const auto& [cause, time] : waits_of(path)) waits[std::string(name(cause))] = to_seconds(time);
  json["peer_wait_s"] = std::move(waits);
  return json;
}

Json quantiles_json(const RunResult& result) {
  Json probabilities = Json::array();
  for (const double p : kProbabilities) probabilities.push_back(p);
  return {{"probabilities", std::move(probabilities)},
          {"operation", quantiles_of(result.operation_times)},
          {"circuit_wait", quantiles_of(result.circuit_waits)}};
}

}  // namespace photonrail::report
