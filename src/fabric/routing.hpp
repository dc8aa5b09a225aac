// How messages get from one GPU to another: a member for the fabric of a server, for rails of packet switches and for rails
// of circuits. Fabric::route() puts a path together from them.
#pragma once

#include "fabric/optical_rail.hpp"
#include "fabric/shared_fabric.hpp"
#include "network/path.hpp"
#include "photonrail/cluster.hpp"
#include "topology/plant.hpp"

#include <memory>
#include <vector>

namespace photonrail::fabric {

class Routing {
 public:
  virtual ~Routing() = default;
  /// Adds the capacities of the way, in order, and its latency to the path. False: there is no way now. REQUIRES: two GPUs
  /// of the plant that the member joins.
  [[nodiscard]] virtual bool add_way(GpuId from, GpuId to, network::Path& path) = 0;
};

/// Joins the GPUs of a server: by two ports of a crossbar, or over the links of a torus or ring, around those that failed.
class ServerRouting final : public Routing {
 public:
  /// All must outlive the object.
  ServerRouting(const ScaleUpSpec& spec, const topology::Plant& plant, const SharedFabric& shared)
      : spec_(spec), plant_(plant), shared_(shared) {}
  [[nodiscard]] bool add_way(GpuId from, GpuId to, network::Path& path) override;

 private:
  const ScaleUpSpec& spec_;
  const topology::Plant& plant_;
  const SharedFabric& shared_;
};

/// Joins the GPUs of an electrical rail: two NICs, between leaves their uplinks, between sites the links.
class LeafRouting final : public Routing {
 public:
  /// All must outlive the object.
  LeafRouting(const ClusterSpec& spec, const topology::Plant& plant, const SharedFabric& shared)
      : spec_(spec), plant_(plant), shared_(shared) {}
  [[nodiscard]] bool add_way(GpuId from, GpuId to, network::Path& path) override;

 private:
  const ClusterSpec& spec_;
  const topology::Plant& plant_;
  const SharedFabric& shared_;
};

/// Joins the GPUs of an optical rail by circuits that are lit, directly or forwarded (RailRoutes).
class CircuitRouting final : public Routing {
 public:
  using Rails = std::vector<std::unique_ptr<OpticalRail>>;

  /// `rails`: by number. All must outlive the object.
  CircuitRouting(const ClusterSpec& spec, const topology::Plant& plant, const Rails& rails)
      : spec_(spec), plant_(plant), rails_(rails) {}
  [[nodiscard]] bool add_way(GpuId from, GpuId to, network::Path& path) override;

 private:
  const ClusterSpec& spec_;
  const topology::Plant& plant_;
  const Rails& rails_;
};

/// Makes the member for the rails of the cluster. All must outlive it.
[[nodiscard]] std::unique_ptr<Routing> make_rail_routing(const ClusterSpec& spec, const topology::Plant& plant,
                                                         const SharedFabric& shared, const CircuitRouting::Rails& rails);

/// The latency of a link between GPUs.
[[nodiscard]] inline Duration latency_of(const ScaleUpSpec& scale_up, const topology::GridLink& link) {
  return scale_up.latency + (link.face ? scale_up.face_latency : Duration{});
}

}  // namespace photonrail::fabric
