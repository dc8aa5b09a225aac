// The capacities of a plant. Their ids are computed from port numbers, so that routing needs no table.
// A capacity is one direction of a link that messages share.
//
// All uplinks of a leaf are one capacity each way, as if spread ideally; single ones are fabric::UplinkRoutes'.
//
// Leaves out: blocking in the spines, however many tiers of them.
#pragma once

#include "photonrail/cluster/topology.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"
#include "topology/link_grid.hpp"

#include <cstdint>
#include <optional>

namespace photonrail::topology {

using CapacityId = std::uint32_t;

class Plant {
 public:
  /// Throws ConfigError when a number of the spec has no meaning, or there are too many capacities for a CapacityId.
  explicit Plant(const PlantSpec& spec);

  /// Returns how many capacities a plant has, before it is known whether they can be numbered.
  [[nodiscard]] static std::uint64_t count(const PlantSpec& spec);

  [[nodiscard]] const PlantSpec& spec() const { return spec_; }
  [[nodiscard]] std::uint32_t capacities() const { return end_; }

  /// REQUIRES, here and below: the GPU, the port, the rail and the leaf exist.
  [[nodiscard]] CapacityId scale_up_out(GpuId gpu) const { return gpu.value; }
  [[nodiscard]] CapacityId scale_up_in(GpuId gpu) const { return scale_up_in_ + gpu.value; }
  [[nodiscard]] CapacityId nic_out(GpuId gpu, std::uint32_t port) const {
    return nic_out_ + gpu.value * spec_.nic_ports + port;
  }
  [[nodiscard]] CapacityId nic_in(GpuId gpu, std::uint32_t port) const {
    return nic_in_ + gpu.value * spec_.nic_ports + port;
  }
  /// From a leaf to the spines and back. REQUIRES: two tiers.
  [[nodiscard]] CapacityId leaf_up(RailId rail, std::uint32_t leaf) const { return leaf_up_ + rail.value * leaves_ + leaf; }
  [[nodiscard]] CapacityId leaf_down(RailId rail, std::uint32_t leaf) const {
    return leaf_down_ + rail.value * leaves_ + leaf;
  }

  /// The links of a server's GPUs to each other; null: a crossbar.
  [[nodiscard]] const LinkGrid* grid() const { return grid_ ? &*grid_ : nullptr; }
  /// A slot of a GPU (LinkGrid). REQUIRES: grid() != nullptr.
  [[nodiscard]] CapacityId scale_up_link(GpuId gpu, std::uint32_t slot) const { return links_ + gpu.value * slots_ + slot; }

  [[nodiscard]] std::uint32_t server_of(GpuId gpu) const { return gpu.value / spec_.gpus_per_server; }
  [[nodiscard]] std::uint32_t local_of(GpuId gpu) const { return gpu.value % spec_.gpus_per_server; }
  [[nodiscard]] GpuId gpu(std::uint32_t server, std::uint32_t local) const {
    return GpuId{server * spec_.gpus_per_server + local};
  }
  [[nodiscard]] PortId rail_port(GpuId gpu, std::uint32_t port) const {
    return PortId{server_of(gpu) * spec_.nic_ports + port};
  }

  /// The ports of a rail fill its leaves in order. 0 with one tier.
  [[nodiscard]] std::uint32_t leaf_of(GpuId gpu, std::uint32_t port) const {
    return rail_port(gpu, port).value / ports_per_leaf_;
  }

  [[nodiscard]] Bandwidth rate(CapacityId id) const;

 private:
  PlantSpec spec_;
  std::uint32_t ports_per_leaf_;
  std::uint32_t leaves_;  // per rail; 0 with one tier
  // Where each kind of capacity begins; scale_up_out begins at 0.
  std::uint32_t scale_up_in_;
  std::uint32_t nic_out_;
  std::uint32_t nic_in_;
  std::uint32_t leaf_up_;
  std::uint32_t leaf_down_;
  std::uint32_t links_;
  std::uint32_t end_;
  std::uint32_t slots_ = 0;  // of a GPU; 0 with a crossbar
  std::optional<LinkGrid> grid_;
};

}  // namespace photonrail::topology
