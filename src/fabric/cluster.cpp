#include "photonrail/cluster.hpp"

#include "core/counted.hpp"
#include "core/field.hpp"
#include "core/printed.hpp"
#include "fabric/mesh_routes.hpp"
#include "fabric/tier_checks.hpp"
#include "topology/plant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>

namespace photonrail {

using topology::CapacityId;
using topology::Plant;

namespace {

using core::Field;
using core::field;
using core::FieldError;

std::string text(double value) { return core::printed("%g", value); }

void require_count(std::uint32_t value, const Field& where) { require(value > 0, where, "must be 1 or more, not 0"); }

void require_rate(double value, const Field& where) {
  if (value > 0.0 && std::isfinite(value)) return;  // before the text is made, which takes longer
  throw FieldError(where, "must be a finite number above 0, not " + text(value));
}

void require_amount(double value, const Field& where) {
  if (value >= 0.0 && std::isfinite(value)) return;
  throw FieldError(where, "must be a finite number of 0 or more, not " + text(value));
}

void require_duration(Duration value, const Field& where) {
  if (value >= Duration{}) return;
  throw FieldError(where, "must not be negative, and is " + text(to_seconds(value)) + " s");
}

void require_delay(const DelayDistribution& delay, const Field& where) {
  using Kind = DelayDistribution::Kind;
  require_duration(delay.a, where);
  require_duration(delay.b, where);
  if (delay.kind == Kind::kUniform) {
    require(delay.a <= delay.b, where, "the greatest delay is less than the least",
            "from " + text(to_seconds(delay.b)) + " s to " + text(to_seconds(delay.a)) + " s?");
  }
  if (delay.kind == Kind::kEmpirical) {
    require(!delay.samples.empty(), where, "has no samples");
    for (const Duration sample : delay.samples) require_duration(sample, where);
  }
  if (delay.kind == Kind::kLogNormal) {
    // At 2, one draw in a hundred is a hundred times the median: exp(2 x 2.33) = 105.
    require(delay.sigma >= 0.0 && delay.sigma <= DelayDistribution::kMaxSigma, where,
            "the deviation of the logarithm must be from 0 to " + text(DelayDistribution::kMaxSigma) + ", not " +
                text(delay.sigma));
  }
}

void require_size(const ClusterSpec& cluster) {
  require_count(cluster.servers, field("servers"));
  require_count(cluster.gpus_per_server, field("gpus_per_server"));
  require_count(cluster.nic.ports, field("nic.ports"));
  const std::uint64_t gpus = std::uint64_t{cluster.servers} * cluster.gpus_per_server;
  constexpr std::uint64_t kMaxGpus = std::uint64_t{1} << 31;
  require(gpus <= kMaxGpus, field("servers"),
          core::counted(cluster.servers, "server") + " of " + core::counted(cluster.gpus_per_server, "GPU") +
              " are more than the 2^31 GPUs that can be numbered",
          "at most " + std::to_string(kMaxGpus / cluster.gpus_per_server) + " servers of this size");
}

void require_numbered(const ClusterSpec& cluster) {
  require(Plant::count(cluster.plant()) <= std::numeric_limits<CapacityId>::max(), field("nic.ports"),
          core::counted(cluster.gpus(), "GPU") + " of " + core::counted(cluster.nic.ports, "NIC port") +
              " have more links than the 2^32 that can be numbered",
          "fewer NIC ports or fewer servers");
  const std::uint64_t ports = std::uint64_t{cluster.servers} * cluster.nic.ports;
  require(cluster.rail.kind != RailKind::kOptical || ports <= kMaxRailPorts, field("servers"),
          core::counted(cluster.servers, "server") + " of " + core::counted(cluster.nic.ports, "NIC port") +
              " a GPU have more ports on an optical rail than the 2^24 that can be numbered",
          "fewer NIC ports or fewer servers");
}

void require_gpu(const GpuSpec& gpu) {
  require_rate(gpu.peak_tflops, field("gpu.peak_tflops"));
  require_rate(gpu.memory_gb_per_s, field("gpu.memory_gb_per_s"));
  require_amount(gpu.memory_gb, field("gpu.memory_gb"));
  require(gpu.compute_efficiency > 0.0 && gpu.compute_efficiency <= 1.0, field("gpu.compute_efficiency"),
          "must be above 0 and at most 1, not " + text(gpu.compute_efficiency), "0.5 is half of the peak");
}

void require_link_faults(const ClusterSpec& cluster) {
  const std::vector<ScaleUpFault>& faults = cluster.scale_up.faults;
  if (faults.empty()) return;
  require(!cluster.scale_up.shape.crossbar(), field("scale_up.faults"), "a crossbar has no links between GPUs",
          "give {scale_up.shape} a torus or a ring");
  const topology::LinkGrid grid(cluster.scale_up.shape, cluster.gpus_per_server);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const ScaleUpFault& fault = faults[i];
    require(!fault.server || *fault.server < cluster.servers, field("scale_up.faults[].server", i),
            "there are " + core::counted(cluster.servers, "server") + ", numbered from 0");
    if (const auto wrong = grid.problem(fault)) throw FieldError(field(wrong->field, i), wrong->text, wrong->hint);
    require(fault.rate >= 0.0 && fault.rate < 1.0, field("scale_up.faults[].rate", i),
            "must be a share from 0 to below 1, not " + text(fault.rate));
    require_duration(fault.at.since_start(), field("scale_up.faults[].at", i));
    require_duration(fault.lasts.value_or(Duration{}), field("scale_up.faults[].lasts", i));
  }
}

void require_lines(const ScaleUpSpec& scale_up) {
  require(scale_up.lines.empty() || scale_up.shape.crossbar(), field("scale_up.lines"),
          "are of messages through a switch: the links of a torus or a ring have one latency", "remove them");
  for (std::size_t i = 0; i < scale_up.lines.size(); ++i) {
    const ScaleUpLine& line = scale_up.lines[i];
    require_duration(line.step, field("scale_up.lines[].step", i));
    require_rate(line.rate.bytes_per_second / 1e9, field("scale_up.lines[].rate", i));
    require(line.rate.bytes_per_second <= scale_up.per_gpu.bytes_per_second * (1.0 + 1e-9),
            field("scale_up.lines[].rate", i), "is above the port's own rate", "at most {scale_up.per_gpu}");
  }
}

void require_scale_up(const ClusterSpec& cluster) {
  require_duration(cluster.scale_up.latency, field("scale_up.latency"));
  require_duration(cluster.scale_up.face_latency, field("scale_up.face_latency"));
  constexpr std::uint32_t kMaxLinked = 1U << 18;
  const bool crossbar = cluster.scale_up.shape.crossbar();
  require(crossbar || cluster.gpus() <= kMaxLinked, field("scale_up.shape"),
          core::counted(cluster.gpus(), "GPU") + " are more than the " + std::to_string(kMaxLinked) +
              " whose links are simulated one by one",
          "fewer {servers}, or a crossbar");
  const auto wrong = topology::LinkGrid::problem(cluster.scale_up.shape, cluster.gpus_per_server);
  if (wrong) throw FieldError(field(wrong->field), wrong->text, wrong->hint);
  require_link_faults(cluster);
  require_lines(cluster.scale_up);
}

void require_shared_nics(const ClusterSpec& cluster) {
  const std::uint32_t gpus = cluster.nic.gpus;
  require_count(gpus, field("nic.gpus"));
  require(cluster.gpus_per_server % gpus == 0, field("nic.gpus"),
          core::counted(gpus, "GPU") + " a NIC do not divide the " + core::counted(cluster.gpus_per_server, "GPU") +
              " of a server",
          "a divisor of {gpus_per_server}");
  require(gpus == 1 || cluster.rail.kind == RailKind::kElectrical, field("nic.gpus"),
          "circuits end at the ports of one GPU", "electrical rails, or 1");
}

void require_unlike(const ClusterSpec& cluster) {
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < cluster.unlike.size(); ++i) {
    const UnlikeGpus& unlike = cluster.unlike[i];
    require(unlike.speed >= 1e-3 && unlike.speed <= 1e3, field("unlike[].speed", i),
            "must be from 0.001 to 1000, not " + text(unlike.speed), "0.5 takes twice as long");
    require_amount(unlike.memory_gb, field("unlike[].memory_gb", i));
    if (unlike.gpu) core::check_member(field("unlike[]", i), [&] { require_gpu(*unlike.gpu); });
    require(!unlike.servers.empty(), field("unlike[].servers", i), "names no server");
    std::vector<std::uint32_t> locals = unlike.gpus;
    if (locals.empty()) locals.resize(cluster.gpus_per_server);
    if (unlike.gpus.empty()) std::iota(locals.begin(), locals.end(), 0U);
    for (const std::uint32_t server : unlike.servers) {
      require(server < cluster.servers, field("unlike[].servers", i),
              "there are " + core::counted(cluster.servers, "server") + ", numbered from 0");
      for (const std::uint32_t local : locals) {
        require(local < cluster.gpus_per_server, field("unlike[].gpus", i),
                "a server has " + core::counted(cluster.gpus_per_server, "GPU") + ", numbered from 0");
        require(seen.insert(std::uint64_t{server} << 32 | local).second, field("unlike[].servers", i),
                "GPU " + std::to_string(local) + " of server " + std::to_string(server) + " is named twice");
      }
    }
  }
}

void require_electrical(const RailSpec& rail) {
  require(rail.switch_radix >= 2, field("rail.switch_radix"),
          "a switch of " + std::to_string(rail.switch_radix) + " ports joins nothing", "2 or more");
  require(rail.oversubscription >= 1.0 && std::isfinite(rail.oversubscription), field("rail.oversubscription"),
          "must be a finite number of 1 or more, not " + text(rail.oversubscription), "2 is half the bandwidth up");
  require_duration(rail.tier_latency, field("rail.tier_latency"));
  fabric::require_uplinks(rail);
}

void require_switch(const OpticalSwitchSpec& ocs) {
  require_delay(ocs.reconfiguration, field("rail.optical.reconfiguration"));
  require_duration(ocs.settle, field("rail.optical.settle"));
  require_duration(ocs.link_up, field("rail.optical.link_up"));
  require_duration(ocs.batching, field("rail.optical.batching"));
  require_duration(ocs.command_gap, field("rail.optical.command_gap"));
  require_amount(ocs.insertion_loss_db, field("rail.optical.insertion_loss_db"));
  require_amount(ocs.power_w, field("rail.optical.power_w"));
  require_amount(ocs.usd_per_port, field("rail.optical.usd_per_port"));
}

void require_layers(const ClusterSpec& cluster) {
  const RailSpec& rail = cluster.rail;
  require_count(rail.planes, field("rail.planes"));
  require(
      cluster.nic.ports % rail.planes == 0, field("rail.planes"),
      core::counted(cluster.nic.ports, "NIC port") + " cannot spread evenly over " + core::counted(rail.planes, "plane"),
      "every plane has the same ports of a NIC: planes that divide {nic.ports}");
  if (rail.pods.servers == 0) return;
  require(rail.pods.servers < cluster.servers, field("rail.pods.servers"),
          "a pod of " + std::to_string(rail.pods.servers) + " servers holds all " + std::to_string(cluster.servers),
          "leave \"pods\" out");
  require(rail.pods.oversubscription >= 1.0 && std::isfinite(rail.pods.oversubscription),
          field("rail.pods.oversubscription"),
          "must be a finite number of 1 or more, not " + text(rail.pods.oversubscription));
  require(rail.pods.layer == PodSpec::Layer::kElectrical || rail.pods.oversubscription == 1.0,
          field("rail.pods.oversubscription"), "circuits between pods cannot be shared", "1 with an optical layer");
  require_duration(rail.pods.latency, field("rail.pods.latency"));
}

// A NIC port takes two ports of its switch, and so does an uplink, of which a pod has as many.
void require_ports(const ClusterSpec& cluster) {
  const RailSpec& rail = cluster.rail;
  const std::uint64_t ports = rail.optical.ports;
  if (ports == 0) return;  // as many as the rail needs
  const bool pods = rail.pods.servers > 0;
  const std::uint64_t servers = pods ? rail.pods.servers : cluster.servers;
  const std::uint64_t each = (pods ? 4 : 2) * std::uint64_t{cluster.nic.ports / rail.planes};
  const std::string of_plane = rail.planes == 1 ? "" : " on each of " + core::counted(rail.planes, "plane");
  require(ports >= servers * each, field("rail.optical.ports"),
          "the switch has " + core::counted(ports, "port") + ", and a " + (pods ? "pod" : "rail") + " of " +
              core::counted(servers, "server") + " with " + core::counted(cluster.nic.ports, "NIC port") + " a GPU needs " +
              std::to_string(servers * each) + of_plane + ": a NIC port takes two" + (pods ? ", and its uplink two" : ""),
          "at most " + core::counted(ports / each, "server") + (pods ? " in a pod" : "") +
              ", fewer NIC ports, a larger switch" + (pods ? "" : ", or several of them ({rail.pods})"));
  if (!pods || rail.pods.layer == PodSpec::Layer::kElectrical) return;
  const std::uint64_t count = (cluster.servers + servers - 1) / servers;
  require(ports >= 2 * count, field("rail.pods.servers"),
          core::counted(count, "pod") + " are more than the " + std::to_string(ports / 2) +
              " that a switch of the second layer can join: each takes two ports",
          "larger pods, or a larger switch");
}

void require_within(double value, double least, double most, const Field& where) {
  require(value >= least && value <= most, where,
          "must be from " + text(least) + " to " + text(most) + ", not " + text(value));
}

// A mesh of programmable photonics, which blocks.
void require_mesh(const ClusterSpec& cluster) {
  const RailSpec& rail = cluster.rail;
  if (!rail.optical.pip) return;
  const PipMeshSpec& spec = *rail.optical.pip;
  require_within(spec.rows, 1, PipMeshSpec::kMaxHexagons, field("rail.optical.pip.rows"));
  require_within(spec.columns, 1, PipMeshSpec::kMaxHexagons, field("rail.optical.pip.columns"));
  require_within(spec.cell_loss_db, PipMeshSpec::kMinCellLossDb, PipMeshSpec::kMaxLossDb,
                 field("rail.optical.pip.cell_loss_db"));
  require_within(spec.port_loss_db, 0.0, PipMeshSpec::kMaxLossDb, field("rail.optical.pip.port_loss_db"));
  require_within(spec.crosstalk_db, PipMeshSpec::kMinCrosstalkDb, PipMeshSpec::kMaxCrosstalkDb,
                 field("rail.optical.pip.crosstalk_db"));
  require(rail.pods.servers == 0, field("rail.pods.servers"),
          "the mesh of a switch that blocks has no uplinks to other pods", "leave \"pods\" out, or {rail.optical.pip}");
  require(!rail.forwarding, field("rail.forwarding"),
          "a topology that messages are forwarded over is of use as a whole, for which a mesh may have no room",
          "leave \"forwarding\" out, or {rail.optical.pip}");
  require(rail.optical.insertion_loss_db == 0.0, field("rail.optical.insertion_loss_db"),
          "the loss of a mesh is that of the cells on each way", "leave it out; set {rail.optical.pip.cell_loss_db}");
  const std::uint64_t nics = std::uint64_t{cluster.servers} * (cluster.nic.ports / rail.planes);
  const std::uint64_t ports = rail.optical.ports == 0 ? 2 * nics : rail.optical.ports;
  const std::uint32_t ends = fabric::make_blocking_switch(spec, 2)->open_ends();
  require(ports <= ends, field("rail.optical.pip.rows"),
          "a mesh of " + std::to_string(spec.rows) + "x" + std::to_string(spec.columns) + " hexagons has " +
              core::counted(ends, "open end") + ", and the switch " + core::counted(ports, "port") +
              ": two for each NIC port",
          "more hexagons, fewer servers, or more {rail.planes}");
}

// Checks circuits that have the mesh to themselves: which circuits may be lit together is found out when they are wanted.
void require_light_through(const ClusterSpec& cluster) {
  const double budget = cluster.nic.optical_budget_db;
  const auto mesh = fabric::switch_of(cluster);
  const fabric::LightReach reach = fabric::reach_of_circuits(*mesh);
  const double loss = mesh->loss_db(reach.cells);
  require(loss <= budget, field("nic.optical_budget_db"),
          "the shortest way between ports " + std::to_string(reach.farthest.a) + " and " +
              std::to_string(reach.farthest.b) + " of the mesh passes " + core::counted(reach.cells, "cell") +
              " and loses " + text(loss) + " dB, more than the transceivers' " + text(budget) + " dB",
          "transceivers with more, a smaller mesh, or cells that lose less ({rail.optical.pip.cell_loss_db})");
}

void require_light(const ClusterSpec& cluster) {
  const double budget = cluster.nic.optical_budget_db;
  require_amount(budget, field("nic.optical_budget_db"));
  if (budget == 0.0) return;  // not checked
  const RailSpec& rail = cluster.rail;
  require(rail.kind == RailKind::kOptical, field("nic.optical_budget_db"), "electrical rails have no optical loss",
          "remove it");
  if (rail.optical.pip) return require_light_through(cluster);
  require(rail.optical.insertion_loss_db > 0.0, field("nic.optical_budget_db"),
          "nothing is known of the switch's loss to hold against it", "set {rail.optical.insertion_loss_db}");
  // Through the switches of both pods and one of the second layer; packet switches receive the light and send it anew.
  const int passes = rail.pods.servers > 0 && rail.pods.layer == PodSpec::Layer::kOptical ? 3 : 1;
  const double loss = passes * rail.optical.insertion_loss_db;
  require(loss <= budget, field("nic.optical_budget_db"),
          core::counted(passes, "pass", "es") + " of the switch lose " + text(loss) + " dB, more than the transceivers' " +
              text(budget) + " dB",
          "transceivers with more, or a switch that loses at most " + text(budget / passes) + " dB");
}

void require_faults(const ClusterSpec& cluster) {
  for (std::size_t i = 0; i < cluster.rail.faults.size(); ++i) {
    const PortFault& fault = cluster.rail.faults[i];
    const auto numbered = [&](const Field& where, std::optional<std::uint32_t> value, std::uint32_t count) {
      require(!value || *value < count, where,
              "there are " + std::to_string(count) + ", numbered from 0, and this is " + std::to_string(value.value_or(0)));
    };
    numbered(field("rail.faults[].rail", i), fault.rail ? std::optional(fault.rail->value) : std::nullopt,
             cluster.gpus_per_server);
    numbered(field("rail.faults[].server", i), fault.server, cluster.servers);
    numbered(field("rail.faults[].port", i), fault.port, cluster.nic.ports);
    numbered(field("rail.faults[].plane", i), fault.plane, cluster.rail.planes);
    require(!fault.plane || !fault.port, field("rail.faults[].plane", i), "a port is of one plane", "give one of the two");
    require_duration(fault.detection, field("rail.faults[].detection", i));
    require(fault.detection == Duration{} || fault.kind == PortFault::Kind::kFailed, field("rail.faults[].detection", i),
            "a stuck port does nothing until it is asked to move, and a slow one goes on: there is nothing to detect");
    const bool slow = fault.kind == PortFault::Kind::kSlow;
    require(slow || fault.rate == 1.0, field("rail.faults[].rate", i), "is of a port that is slow", "remove it");
    require(fault.rate >= 1e-6 && fault.rate <= 1.0, field("rail.faults[].rate", i),
            "must be a share from 1e-6 to 1, not " + text(fault.rate));
    require_duration(fault.at.since_start(), field("rail.faults[].at", i));
    require_duration(fault.lasts.value_or(Duration{}), field("rail.faults[].lasts", i));
    fabric::require_uplink_fault(cluster, i);
    fabric::require_link_fault(cluster, i);
  }
}

void require_whole_nics(const RailSpec& rail) {
  constexpr const char* kWhole =
      "a message on an electrical rail spreads over all ports of its NIC: whole NICs have faults";
  for (std::size_t i = 0; i < rail.faults.size(); ++i) {
    const PortFault& fault = rail.faults[i];
    require(fault.kind != PortFault::Kind::kStuck, field("rail.faults[].kind", i),
            "electrical rails have no circuits that could be stuck", "\"failed\" or \"slow\"");
    require(!fault.port, field("rail.faults[].port", i), kWhole, "remove it");
    require(!fault.plane, field("rail.faults[].plane", i), kWhole, "remove it");
    require(fault.detection == Duration{}, field("rail.faults[].detection", i),
            "electrical rails have no control plane that could detect it", "remove it");
  }
}

void require_optical(const ClusterSpec& cluster) {
  require_switch(cluster.rail.optical);
  require_layers(cluster);
  require_ports(cluster);
  require_mesh(cluster);
  require_faults(cluster);
}

}  // namespace

Duration ScaleUpSpec::message_latency(Bytes message) const {
  if (lines.empty()) return latency;
  const double own = static_cast<double>(message.count) * 1e12 / per_gpu.bytes_per_second;
  double least = std::numeric_limits<double>::infinity();
  for (const ScaleUpLine& line : lines) {
    const double bytes = static_cast<double>(message.count) * 1e12 / line.rate.bytes_per_second;
    least = std::min(least, static_cast<double>(line.step.count()) + std::max(bytes - own, 0.0));
  }
  return round_up_picoseconds(least);
}

Duration ScaleUpSpec::least_latency() const {
  Duration least = lines.empty() ? latency : lines.front().step;
  for (const ScaleUpLine& line : lines) least = std::min(least, line.step);
  return least;
}

std::vector<std::uint32_t> ClusterSpec::unlike_of_gpus() const {
  std::vector<std::uint32_t> numbers;
  if (unlike.empty()) return numbers;
  numbers.resize(gpus(), 0);
  for (std::uint32_t i = 0; i < unlike.size(); ++i) {
    for (const std::uint32_t server : unlike[i].servers) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(std::size_t{server} * gpus_per_server);
      if (unlike[i].gpus.empty()) std::fill_n(first, gpus_per_server, i + 1);
      for (const std::uint32_t local : unlike[i].gpus) first[local] = i + 1;
    }
  }
  return numbers;
}

const GpuSpec& ClusterSpec::gpu_model(std::uint32_t unlike_number) const {
  return unlike_number > 0 && unlike[unlike_number - 1].gpu ? *unlike[unlike_number - 1].gpu : gpu;
}

double ClusterSpec::memory_gb(std::uint32_t unlike_number) const {
  const double own = unlike_number > 0 ? unlike[unlike_number - 1].memory_gb : 0.0;
  return own > 0.0 ? own : gpu_model(unlike_number).memory_gb;
}

bool ClusterSpec::has_other_models() const {
  return std::any_of(unlike.begin(), unlike.end(), [](const UnlikeGpus& some) { return some.gpu.has_value(); });
}

double ClusterSpec::peak_tflops(std::span<const GpuId> gpus) const {
  if (!has_other_models()) return gpu.peak_tflops * static_cast<double>(gpus.size());
  const std::vector<std::uint32_t> numbers = unlike_of_gpus();
  double sum = 0.0;
  for (const GpuId id : gpus) sum += gpu_model(numbers[id.index()]).peak_tflops;
  return sum;
}

PlantSpec ClusterSpec::plant() const {
  PlantSpec plant;
  plant.servers = servers;
  plant.gpus_per_server = gpus_per_server;
  plant.nic_ports = nic.ports;
  plant.nic_port = nic.per_port;
  plant.scale_up = scale_up.per_gpu;
  plant.shape = scale_up.shape;
  plant.rail = rail.kind;
  plant.switch_radix = rail.switch_radix;
  plant.oversubscription = rail.oversubscription;
  plant.fewer_spines = rail.fewer_spines;
  plant.uplinks = rail.uplinks;
  plant.uplinks_fail = std::ranges::any_of(rail.faults, [](const PortFault& fault) { return fault.of_uplinks(); });
  plant.planes = rail.planes;
  plant.pod_servers = rail.pods.servers;
  plant.optical_pods = rail.pods.layer == PodSpec::Layer::kOptical;
  return plant;
}

void ClusterSpec::validate() const {
  require_size(*this);
  require_gpu(gpu);
  require_rate(scale_up.per_gpu.bytes_per_second / 1e9, field("scale_up.per_gpu"));
  require_scale_up(*this);
  require_rate(nic.per_port.bytes_per_second / 1e9, field("nic.per_port"));
  require_duration(nic.latency, field("nic.latency"));
  require_duration(nic.message_overhead, field("nic.message_overhead"));
  require_shared_nics(*this);
  require_unlike(*this);
  if (rail.kind == RailKind::kElectrical) {
    require_electrical(rail);
    fabric::require_shares(*this);
    require_faults(*this);
    require_whole_nics(rail);
  } else {
    require_optical(*this);
  }
  require_light(*this);
  fabric::require_sites(*this);
  require_numbered(*this);
}

}  // namespace photonrail
