// The jobs on one cluster share this fabric: the network, and of every optical rail the switches and the layer between its
// pods. A job alone has one of its own.
#pragma once

#include "engine/engine.hpp"
#include "fabric/capacity_map.hpp"
#include "fabric/link_faults.hpp"
#include "fabric/mesh_routes.hpp"
#include "fabric/nic_faults.hpp"
#include "fabric/rail_switches.hpp"
#include "fabric/site_links.hpp"
#include "fabric/tier_faults.hpp"
#include "fabric/uplink_routes.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace photonrail::fabric {

class CircuitTransitions;

struct SharedRail {
  RailSwitches switches;
  const CapacityMap& capacities;
  std::vector<topology::CapacityId> pod_out{};  ///< electrical layer between pods, where it is oversubscribed
  std::vector<topology::CapacityId> pod_in{};
  std::vector<CircuitTransitions*> jobs{};  ///< of each job on it, whose circuits a dark switch pauses
  std::unique_ptr<MeshRoutes> mesh{};       ///< null: the switches do not block
  const SiteLinks* sites = nullptr;         ///< null: one site
};

/// Holds the settings of a run that concern the fabric.
struct FabricSettings {
  std::uint64_t seed = 1;         ///< of what switches draw
  double network_accuracy = 0.0;  ///< RunSpec's
};

class SharedFabric : private network::DeliveryListener {
 public:
  static constexpr int kJobShift = 56;  ///< a message's tag has its job above this bit
  static constexpr std::uint32_t kMaxJobs = 255;
  static constexpr std::uint32_t kNoJob = ~std::uint32_t{0};

  /// `gpus`: those of all jobs; empty: all of the plant. `engine`, `spec` and `plant` must outlive the object.
  SharedFabric(engine::Engine& engine, const ClusterSpec& spec, const topology::Plant& plant,
               const FabricSettings& settings, std::span<const GpuId> gpus = {});

  /// Assigns GPUs to jobs. `gpus`: by job, the GPUs of its ranks. A GPU without a rank, which may relay the traffic of
  /// other GPUs of its server, belongs to the first job that has a rank in that server.
  void seat(std::span<const std::span<const GpuId>> gpus);
  /// The job that the GPU's ports are of, or kNoJob.
  [[nodiscard]] std::uint32_t owner(GpuId gpu) const;

  [[nodiscard]] network::Network& network() { return network_; }
  [[nodiscard]] const CapacityMap& capacities() const { return capacities_; }
  /// Null: links between GPUs have no faults.
  [[nodiscard]] LinkFaults* link_faults() const { return link_faults_.get(); }
  /// Null: the cluster is one site.
  [[nodiscard]] const SiteLinks* sites() const { return sites_.get(); }
  /// Null: messages do not take single uplinks.
  [[nodiscard]] UplinkRoutes* uplink_routes() const { return uplink_routes_.get(); }
  /// Paths that were found earlier may be others when a message is posted.
  [[nodiscard]] bool redirects() const { return link_faults_ != nullptr || uplink_routes_ != nullptr; }
  /// REQUIRES: the rails are optical, and a job has a GPU on this one.
  [[nodiscard]] SharedRail& rail(RailId id) { return *rails_[id.index()]; }

  /// Sets the listener for the deliveries of a job. It must outlive the object. The network notifies a single job directly.
  void attach(network::DeliveryListener& only) {
    network_.attach(uplink_routes_ == nullptr ? only : uplink_routes_->before(only));
  }
  void attach(std::uint32_t job, network::DeliveryListener& listener);

 private:
  void delivered(std::uint64_t tag) override {
    jobs_[tag >> kJobShift]->delivered(tag & ((std::uint64_t{1} << kJobShift) - 1));
  }
  void add_sites(const SitesSpec& spec);
  void add_rail(const ClusterSpec& spec, const topology::Plant& plant, RailId id, std::uint64_t seed);

  CapacityMap capacities_;
  network::Network network_;
  std::unique_ptr<LinkFaults> link_faults_;
  std::unique_ptr<NicFaults> nic_faults_;  // null: the rails are optical, or have no faults
  std::unique_ptr<UplinkRoutes> uplink_routes_;
  std::unique_ptr<SiteLinks> sites_;
  std::unique_ptr<TierFaults> tier_faults_;         // null: there are none
  std::vector<std::unique_ptr<SharedRail>> rails_;  // null where no job has a GPU
  std::vector<network::DeliveryListener*> jobs_;
  const topology::Plant& plant_;
  std::unordered_map<std::uint32_t, std::uint32_t> job_of_gpu_;       // of GPUs with a rank
  std::unordered_map<std::uint32_t, std::uint32_t> first_in_server_;  // of servers with a rank: its first job
};

}  // namespace photonrail::fabric
