#include "fabric/fabric.hpp"

#include "core/checked.hpp"

#include <algorithm>

namespace photonrail::fabric {

using network::DeliveryListener;
using network::Path;

namespace {

PlantSpec plant_for(const ClusterSpec& spec, const FoldedPlant* folded) {
  PlantSpec plant = spec.plant();
  if (folded != nullptr) {
    plant.servers = folded->servers;
    plant.gpus_per_server = folded->gpus_per_server;
    PHOTONRAIL_CHECK(plant.shape.crossbar());
    // The ports that are simulated fit one switch, whatever the radix of the real one is.
    plant.switch_radix = std::max(2u, plant.rail_ports());
  }
  return plant;
}

}  // namespace

Fabric::Fabric(engine::Engine& engine, const ClusterSpec& spec, const FabricSettings& settings, const FoldedPlant* folded,
               std::span<const GpuId> gpus)
    : spec_(spec),
      folded_(folded),
      plant_(plant_for(spec, folded)),
      own_(std::make_unique<SharedFabric>(engine, spec, plant_, settings,
                                          folded == nullptr && spec.nic.gpus == 1 ? gpus : std::span<const GpuId>{})),
      shared_(*own_),
      network_(shared_.network()),
      inside_(spec_.scale_up, plant_, shared_),
      across_(make_rail_routing(spec_, plant_, shared_, rails_)) {
  if (spec.rail.kind != RailKind::kOptical) return;
  rails_.resize(rails());
  for (std::uint32_t r = 0; r < rails(); ++r) {
    if (!shared_.capacities().has_rail(RailId{r})) continue;
    rails_[r] = make_rail(engine, RailId{r});
    // One simulated rail stands for several alike: counts of its commands are theirs too.
    if (folded != nullptr) rails_[r]->set_copies(folded->stands_for);
  }
}

Fabric::Fabric(engine::Engine& engine, const ClusterSpec& spec, SharedFabric& shared, std::uint32_t job,
               std::span<const GpuId> gpus)
    : spec_(spec),
      folded_(nullptr),
      plant_(spec.plant()),
      shared_(shared),
      network_(shared.network()),
      job_tag_(std::uint64_t{job} << SharedFabric::kJobShift),
      inside_(spec_.scale_up, plant_, shared_),
      across_(make_rail_routing(spec_, plant_, shared_, rails_)) {
  PHOTONRAIL_CHECK(job < SharedFabric::kMaxJobs);
  if (spec.rail.kind != RailKind::kOptical) return;
  rails_.resize(rails());
  for (const GpuId gpu : gpus) {
    const std::uint32_t r = plant_.local_of(gpu);
    if (rails_[r] != nullptr) continue;
    rails_[r] = make_rail(engine, RailId{r});
    // A job's controller sees and re-points only the ports of its own servers on a shared switch.
    std::vector<bool> servers(plant_.spec().servers, false);
    for (std::uint32_t s = 0; s < servers.size(); ++s) servers[s] = shared.owner(plant_.gpu(s, r)) == job;
    rails_[r]->set_servers(std::move(servers));
  }
}

std::unique_ptr<OpticalRail> Fabric::make_rail(engine::Engine& engine, RailId id) {
  const RailContext context{engine, network_, plant_, spec_.rail, id};
  return std::make_unique<OpticalRail>(context, shared_.rail(id));
}

void Fabric::attach(DeliveryListener& deliveries, CircuitListener& circuits) {
  if (own_ != nullptr) {
    own_->attach(deliveries);
  } else {
    shared_.attach(static_cast<std::uint32_t>(job_tag_ >> SharedFabric::kJobShift), deliveries);
  }
  for (const auto& rail : rails_) {
    if (rail != nullptr) rail->attach(circuits);
  }
}

// A message leaves its server over the rail of its destination (rail-optimised topologies; PXN in NCCL): inside the
// sender's server it first goes to the GPU with the destination's local index, whose port it then takes.
std::optional<RailCrossing> Fabric::crossing(GpuId from, GpuId to) const {
  if (server_of(from) == server_of(to)) return std::nullopt;
  const GpuId sender{server_of(from) * spec_.gpus_per_server + local_of(to)};
  const GpuId receiver = image(to);
  // A sheet tells circuits apart whose GPUs are folded onto the same ports.
  const std::uint32_t sheet = folded_ != nullptr && optical() ? folded_->sheets.of(sender, to) : 0;
  return RailCrossing{RailId{plant_.local_of(receiver)}, plant_.server_of(image(sender)),
                      on_sheet(plant_.server_of(receiver), sheet)};
}

Bandwidth Places::rate(const Place& place) const {
  const double nic = spec.nic.per_port.bytes_per_second * spec.nic.ports;
  switch (place.kind) {
    case Place::Kind::kScaleUp:
      return spec.scale_up.of_gpu();
    case Place::Kind::kPort:
      return {nic};
    case Place::Kind::kLeafUplink:
      return plant.rate(plant.leaf_up(RailId{place.rail}, place.number));
    case Place::Kind::kSiteLink:
      return sites->link(place.number).rate;
    case Place::Kind::kPodUplink:
      break;
  }
  const PodSpec& pods = spec.rail.pods;
  // The last pod may be smaller than the others.
  const std::uint32_t servers = std::min(pods.servers, plant.spec().servers - place.number * pods.servers);
  return {servers * nic / pods.oversubscription};
}

// Ways that were found before a link failed or was repaired, and those over the uplinks of leaves.
void Fabric::post_around(network::Network::ChannelId channel, Path path, Bytes bytes, std::uint64_t tag) {
  if (LinkFaults* const faults = shared_.link_faults()) faults->divert(path);
  if (UplinkRoutes* const routes = shared_.uplink_routes()) return routes->post(channel, path, bytes, tag);
  network_.post(channel, path, bytes, tag);
}

Fabric::ScaleUpWay Fabric::scale_up_way(GpuId from, GpuId to) const {
  const ScaleUpSpec& scale_up = spec_.scale_up;
  if (plant_.grid() == nullptr) return {scale_up.least_latency(), scale_up.per_gpu};
  const topology::LinkGrid& grid = *plant_.grid();
  ScaleUpWay way{{}, scale_up.per_gpu};
  const bool detours = !scale_up.faults.empty();
  grid.route(local_of(from), local_of(to), [&](const topology::GridLink& link) {
    way.latency = core::checked_sum(way.latency, detours ? scale_up.latency : latency_of(scale_up, link));
    // With faults a message may take other links, so that the narrowest of this way is no bound.
    if (!detours) way.rate = std::min(way.rate, grid.rate(link.from, link.slot, scale_up.per_gpu));
  });
  return way;
}

// The box that the GPUs fill in the grid of one server: algorithms for tori want to know it.
std::optional<topology::GridBox> Fabric::box_of(std::span<const GpuId> gpus) const {
  if (plant_.grid() == nullptr || gpus.size() < 2) return std::nullopt;
  std::vector<std::uint32_t> locals;
  for (const GpuId gpu : gpus) {
    if (server_of(gpu) != server_of(gpus.front())) return std::nullopt;
    locals.push_back(local_of(gpu));
  }
  return plant_.grid()->box_of(locals);
}

// In the order of the way: links of the sender's server to the rail of the destination, then the rail. The receiver's
// server is not crossed.
std::optional<Path> Fabric::route(GpuId from, GpuId to, const std::optional<RailCrossing>& crossing) {
  Path path;
  path.overhead = spec_.nic.message_overhead;
  if (!crossing) return inside_.add_way(image(from), image(to), path) ? std::optional(path) : std::nullopt;
  const GpuId sender = plant_.gpu(crossing->from, crossing->rail.value);
  // GPUs that share a NIC need no hop inside the server to reach the rail.
  const bool own_nic = nic_owner(local_of(from)) == nic_owner(local_of(to));
  if (!own_nic && !inside_.add_way(image(from), sender, path)) return std::nullopt;
  if (!across_->add_way(*crossing, path)) return std::nullopt;
  return path;
}

}  // namespace photonrail::fabric
