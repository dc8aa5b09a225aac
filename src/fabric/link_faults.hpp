// Faults of the links between the GPUs of a server in time (ScaleUpFault): rates fall and rise again, and messages go round
// links that failed, by the shortest way that is left.
#pragma once

#include "engine/engine.hpp"
#include "fabric/capacity_map.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "topology/link_grid.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail::fabric {

class LinkFaults {
 public:
  using Way = std::vector<topology::GridLink>;

  /// Holds what the faults act on. All must outlive the object.
  struct Parts {
    engine::Engine& engine;
    const ClusterSpec& spec;
    const topology::Plant& plant;
    const CapacityMap& capacities;
    network::Network& network;
  };
  /// Schedules the faults. REQUIRES: time 0, and the plant has a grid.
  explicit LinkFaults(const Parts& parts);
  LinkFaults(const LinkFaults&) = delete;  // events name it
  LinkFaults& operator=(const LinkFaults&) = delete;

  /// The way around links that failed, of local indices; null: the way of the grid is whole, or no way is left.
  [[nodiscard]] const Way* detour(std::uint32_t server, std::uint32_t from, std::uint32_t to);
  /// Puts the links of the path on the way that a message would find now. False: they are on it, or no way is left.
  bool divert(network::Path& path);

  /// When a fault begins or ends the next time after `now`; nullopt: none does.
  [[nodiscard]] std::optional<Time> next_change(Time now) const;

  /// Returns what has been wrong so far, and which GPUs are cut off from each other now, each a line for people.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Link {
    std::uint32_t server = 0;
    topology::GridLink link{};
  };

  template <class Visit>
  void each_link(const ScaleUpFault& fault, Visit&& visit) const;
  void begin(std::uint64_t index);
  void end(std::uint64_t index);
  void change(const ScaleUpFault& fault, bool begins);
  [[nodiscard]] bool failed(std::uint32_t server, const topology::GridLink& link) const;
  [[nodiscard]] Way shortest(std::uint32_t server, std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Duration latency(const topology::GridLink& link) const;

  Parts parts_;
  std::vector<std::multiset<double>> shares_;  // by link: of its rate, what each fault on it leaves
  std::vector<std::uint8_t> failed_;           // by capacity: whether it failed, and whether ways over it may be detours
  std::vector<Link> link_of_;                  // by capacity, from first_ on
  topology::CapacityId first_ = 0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Way> detours_;  // empty: no way is left
};

}  // namespace photonrail::fabric
