// The cluster in motion: it owns the network and the switches, and says which way a message goes.
#pragma once

#include "engine/engine.hpp"
#include "fabric/optical_rail.hpp"
#include "fabric/routing.hpp"
#include "fabric/shared_fabric.hpp"
#include "fabric/sheets.hpp"
#include "fabric/way.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/error.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace photonrail::fabric {

/// A smaller plant in which one GPU stands for all that behave alike: they share its ports, and its place on its rail.
/// Which way a message goes is still asked of the cluster's own GPUs.
struct FoldedPlant {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  std::vector<GpuId> images;              ///< by GPU of the cluster: the one that stands for it; none: it has no traffic
  std::vector<std::uint32_t> stands_for;  ///< by GPU of the smaller plant: how many
  Sheets sheets;                          ///< of circuits between the cluster's GPUs

  /// REQUIRES: the GPU has traffic.
  [[nodiscard]] GpuId image(GpuId gpu) const {
    PHOTONRAIL_CHECK(gpu.index() < images.size() && !images[gpu.index()].is_none());
    return images[gpu.index()];
  }
};

/// Names one capacity on the way of messages by what it is.
struct Place {
  enum class Kind : std::uint8_t { kScaleUp, kPort, kLeafUplink, kPodUplink, kSiteLink };

  Kind kind = Kind::kScaleUp;
  std::uint32_t rail = 0;    ///< of uplinks
  std::uint32_t number = 0;  ///< GPU of the plant, leaf of the rail, pod, or direction of a link between sites

  [[nodiscard]] bool is_between_sites() const { return kind == Kind::kSiteLink; }
  [[nodiscard]] bool is_uplink() const { return kind == Kind::kLeafUplink || kind == Kind::kPodUplink; }

  friend auto operator<=>(const Place&, const Place&) = default;
};

/// The places that messages between GPUs leave over. What it is made of must outlive it.
struct Places {
  const ClusterSpec& spec;
  const topology::Plant& plant;
  const FoldedPlant* folded = nullptr;  ///< null: the plant is the cluster's
  const SiteLinks* sites = nullptr;     ///< null: one site

  /// Calls visit(Place) for what a message leaves over, in this order: the scale-up port of its GPU, where it takes it, the
  /// NIC's ports, the uplinks of a leaf or pod, the links between sites. REQUIRES: from != to.
  template <class Visit>
  void each(GpuId from, GpuId to, Visit&& visit) const {
    using enum Place::Kind;
    const auto server = [this](GpuId gpu) { return gpu.value / spec.gpus_per_server; };
    const auto local = [this](GpuId gpu) { return gpu.value % spec.gpus_per_server; };
    const auto image = [this](GpuId gpu) { return folded == nullptr ? gpu : folded->image(gpu); };
    if (server(from) == server(to)) return visit(Place{kScaleUp, 0, image(from).value});
    if (nic_owner(local(from)) != nic_owner(local(to))) visit(Place{kScaleUp, 0, image(from).value});
    const auto nic_of = [this](GpuId gpu) { return plant.gpu(plant.server_of(gpu), nic_owner(plant.local_of(gpu))); };
    const GpuId out = nic_of(image(GpuId{server(from) * spec.gpus_per_server + local(to)}));
    visit(Place{kPort, 0, out.value});
    if (has_uplinks()) {
      const Place uplink = uplink_of(out);
      if (uplink != uplink_of(nic_of(image(to)))) visit(uplink);
    }
    if (sites == nullptr) return;
    for (const SiteLinks::Direction link : sites->way(server(from), server(to))) visit(Place{kSiteLink, 0, link});
  }
  /// Messages may cross uplinks that can be oversubscribed.
  [[nodiscard]] bool has_uplinks() const {
    return optical() ? spec.rail.pods.servers > 0 && spec.rail.pods.layer == PodSpec::Layer::kElectrical
                     : plant.spec().two_tier();
  }
  /// The uplinks above a GPU of the plant. REQUIRES: has_uplinks().
  [[nodiscard]] Place uplink_of(GpuId gpu) const {
    const std::uint32_t rail = nic_owner(plant.local_of(gpu));
    if (optical()) return {Place::Kind::kPodUplink, rail, plant.server_of(gpu) / spec.rail.pods.servers};
    return {Place::Kind::kLeafUplink, rail, plant.leaf_of(gpu, 0)};
  }
  /// The rate of a place, one direction: of a NIC all of its ports.
  [[nodiscard]] Bandwidth rate(const Place& place) const;

  [[nodiscard]] bool optical() const { return spec.rail.kind == RailKind::kOptical; }
  /// The GPU whose ports stand for those of a NIC, local indices: the first of those that share it.
  [[nodiscard]] std::uint32_t nic_owner(std::uint32_t local) const { return local / spec.nic.gpus * spec.nic.gpus; }
};

class Fabric {
 public:
  /// `engine`, `spec` and `folded` must outlive the fabric. `folded`: null, or what stands for the cluster; then messages
  /// between GPUs on different rails must not be asked for, and an electrical rail must have one tier. `gpus`: those that
  /// messages come from and go to, where they are not folded; empty: any.
  Fabric(engine::Engine& engine, const ClusterSpec& spec, const FabricSettings& settings,
         const FoldedPlant* folded = nullptr, std::span<const GpuId> gpus = {});

  /// The fabric as one of several jobs has it: a network and switches that all of them share, and circuits of its own,
  /// between ports that are its own (SharedFabric::seat). `gpus`: of its ranks. All must outlive the fabric.
  Fabric(engine::Engine& engine, const ClusterSpec& spec, SharedFabric& shared, std::uint32_t job,
         std::span<const GpuId> gpus);

  /// Sets the listeners for deliveries and circuits. Both must outlive the fabric.
  void attach(network::DeliveryListener& deliveries, CircuitListener& circuits);

  [[nodiscard]] network::Network& network() { return network_; }
  [[nodiscard]] const network::Network& network() const { return network_; }
  /// Network::post(), with this fabric's job in the tag. REQUIRES: tag < 2^56.
  void post(network::Network::ChannelId channel, const network::Path& path, Bytes bytes, std::uint64_t tag) {
    PHOTONRAIL_CHECK(tag >> SharedFabric::kJobShift == 0);
    if (shared_.redirects()) return post_around(channel, path, bytes, tag | job_tag_);
    network_.post(channel, path, bytes, tag | job_tag_);
  }
  /// Closes a channel that messages were posted to.
  void close_channel(network::Network::ChannelId channel) {
    if (shared_.uplink_routes() != nullptr) shared_.uplink_routes()->close(channel);
    network_.close_channel(channel);
  }
  /// Network::post_parts(), likewise. REQUIRES: the servers are no grids of links, and messages take no single uplinks.
  void post_parts(const network::Path& path, Bytes bytes, std::uint64_t tag, network::Network::Standing& standing) {
    network_.post_parts(path, bytes, tag | job_tag_, standing);
  }
  /// Returns what carries the messages: the cluster's plant, or the folded one.
  [[nodiscard]] const topology::Plant& plant() const { return plant_; }
  [[nodiscard]] const ClusterSpec& spec() const { return spec_; }
  [[nodiscard]] bool folded() const { return folded_ != nullptr; }
  [[nodiscard]] bool optical() const { return !rails_.empty(); }
  [[nodiscard]] std::uint32_t rails() const { return plant_.spec().gpus_per_server; }
  /// On an optical rail on which the job has no GPU there is nothing to carry, and nothing of it is there.
  [[nodiscard]] bool has_rail(RailId id) const { return rails_[id.index()] != nullptr; }
  /// REQUIRES: optical(), and has_rail(id).
  [[nodiscard]] OpticalRail& rail(RailId id) { return *rails_[id.index()]; }

  /// Which rail a message crosses: that of the destination, reached through the scale-up fabric where it is another than
  /// the sender's. nullopt within a server. Rail and servers are those of plant(), the receiving one with its sheet.
  [[nodiscard]] std::optional<RailCrossing> crossing(GpuId from, GpuId to) const;

  /// A GPU's rail, and its place on it. Those are of plant().
  [[nodiscard]] std::pair<RailId, std::uint32_t> seat(GpuId gpu) const {
    return {RailId{plant_.local_of(image(gpu))}, plant_.server_of(image(gpu))};
  }

  /// For how many GPUs of the cluster the one at a place of the plant stands: 1 without folding.
  [[nodiscard]] std::uint32_t copies(RailId rail, std::uint32_t server) const {
    if (folded_ == nullptr) return 1;
    return folded_->stands_for[std::size_t{server} * plant_.spec().gpus_per_server + rail.index()];
  }

  /// The path of a message now. nullopt: the rail has no circuit for it. `crossing`: crossing() of the two. REQUIRES:
  /// from != to.
  [[nodiscard]] std::optional<network::Path> route(GpuId from, GpuId to, const std::optional<RailCrossing>& crossing);

  /// What messages leave over, by name.
  [[nodiscard]] Places places() const { return {spec_, plant_, folded_, shared_.sites()}; }

  /// Holds what a message between two GPUs of a server meets at least: latency, and the rate of the slowest link when it is
  /// alone. Where links may fail, a detour can have faster links, and fewer that an optical switch makes.
  struct ScaleUpWay {
    Duration latency{};
    Bandwidth rate{};
  };
  /// Returns true when messages between two GPUs take a protocol by their size (ScaleUpSpec::lines).
  [[nodiscard]] bool inside_server(GpuId from, GpuId to) const {
    return !spec_.scale_up.lines.empty() && server_of(from) == server_of(to);
  }
  /// REQUIRES: from != to, both in one server.
  [[nodiscard]] ScaleUpWay scale_up_way(GpuId from, GpuId to) const;
  /// The group as a box of the torus that its server is; nullopt where it is none.
  [[nodiscard]] std::optional<topology::GridBox> box_of(std::span<const GpuId> gpus) const;

  /// Returns what jobs share: faults of links between GPUs, single uplinks, links between sites.
  [[nodiscard]] const SharedFabric& shared() const { return shared_; }

 private:
  [[nodiscard]] std::unique_ptr<OpticalRail> make_rail(engine::Engine& engine, RailId id);
  void post_around(network::Network::ChannelId channel, network::Path path, Bytes bytes, std::uint64_t tag);
  /// The GPU whose ports stand for those of a NIC, local indices: the first of those that share it.
  [[nodiscard]] std::uint32_t nic_owner(std::uint32_t local) const { return local / spec_.nic.gpus * spec_.nic.gpus; }
  [[nodiscard]] std::uint32_t server_of(GpuId gpu) const { return gpu.value / spec_.gpus_per_server; }
  [[nodiscard]] std::uint32_t local_of(GpuId gpu) const { return gpu.value % spec_.gpus_per_server; }
  [[nodiscard]] GpuId image(GpuId gpu) const { return folded_ == nullptr ? gpu : folded_->image(gpu); }

  const ClusterSpec& spec_;
  const FoldedPlant* folded_;
  topology::Plant plant_;
  std::unique_ptr<SharedFabric> own_;  // only if the job does not share the fabric with others
  SharedFabric& shared_;
  network::Network& network_;
  std::uint64_t job_tag_ = 0;
  std::vector<std::unique_ptr<OpticalRail>> rails_;  // null: see has_rail()
  ServerRouting inside_;
  std::unique_ptr<RailRouting> across_;
};

/// Fabric::route() of two GPUs whose crossing has not been resolved.
[[nodiscard]] inline std::optional<network::Path> route(Fabric& fabric, GpuId from, GpuId to) {
  return fabric.route(from, to, fabric.crossing(from, to));
}

}  // namespace photonrail::fabric
