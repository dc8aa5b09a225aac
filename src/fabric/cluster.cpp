#include "photonrail/cluster.hpp"

#include "photonrail/error.hpp"
#include "topology/plant.hpp"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace photonrail {

namespace {

std::string text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

void require(bool holds, const char* where, const std::string& what, const std::string& hint = {}) {
  if (!holds) throw ConfigError(where, what, hint);
}

void require_count(std::uint32_t value, const char* where) { require(value > 0, where, "must be 1 or more, not 0"); }

void require_rate(double value, const char* where) {
  if (value > 0.0 && std::isfinite(value)) return;  // before the text is made, which takes longer
  throw ConfigError(where, "must be a finite number above 0, not " + text(value));
}

void require_amount(double value, const char* where) {
  if (value >= 0.0 && std::isfinite(value)) return;
  throw ConfigError(where, "must be a finite number of 0 or more, not " + text(value));
}

void require_duration(Duration value, const char* where) {
  if (value >= Duration{}) return;
  throw ConfigError(where, "must not be negative, and is " + text(to_seconds(value)) + " s");
}

void require_delay(const DelayDistribution& delay, const char* where) {
  using Kind = DelayDistribution::Kind;
  require_duration(delay.a, where);
  require_duration(delay.b, where);
  if (delay.kind == Kind::kUniform) {
    require(delay.a <= delay.b, where, "the greatest delay is less than the least",
            "from " + text(to_seconds(delay.b)) + " s to " + text(to_seconds(delay.a)) + " s?");
  }
  if (delay.kind == Kind::kLogNormal) {
    // At 2, one draw in a hundred is a hundred times the median: exp(2 x 2.33) = 105.
    require(delay.sigma >= 0.0 && delay.sigma <= 2.0, where,
            "the deviation of the logarithm must be from 0 to 2, not " + text(delay.sigma));
  }
}

void require_size(const ClusterSpec& cluster) {
  require_count(cluster.servers, "/servers");
  require_count(cluster.gpus_per_server, "/gpus_per_server");
  require_count(cluster.nic.ports, "/nic/ports");
  const std::uint64_t gpus = std::uint64_t{cluster.servers} * cluster.gpus_per_server;
  constexpr std::uint64_t kMostGpus = std::uint64_t{1} << 31;
  require(gpus <= kMostGpus, "/servers",
          std::to_string(cluster.servers) + " servers of " + std::to_string(cluster.gpus_per_server) +
              " GPUs are more than the 2^31 GPUs that can be numbered",
          "at most " + std::to_string(kMostGpus / cluster.gpus_per_server) + " servers of this size");
}

void require_numbered(const ClusterSpec& cluster) {
  require(Plant::count(cluster.plant()) <= std::numeric_limits<CapacityId>::max(), "/nic/ports",
          std::to_string(cluster.gpus()) + " GPUs of " + std::to_string(cluster.nic.ports) +
              " NIC ports have more links than the 2^32 that can be numbered",
          "fewer NIC ports or fewer servers");
}

void require_gpu(const GpuSpec& gpu) {
  require_rate(gpu.peak_tflops, "/gpu/peak_tflops");
  require_rate(gpu.memory_gb_per_s, "/gpu/memory_gb_per_s");
  require_amount(gpu.memory_gb, "/gpu/memory_gb");
  require(gpu.compute_efficiency > 0.0 && gpu.compute_efficiency <= 1.0, "/gpu/compute_efficiency",
          "must be above 0 and at most 1, not " + text(gpu.compute_efficiency), "0.5 is half of the peak");
}

void require_electrical(const RailSpec& rail) {
  require(rail.switch_radix >= 2, "/rail/radix",
          "a switch of " + std::to_string(rail.switch_radix) + " ports joins nothing", "2 or more");
  require(rail.oversubscription >= 1.0 && std::isfinite(rail.oversubscription), "/rail/oversubscription",
          "must be a finite number of 1 or more, not " + text(rail.oversubscription), "2 is half the bandwidth up");
  require_duration(rail.tier_latency, "/rail/tier_latency_ns");
}

void require_optical(const ClusterSpec& cluster) {
  const OpticalSwitchSpec& ocs = cluster.rail.optical;
  require_delay(ocs.reconfiguration, "/rail/switch/reconfiguration_ms");
  require_duration(ocs.link_up, "/rail/switch/link_up_ms");
  require_amount(ocs.power_w, "/rail/switch/power_w");
  require_amount(ocs.usd_per_port, "/rail/switch/usd_per_port");
  if (ocs.ports == 0) return;  // as many as the rail needs
  const std::uint64_t fibres = 2 * (std::uint64_t{cluster.servers} * cluster.nic.ports);
  require(ocs.ports >= fibres, "/rail/switch/ports",
          "the switch has " + std::to_string(ocs.ports) + " ports, and a rail of " + std::to_string(cluster.servers) +
              " servers with " + std::to_string(cluster.nic.ports) + " NIC ports a GPU needs " + std::to_string(fibres) +
              ": a NIC port takes two",
          "at most " + std::to_string(ocs.ports / (2 * std::uint64_t{cluster.nic.ports})) +
              " servers, fewer NIC ports, or a larger switch");
}

}  // namespace

PlantSpec ClusterSpec::plant() const {
  PlantSpec plant;
  plant.servers = servers;
  plant.gpus_per_server = gpus_per_server;
  plant.nic_ports = nic.ports;
  plant.nic_port = nic.per_port;
  plant.scale_up = scale_up.per_gpu;
  plant.rail = rail.kind;
  plant.switch_radix = rail.switch_radix;
  plant.oversubscription = rail.oversubscription;
  return plant;
}

void ClusterSpec::validate() const {
  require_size(*this);
  require_gpu(gpu);
  require_rate(scale_up.per_gpu.bytes_per_second / 1e9, "/scale_up/gb_per_s");
  require_duration(scale_up.latency, "/scale_up/latency_ns");
  require_rate(nic.per_port.bytes_per_second / 1e9, "/nic/port_gb_per_s");
  require_duration(nic.latency, "/nic/latency_ns");
  require_duration(nic.message_overhead, "/nic/message_overhead_ns");
  if (rail.kind == RailKind::kElectrical) {
    require_electrical(rail);
  } else {
    require_optical(*this);
  }
  require_numbered(*this);
}

}  // namespace photonrail
