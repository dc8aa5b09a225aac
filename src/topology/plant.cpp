#include "topology/plant.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace photonrail {

using topology::CapacityId;
using topology::Plant;

namespace {

void require_meaning(const PlantSpec& spec) {
  if (spec.servers == 0 || spec.gpus_per_server == 0 || spec.nic_ports == 0) {
    throw ConfigError("plant", "the numbers of servers, of GPUs a server and of ports a NIC must be 1 or more");
  }
  if (spec.rail == RailKind::kElectrical && (spec.switch_radix < 2 || !(spec.oversubscription >= 1.0))) {
    throw ConfigError("plant", "an electrical rail needs a switch radix of 2 or more and an oversubscription of 1 or more");
  }
  if (const auto wrong = topology::LinkGrid::problem(spec.shape, spec.gpus_per_server)) {
    throw ConfigError("plant", wrong->text);
  }
  constexpr std::uint64_t kMaxCapacities = std::numeric_limits<CapacityId>::max();
  if (Plant::count(spec) > kMaxCapacities) {
    throw ConfigError("plant", "it has more ports than can be numbered in 32 bits", "fewer servers, GPUs or NIC ports");
  }
}

}  // namespace

std::string_view name(UplinkRouting routing) {
  constexpr std::string_view kNames[] = {"fluid", "hash", "equal", "least_loaded", "shares"};
  return kNames[static_cast<std::size_t>(routing)];
}

std::uint32_t PlantSpec::ports_per_leaf() const {
  if (!two_tier()) return std::max(1u, rail_ports());
  // One part in 1e12 more, so that 11 x 1.2 / 2.2 is 6 and not 5.
  const double share = fewer_spines ? 1.0 : oversubscription;
  const double down = switch_radix * (share / (1.0 + share)) * (1.0 + 1e-12);
  if (!(down >= 1.0)) return 1;
  return std::min(static_cast<std::uint32_t>(down), std::max(1u, switch_radix - 1));  // a leaf has an uplink
}

std::uint32_t PlantSpec::leaves() const {
  const std::uint32_t each = ports_per_leaf();
  return std::max(1u, rail_ports() / each + (rail_ports() % each == 0 ? 0 : 1));
}

// The graph has as many cables; the slack forgives 6 / 1.2 = 5.000000000000001.
std::uint32_t PlantSpec::uplink_count() const {
  if (uplinks.count > 0) return uplinks.count;
  if (!uplinks.rates.empty()) return static_cast<std::uint32_t>(uplinks.rates.size());
  return static_cast<std::uint32_t>(std::ceil(ports_per_leaf() / oversubscription * (1.0 - 1e-12)));
}

Bandwidth PlantSpec::uplink_rate(std::uint32_t uplink) const {
  if (!uplinks.rates.empty()) return uplinks.rates[uplink];
  return {leaf_rate().bytes_per_second / uplink_count()};
}

// Uplinks belong to the leaf: one that is not full has as many as the others.
Bandwidth PlantSpec::leaf_rate() const {
  if (uplinks.rates.empty()) return {ports_per_leaf() * nic_port.bytes_per_second / oversubscription};
  double sum = 0.0;
  for (const Bandwidth rate : uplinks.rates) sum += rate.bytes_per_second;
  return {sum};
}

bool PlantSpec::routes_uplinks() const {
  return two_tier() && uplinks.routing != UplinkRouting::kFluid && uplink_count() > 1;
}

std::uint64_t Plant::count(const PlantSpec& spec) {
  constexpr std::uint64_t kTooMany = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kMaxCapacities = std::numeric_limits<CapacityId>::max();
  const std::uint64_t gpus = std::uint64_t{spec.servers} * spec.gpus_per_server;
  if (gpus > kMaxCapacities || std::uint64_t{spec.nic_ports} * gpus > kMaxCapacities) return kTooMany;
  const std::uint64_t leaves = spec.two_tier() ? std::uint64_t{spec.leaves()} * spec.gpus_per_server : 0;
  const std::uint64_t slots = spec.shape.crossbar() ? 0 : 2 * std::max<std::uint64_t>(1, spec.shape.sides.size());
  const std::uint64_t single = spec.routes_uplinks() ? leaves * spec.uplink_count() : 0;
  return 2 * (gpus + gpus * spec.nic_ports + leaves + single) + gpus * slots;
}

Plant::Plant(const PlantSpec& spec) : spec_(spec) {
  require_meaning(spec);
  ports_per_leaf_ = spec.ports_per_leaf();
  leaves_ = spec.two_tier() ? spec.leaves() : 0;
  scale_up_in_ = spec.gpus();
  nic_out_ = scale_up_in_ + spec.gpus();
  nic_in_ = nic_out_ + spec.gpus() * spec.nic_ports;
  leaf_up_ = nic_in_ + spec.gpus() * spec.nic_ports;
  leaf_down_ = leaf_up_ + spec.gpus_per_server * leaves_;
  links_ = leaf_down_ + spec.gpus_per_server * leaves_;
  if (!spec.shape.crossbar()) {
    grid_.emplace(spec.shape, spec.gpus_per_server);
    slots_ = grid_->slots();
  }
  end_ = links_ + spec.gpus() * slots_;
}

Bandwidth Plant::rate(CapacityId id) const {
  PHOTONRAIL_CHECK(id < end_);
  if (id < nic_out_) return spec_.scale_up;
  if (id < leaf_up_) return spec_.nic_port;
  if (id >= links_) {
    const std::uint32_t gpu = (id - links_) / slots_;
    return grid_->rate(gpu % spec_.gpus_per_server, (id - links_) % slots_, spec_.scale_up);
  }
  return spec_.leaf_rate();
}

}  // namespace photonrail
