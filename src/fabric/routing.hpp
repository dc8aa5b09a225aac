// How messages get from one GPU to another: a member for the fabric of a server, for rails of packet switches and for rails
// of circuits. Fabric::route() puts a path together from them.
#pragma once

#include "fabric/optical_rail.hpp"
#include "fabric/shared_fabric.hpp"
#include "fabric/way.hpp"
#include "network/path.hpp"
#include "photonrail/cluster.hpp"
#include "topology/plant.hpp"

#include <memory>
#include <vector>

namespace photonrail::fabric {

/// Joins the GPUs of a rail.
class RailRouting {
 public:
  virtual ~RailRouting() = default;
  /// Adds the capacities of the way, in order, and its latency to the path. False: there is no way now.
  [[nodiscard]] virtual bool add_way(const RailCrossing& crossing, network::Path& path) = 0;
};

/// Joins the GPUs of a server: by two ports of a crossbar, or over the links of a torus or ring, around those that failed.
class ServerRouting {
 public:
  /// All must outlive the object.
  ServerRouting(const ScaleUpSpec& spec, const topology::Plant& plant, const SharedFabric& shared)
      : spec_(spec), plant_(plant), shared_(shared) {}
  /// RailRouting::add_way() for two GPUs of one server of the plant.
  [[nodiscard]] bool add_way(GpuId from, GpuId to, network::Path& path);

 private:
  const ScaleUpSpec& spec_;
  const topology::Plant& plant_;
  const SharedFabric& shared_;
};

/// Joins the GPUs of an electrical rail: two NICs, between leaves their uplinks, between sites the links.
class LeafRouting final : public RailRouting {
 public:
  /// All must outlive the object.
  LeafRouting(const ClusterSpec& spec, const topology::Plant& plant, const SharedFabric& shared)
      : spec_(spec), plant_(plant), shared_(shared) {}
  [[nodiscard]] bool add_way(const RailCrossing& crossing, network::Path& path) override;

 private:
  const ClusterSpec& spec_;
  const topology::Plant& plant_;
  const SharedFabric& shared_;
};

/// Joins the GPUs of an optical rail by circuits that are lit, directly or forwarded (RailRoutes).
class CircuitRouting final : public RailRouting {
 public:
  using Rails = std::vector<std::unique_ptr<OpticalRail>>;

  /// `rails`: by number. All must outlive the object.
  CircuitRouting(const ClusterSpec& spec, const Rails& rails) : spec_(spec), rails_(rails) {}
  [[nodiscard]] bool add_way(const RailCrossing& crossing, network::Path& path) override;

 private:
  const ClusterSpec& spec_;
  const Rails& rails_;
};

/// Makes the member for the rails of the cluster. All must outlive it.
[[nodiscard]] std::unique_ptr<RailRouting> make_rail_routing(const ClusterSpec& spec, const topology::Plant& plant,
                                                             const SharedFabric& shared,
                                                             const CircuitRouting::Rails& rails);

/// The latency of a link between GPUs.
[[nodiscard]] inline Duration latency_of(const ScaleUpSpec& scale_up, const topology::GridLink& link) {
  return scale_up.latency + (link.face ? scale_up.face_latency : Duration{});
}

}  // namespace photonrail::fabric
