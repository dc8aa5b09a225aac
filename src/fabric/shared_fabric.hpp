// What the jobs on one cluster share: the network, and of every optical rail the switches and the layer between its pods.
// A job alone has one of its own.
#pragma once

#include "fabric/rail_switches.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/engine.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace photonrail {

class OpticalRail;

struct SharedRail {
  RailSwitches switches;
  std::vector<CapacityId> pod_out{};  ///< electrical layer between pods, where it is oversubscribed
  std::vector<CapacityId> pod_in{};
  std::vector<OpticalRail*> jobs{};  ///< the circuits of each job on it
};

class SharedFabric : private DeliveryListener {
 public:
  static constexpr int kJobShift = 56;  ///< a message's tag has its job above this bit
  static constexpr std::uint32_t kMaxJobs = 255;

  /// `engine`, `spec` and `plant` must outlive the object.
  SharedFabric(Engine& engine, const ClusterSpec& spec, const Plant& plant, std::uint64_t seed);

  [[nodiscard]] Network& network() { return network_; }
  /// REQUIRES: the rails are optical.
  [[nodiscard]] SharedRail& rail(RailId id) { return *rails_[id.index()]; }

  /// Who is told of the deliveries of a job. It must outlive the object. A job alone is told by the network itself.
  void attach(DeliveryListener& only) { network_.attach(only); }
  void attach(std::uint32_t job, DeliveryListener& listener);

 private:
  void delivered(std::uint64_t tag) override {
    jobs_[tag >> kJobShift]->delivered(tag & ((std::uint64_t{1} << kJobShift) - 1));
  }
  void add_rail(const ClusterSpec& spec, const Plant& plant, RailId id, std::uint64_t seed);

  Network network_;
  std::vector<std::unique_ptr<SharedRail>> rails_;
  std::vector<DeliveryListener*> jobs_;
};

}  // namespace photonrail
