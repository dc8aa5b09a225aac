#include "report/run_json.hpp"

#include "photonrail/workload/training_operators.hpp"
#include "report/explanation.hpp"
#include "report/output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace photonrail::report {

using json::Json;

namespace {

constexpr std::array kProbabilities{0.0, 0.5, 0.9, 0.99, 1.0};

/// The value, where the condition holds: else the key is left out.
template <class Value>
std::optional<Value> where(bool condition, Value value) {
  return condition ? std::optional<Value>(std::move(value)) : std::nullopt;
}

// ---- simulated/controller

std::optional<Duration> above_zero(Duration delay) { return where(delay > Duration{}, delay); }

Json parameters_json(const ControllerSpec& spec) {
  Json json = Json::object();
  for (const auto& [key, value] : spec.parameters.all()) {
    if (const auto* word = std::get_if<std::string>(&value)) json[key] = *word;
    if (const auto* number = std::get_if<double>(&value)) json[key] = *number;
    if (const auto* time = std::get_if<Duration>(&value)) json[key + "_s"] = to_seconds(*time);
  }
  return json;
}

constexpr auto kController = outputs<ControllerSpec>(
    {key<&ControllerSpec::name>("name", "Its name."), key<&ControllerSpec::describe>("policy", "The policy in words."),
     key<[](const ControllerSpec& c) { return above_zero(c.request); }>("request_s", "Of a request, where it is above 0."),
     key<[](const ControllerSpec& c) { return above_zero(c.service); }>("service_s",
                                                                        "Of the service, where it is above 0."),
     key<[](const ControllerSpec& c) { return above_zero(c.command); }>("command_s", "Of a command, where it is above 0."),
     key<[](const ControllerSpec& c) { return above_zero(c.acknowledgement); }>(
         "acknowledgement_s", "Of an acknowledgement, where it is above 0. Parameters that the scenario gives follow."),
     of_shape<parameters_json>("", {}, "")});

// ---- simulated/cluster

bool is_electrical(const RailSpec& rail) { return rail.kind == RailKind::kElectrical; }

constexpr auto kPip = outputs<PipMeshSpec>(
    {key<&PipMeshSpec::rows>("rows", "Of the mesh."), key<&PipMeshSpec::columns>("columns", "Of the mesh."),
     key<&PipMeshSpec::cell_loss_db>("cell_loss_db", "Of a cell."),
     key<&PipMeshSpec::port_loss_db>("port_loss_db", "Of a port."),
     key<&PipMeshSpec::crosstalk_db>("crosstalk_db", "Of a cell.").of_either_sign()});

const char* dark_text(const RailSpec& rail) { return rail.on_dark == OnDark::kPause ? "pause" : "error"; }
const char* layer_text(const RailSpec& rail) {
  return rail.pods.layer == PodSpec::Layer::kOptical ? "optical" : "electrical";
}

constexpr auto kRail = outputs<RailSpec>(
    {key<[](const RailSpec& r) { return is_electrical(r) ? "electrical" : "optical"; }>("kind", "Of switches."),
     key<[](const RailSpec& r) { return where(is_electrical(r), r.switch_radix); }>("radix", "Of an electrical switch."),
     key<[](const RailSpec& r) { return where(is_electrical(r), r.oversubscription); }>("oversubscription",
                                                                                        "Of electrical rails."),
     key<[](const RailSpec& r) { return where(r.fewer_spines, true); }>("fewer_spines",
                                                                        "Where leaves have ports to spare."),
     key<[](const RailSpec& r) { return where(!is_electrical(r), r.optical.name); }>("switch", "Of optical rails."),
     key<[](const RailSpec& r) { return where(!is_electrical(r), r.optical.reconfiguration.typical()); }>(
         "reconfiguration_s", "Of the optical switch; of a distribution its typical value."),
     key<[](const RailSpec& r) { return where(!is_electrical(r), r.optical.settle); }>("settle_s",
                                                                                       "Of the optical switch."),
     key<[](const RailSpec& r) { return where(!is_electrical(r), r.optical.link_up); }>("link_up_s",
                                                                                        "Of links over circuits."),
     key<[](const RailSpec& r) { return where(!is_electrical(r), r.planes); }>("planes", "Optical switches side by side."),
     key<[](const RailSpec& r) { return where(!is_electrical(r), r.forwarding); }>("forwarding",
                                                                                   "Whether sends hop over GPUs."),
     key<[](const RailSpec& r) { return where(!is_electrical(r), dark_text(r)); }>(
         "on_dark", "What a flow does when its circuit goes dark."),
     key<[](const RailSpec& r) { return where(!is_electrical(r) || !r.faults.empty(), r.faults.size()); }>(
         "faults", "How many faults of ports the scenario lists."),
     key<[](const RailSpec& r) {
       return where(r.uplinks.routing != UplinkRouting::kFluid && is_electrical(r), name(r.uplinks.routing));
     }>("routing", "How messages choose uplinks, where it is not `fluid`."),
     object<kPip, [](const RailSpec& r) { return is_electrical(r) ? std::nullopt : r.optical.pip; }>(
         "pip", "The mesh that switches, where it does."),
     key<[](const RailSpec& r) { return where(!is_electrical(r) && r.pods.servers > 0, r.pods.servers); }>(
         "servers_per_pod", "Where there are pods."),
     key<[](const RailSpec& r) { return where(!is_electrical(r) && r.pods.servers > 0, layer_text(r)); }>(
         "pods_joined_by", "`optical` or `electrical` switches, where there are pods.")});

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

constexpr auto kGpusOfModel =
    outputs<GpusOfModel>({key<&GpusOfModel::gpus>("gpus", "How many."),
                          key<[](const GpusOfModel& of) { return of.model->peak_tflops; }>("peak_tflops", "Of one.")});

std::optional<ByName<GpusOfModel>> models_of(const ClusterSpec& cluster) {
  const auto models = other_models(cluster);
  return where(!models.empty(), ByName<GpusOfModel>(models.begin(), models.end()));
}

std::optional<std::size_t> unlike_gpus(const ClusterSpec& cluster) {
  std::size_t unlike = 0;
  for (const UnlikeGpus& some : cluster.unlike) {
    unlike += some.servers.size() * (some.gpus.empty() ? cluster.gpus_per_server : some.gpus.size());
  }
  return where(unlike > 0, unlike);
}

constexpr auto kCluster = outputs<ClusterSpec>(
    {key<&ClusterSpec::servers>("servers", "How many."), key<&ClusterSpec::gpus_per_server>("gpus_per_server", "How many."),
     key<[](const ClusterSpec& c) { return c.gpu.name; }>("gpu", "The model."),
     key<[](const ClusterSpec& c) { return c.gpu.peak_tflops; }>("peak_tflops", "Of a GPU."),
     key<[](const ClusterSpec& c) { return c.gpu.compute_efficiency; }>("compute_efficiency", "The share of the peak."),
     key<[](const ClusterSpec& c) { return c.gpu.memory_gb_per_s; }>("memory_gb_per_s", "Of a GPU."),
     key<[](const ClusterSpec& c) { return c.gpu.memory_gb; }>("memory_gb", "Of a GPU; 0: unknown."),
     key<[](const ClusterSpec& c) { return c.scale_up.per_gpu.bytes_per_second / 1e9; }>("scale_up_gb_per_s", "Of a GPU."),
     key<[](const ClusterSpec& c) { return c.nic.ports; }>("nic_ports", "Of a NIC."),
     key<[](const ClusterSpec& c) { return c.nic.per_port.bytes_per_second / 1e9; }>("nic_port_gb_per_s", "Of a port."),
     key<[](const ClusterSpec& c) { return c.nic.latency; }>("nic_latency_s", "Of a path over NICs."),
     object<kRail, &ClusterSpec::rail>("rail", "The rails."),
     key<[](const ClusterSpec& c) { return where(c.nic.gpus > 1, c.nic.gpus); }>("gpus_per_nic",
                                                                                 "Where GPUs share their NIC."),
     key<unlike_gpus>("unlike_gpus", "How many GPUs differ, where some do."),
     objects_by_name<kGpusOfModel, models_of>("gpu_models", "GPUs of each model, where there are several."),
     key<[](const ClusterSpec& c) {
       return where(c.scale_up.shape.kind != ScaleUpShape::Kind::kCrossbar, shape_of(c.scale_up.shape));
     }>("scale_up_shape", "The ring or torus within servers, where there is one."),
     key<[](const ClusterSpec& c) { return where(!c.scale_up.lines.empty(), c.scale_up.lines.size()); }>(
         "scale_up_protocols", "How many, where some are given."),
     key<[](const ClusterSpec& c) { return where(!c.scale_up.faults.empty(), c.scale_up.faults.size()); }>(
         "scale_up_faults", "How many, where some are given.")});

constexpr auto kSimulated = outputs<RunResult>(
    {object<kController, [](const RunResult& r) { return where(r.jobs.empty(), r.controller); }>(
         "controller", "The controller with delays of the control plane; of several jobs in each of them."),
     object<kCluster, &RunResult::cluster>("cluster", "The cluster as simulated, after all overrides."),
     key<[](const RunResult& r) { return r.ranks.size(); }>("ranks", "How many."),
     key<[](const RunResult& r) { return r.source.overrides; }>("overrides", "`pointer=value`, in order."),
     key<[](const RunResult& r) { return where(!r.source.hash.empty(), r.source.hash); }>(
         "scenario_hash", "The hash of a [point of a sweep](sweep.md#sweep-results), where the scenario is from a file.")});

// ---- Training jobs

constexpr std::size_t kCostliest = 10;

ByName<ByName<double>> seconds_of_classes(const OperatorUsage& usage) {
  ByName<ByName<double>> classes;
  for (int c = 0; c < kOperatorClassCount; ++c) {
    ByName<double> by_source;
    for (const OperatorSource source : kOperatorSources) {
      const double seconds = usage.seconds(static_cast<OperatorClass>(c), source);
      if (seconds > 0.0) by_source.emplace_back(to_string(source), seconds);
    }
    if (!by_source.empty()) classes.emplace_back(name(static_cast<OperatorClass>(c)), std::move(by_source));
  }
  return classes;
}

std::vector<OperatorUse> costliest_of(const OperatorUsage& usage) {
  const std::size_t count = std::min(kCostliest, usage.operators.size());
  return {usage.operators.begin(), usage.operators.begin() + static_cast<std::ptrdiff_t>(count)};
}

constexpr auto kOperatorUse = outputs<OperatorUse>(
    {key<&OperatorUse::name>("name", "With sizes and type."),
     key<[](const OperatorUse& use) { return name(use.kind); }>("class", "Of operators."),
     key<[](const OperatorUse& use) { return to_string(use.source); }>("source", "Where its time is from."),
     key<&OperatorUse::times>("times", "How often it ran."),
     key<&OperatorUse::seconds>("seconds", "Of GPU time, all together.")});

constexpr auto kOperators = outputs<OperatorUsage>(
    {key<seconds_of_classes>("seconds", "GPU time of all computations by class of operators and source of their times."),
     objects<kOperatorUse, costliest_of>("costliest", "The ten operators that take most of it.")});

constexpr auto kStageMemory = outputs<StageMemory>(
    {key<&StageMemory::parameters>("parameters", "Bytes."), key<&StageMemory::gradients>("gradients", "Bytes."),
     key<&StageMemory::optimizer>("optimizer", "Bytes."), key<&StageMemory::activations>("activations", "Bytes."),
     key<&StageMemory::total>("total", "Bytes.")});

std::optional<Json> operators_json(const RunResult& result) {
  if (!result.work || !result.work->operators) return std::nullopt;
  return written<kOperators>(*result.work->operators);
}

constexpr auto kTraining = outputs<RunResult>(
    {part<operators_json>("operators", kKeysOf<kOperators>, "Of a generated training job whose operators have models."),
     key<&RunResult::tokens_per_s>("tokens_per_s", "Of a generated training job, by its steady step, or the only one."),
     key<&RunResult::mfu>("mfu",
                          "[Model FLOPs](../models/training.md) over those of the GPUs at their peak, by the same step."),
     key<[](const RunResult& r) { return r.work ? std::optional(r.work->flops) : std::nullopt; }>("model_flops",
                                                                                                  "Of the model, a step."),
     key<&RunResult::peak_memory_bytes>("peak_memory_bytes", "Of a generated training job: of the fullest GPU."),
     objects<kStageMemory, [](const RunResult& r) { return where(!r.memory.empty(), r.memory); }>(
         "stage_memory_bytes", "The same by pipeline stage.")});

// ---- Commands, capacities, notes

std::string word(const std::optional<Dimension>& d) { return d ? std::string(name(*d)) : "none"; }

using Change = std::pair<DimensionChange, CommandTotals>;
constexpr auto kChange =
    outputs<Change>({key<[](const Change& c) { return word(c.first.first); }>(
                         "before", "The dimension of the operation that got circuits last on the rail, or `none`."),
                     key<[](const Change& c) { return word(c.first.second); }>(
                         "after", "That of the first request that the command serves, or `none`."),
                     key<[](const Change& c) { return c.second.count; }>("count", "Commands."),
                     key<[](const Change& c) { return c.second.circuits; }>("circuits", "That they set up."),
                     key<[](const Change& c) { return c.second.total; }>("total_s", "Of these commands."),
                     key<[](const Change& c) { return c.second.exposed; }>(
                         "exposed_s", "Its part in which a rank had nothing else to do.")});

constexpr auto kBlocking = outputs<BlockingSummary>(
    {key<&BlockingSummary::waited>("waited", "Circuits that had no room when a controller wanted them."),
     key<&BlockingSummary::displaced>("displaced", "Circuits that made room for others."),
     key<&BlockingSummary::cells>("cells", "Of the longest way of light."),
     key<&BlockingSummary::loss_db>("loss_db", "Of the longest way of light.")});

std::optional<double> circuits_per_command(const ReconfigurationSummary& summary) {
  return where(summary.count > 0, static_cast<double>(summary.circuits) / static_cast<double>(summary.count));
}

constexpr auto kReconfigurations = outputs<ReconfigurationSummary>(
    {key<&ReconfigurationSummary::count>("count", "Commands that changed a circuit."),
     key<&ReconfigurationSummary::per_rail>("per_rail", "The same in the order of rails."),
     key<&ReconfigurationSummary::dark_port>("dark_port_s", "Time in switching, summed over transmit ports."),
     key<&ReconfigurationSummary::critical_path>("critical_path",
                                                 "How many stand one after another on the path that ends the run."),
     key<&ReconfigurationSummary::total>("total_s", "Of all commands."),
     key<&ReconfigurationSummary::exposed>("exposed_s", "Its part in which a rank had nothing else to do."),
     key<[](const ReconfigurationSummary& s) { return OrNull<double>{s.hidden_share()}; }>(
         "hidden_share", "1 - exposed / total; null where there was nothing to hide, as on electrical rails."),
     key<&ReconfigurationSummary::circuits>("circuits", "That commands set up."),
     key<[](const ReconfigurationSummary& s) { return OrNull<double>{circuits_per_command(s)}; }>("circuits_per_command",
                                                                                                  "Null without commands."),
     objects<kChange,
             [](const ReconfigurationSummary& s) { return std::vector<Change>(s.by_change.begin(), s.by_change.end()); }>(
         "by_change", "Commands by what they changed between."),
     object<kBlocking, &ReconfigurationSummary::blocking>(
         "blocking",
         "Where the switch is a [mesh](../models/pipswitch.md); of several jobs the sums, and the longest way of all.")});

using Uplink = Utilisation::Uplink;
constexpr auto kUplink = outputs<Uplink>(
    {key<[](const Uplink& u) { return u.rail.value; }>("rail", "Its number."), key<&Uplink::leaf>("leaf", "Its number."),
     key<&Uplink::uplink>("uplink", "Its number."), key<&Uplink::busy>("busy", "Of its busier direction."),
     key<&Uplink::up>("bytes_up", "From the leaf."), key<&Uplink::down>("bytes_down", "To the leaf.")});

using SiteLinkUse = Utilisation::Link;
constexpr auto kSiteLink = outputs<SiteLinkUse>(
    {key<&SiteLinkUse::from>("from", "The site."), key<&SiteLinkUse::to>("to", "The site."),
     key<&SiteLinkUse::busy>("busy", "In this direction."), key<&SiteLinkUse::bytes>("bytes", "In this direction.")});

std::optional<std::vector<Uplink>> single_uplinks(const Utilisation& u) {
  return u.uplinks && !u.uplinks->single.empty() ? std::optional(u.uplinks->single) : std::nullopt;
}

constexpr auto kUtilisation = outputs<Utilisation>(
    {key<&Utilisation::rail_ports>("rail_ports", "The share of what the NICs of the job's GPUs could send in the run."),
     key<&Utilisation::scale_up>("scale_up", "The same of their scale-up ports."),
     key<&Utilisation::switching>("switching",
                                  "The share of the time of their transmit ports in which a switch re-points them."),
     key<[](const Utilisation& u) { return where(u.switching > 0.0, u.circuits()); }>("circuits",
                                                                                      "Of the rest, in which they send."),
     objects<kSiteLink, [](const Utilisation& u) { return where(!u.site_links.empty(), u.site_links); }>(
         "site_links", "Of several sites, each direction of each link."),
     key<[](const Utilisation& u) { return u.uplinks ? std::optional(u.uplinks->mean) : std::nullopt; }>(
         "uplinks", "Of uplinks of leaves or pods with GPUs of the job, where there are some: the mean."),
     key<[](const Utilisation& u) { return u.uplinks ? std::optional(u.uplinks->busiest) : std::nullopt; }>(
         "busiest_uplink", "The busiest of them."),
     objects<kUplink, single_uplinks>("single_uplinks",
                                      "With a `routing` other than `fluid`: at most 64, the busiest first.")});

constexpr auto kNote =
    outputs<Note>({key<&Note::id>("id", "The same for every result."),
                   key<&Note::key>("key", "JSON pointer of the setting, or an empty text."),
                   key<&Note::text>("text", "A sentence."), key<&Note::value>("value", "Its number.").of_either_sign()});

struct PartOfPath {
  PathPart part;
  double share = 0.0;
};
constexpr auto kPathPart = outputs<PartOfPath>(
    {key<[](const PartOfPath& p) { return p.part.label(); }>("part", "What the path did there."),
     key<[](const PartOfPath& p) { return p.part.time; }>("time_s", "Of all its stretches."),
     key<&PartOfPath::share>("share", "Of the path."),
     key<[](const PartOfPath& p) { return p.part.stretches; }>("stretches", "How many."),
     key<[](const PartOfPath& p) { return p.part.dimension ? std::optional(name(*p.part.dimension)) : std::nullopt; }>(
         "dimension", "Of operations."),
     key<[](const PartOfPath& p) { return p.part.place ? std::optional(name(*p.part.place)) : std::nullopt; }>(
         "place", "What holds its bytes up.")});

std::vector<PartOfPath> parts_of_path(const CriticalPath& path) {
  const double whole = std::max(to_seconds(path.total()), 1e-12);
  std::vector<PartOfPath> parts;
  for (const PathPart& part : path.parts) parts.push_back({part, to_seconds(part.time) / whole});
  return parts;
}

using Busiest = CriticalPath::Busiest;
constexpr auto kBusiest =
    outputs<Busiest>({key<&Busiest::name>("name", "Which capacity."),
                      key<[](const Busiest& b) { return name(b.place); }>("place", "Its kind."),
                      key<&Busiest::utilisation>("utilisation", "Of its rate, while operations on the path use it."),
                      key<&Busiest::time>("time_s", "Of those operations on the path.")});

ByName<Duration> named_waits(const CriticalPath& path) {
  ByName<Duration> waits;
  for (const auto& [cause, time] : waits_of(path)) waits.emplace_back(name(cause), time);
  return waits;
}

constexpr auto kPath = outputs<CriticalPath>(
    {objects<kPathPart, parts_of_path>("parts", "The longest first; their times add up to the makespan."),
     object<kBusiest, &CriticalPath::busiest>("busiest", "The busiest capacity of operations on the path."),
     key<named_waits>("peer_wait_s", "Waits for peers by cause, mean of ranks.")});

// ---- Quantiles

struct Quantiles {
  std::uint64_t count = 0;
  std::vector<double> seconds{};
};
constexpr auto kQuantiles = outputs<Quantiles>(
    {key<&Quantiles::count>("count", "How many."), key<&Quantiles::seconds>("quantiles", "In seconds.")});

ByName<Quantiles> quantiles_of(const std::map<Dimension, DurationHistogram>& by_dimension) {
  ByName<Quantiles> all;
  for (const auto& [dimension, histogram] : by_dimension) {
    if (histogram.count() == 0) continue;
    Quantiles of{histogram.count()};
    for (const double p : kProbabilities) of.seconds.push_back(to_seconds(histogram.quantile(p)));
    all.emplace_back(name(dimension), std::move(of));
  }
  return all;
}

constexpr auto kAllQuantiles = outputs<RunResult>(
    {key<[](const RunResult& /*r*/) { return std::vector<double>(kProbabilities.begin(), kProbabilities.end()); }>(
         "probabilities", "Of the quantiles below."),
     objects_by_name<kQuantiles, [](const RunResult& r) { return quantiles_of(r.operation_times); }>(
         "operation",
         "How long operations took, with their waits for circuits, by dimension; up to 1.6 % too long, the ends exact."),
     objects_by_name<kQuantiles, [](const RunResult& r) { return quantiles_of(r.circuit_waits); }>(
         "circuit_wait", "How long ranks waited for circuits, likewise.")});

}  // namespace

const fields::Section kSimulatedKeys = kKeysOf<kSimulated>;
const fields::Section kTrainingKeys = kKeysOf<kTraining>;
const fields::Section kReconfigurationKeys = kKeysOf<kReconfigurations>;
const fields::Section kUtilisationKeys = kKeysOf<kUtilisation>;
const fields::Section kNoteKeys = kKeysOf<kNote>;
const fields::Section kPathKeys = kKeysOf<kPath>;
const fields::Section kQuantileKeys = kKeysOf<kAllQuantiles>;

Json simulated_json(const RunResult& result) { return written<kSimulated>(result); }
Json training_json(const RunResult& result) { return written<kTraining>(result); }
Json reconfigurations_json(const ReconfigurationSummary& summary) { return written<kReconfigurations>(summary); }
Json utilisation_json(const Utilisation& utilisation) { return written<kUtilisation>(utilisation); }
Json notes_json(std::span<const Note> notes) { return ObjectOf<kNote>::all(notes); }
Json path_json(const CriticalPath& path) { return written<kPath>(path); }
Json quantiles_json(const RunResult& result) { return written<kAllQuantiles>(result); }

std::uint64_t commands_for(const RunResult& result, std::size_t dimension) {
  std::uint64_t commands = 0;
  for (const auto& [change, totals] : result.reconfigurations.by_change) {
    if (change.second && static_cast<std::size_t>(*change.second) == dimension) commands += totals.count;
  }
  return commands;
}

}  // namespace photonrail::report
