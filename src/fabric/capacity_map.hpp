// The capacities of a plant that a run can use, numbered without gaps: those of the servers and of the rails that it has
// GPUs on, in the order of the plant's own numbers. So memory follows the jobs, and not the cluster.
#pragma once

#include "topology/plant.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::fabric {

using topology::CapacityId;

class CapacityMap {
 public:
  /// Maps the capacities of the servers and local indices of `gpus`; empty: of the whole plant, with the plant's numbers.
  /// `plant` must outlive the object.
  CapacityMap(const topology::Plant& plant, std::span<const GpuId> gpus);

  [[nodiscard]] std::uint32_t count() const { return end_; }
  /// Returns true when the run has GPUs in the server, and on the rail.
  [[nodiscard]] bool has_server(std::uint32_t server) const { return whole() || server_seat_[server] != kNone; }
  [[nodiscard]] bool has_rail(RailId rail) const { return whole() || rail_seat_[rail.index()] != kNone; }

  /// REQUIRES, here and below: has_server() and has_rail() of the GPU.
  [[nodiscard]] CapacityId scale_up_out(GpuId gpu) const { return seat(gpu); }
  [[nodiscard]] CapacityId scale_up_in(GpuId gpu) const { return scale_up_in_ + seat(gpu); }
  [[nodiscard]] CapacityId nic_out(GpuId gpu, std::uint32_t port) const { return nic_out_ + seat(gpu) * ports_ + port; }
  [[nodiscard]] CapacityId nic_in(GpuId gpu, std::uint32_t port) const { return nic_in_ + seat(gpu) * ports_ + port; }
  /// REQUIRES: two tiers; the leaf has a first port of a server that the run has.
  [[nodiscard]] CapacityId leaf_up(RailId rail, std::uint32_t leaf) const { return leaf_up_ + leaf_seat(rail, leaf); }
  [[nodiscard]] CapacityId leaf_down(RailId rail, std::uint32_t leaf) const { return leaf_down_ + leaf_seat(rail, leaf); }
  /// The first of these, all of which follow each other: up, then as many down. The leaves of all rails, seats, in order.
  [[nodiscard]] CapacityId first_leaf_up() const { return leaf_up_; }
  [[nodiscard]] std::uint32_t leaf_seats() const { return leaf_down_ - leaf_up_; }

  /// REQUIRES: the plant has a grid of links, and has_server() of the GPU, which may be on any rail.
  [[nodiscard]] CapacityId scale_up_link(GpuId gpu, std::uint32_t slot) const {
    const std::uint32_t server = plant_.server_of(gpu);
    const std::uint32_t seat = whole() ? server : server_seat_[server];
    return links_ + (seat * plant_.spec().gpus_per_server + plant_.local_of(gpu)) * slots() + slot;
  }

  /// Calls visit(GpuId, slot) for each slot of the grids of the servers.
  template <class Visit>
  void each_link_slot(Visit&& visit) const {
    for (std::uint32_t s = 0; slots() > 0 && s < plant_.spec().servers; ++s) {
      if (!has_server(s)) continue;
      for (std::uint32_t local = 0; local < plant_.spec().gpus_per_server; ++local) {
        for (std::uint32_t slot = 0; slot < slots(); ++slot) visit(plant_.gpu(s, local), slot);
      }
    }
  }
  /// Calls visit(GpuId) for each GPU of the servers and rails, ascending.
  template <class Visit>
  void each_gpu(Visit&& visit) const {
    const PlantSpec& spec = plant_.spec();
    for (std::uint32_t s = 0; s < spec.servers; ++s) {
      if (!has_server(s)) continue;
      for (std::uint32_t r = 0; r < spec.gpus_per_server; ++r) {
        if (has_rail(RailId{r})) visit(plant_.gpu(s, r));
      }
    }
  }
  /// Calls visit(rail, leaf) for each leaf of the servers and rails.
  template <class Visit>
  void each_leaf(Visit&& visit) const {
    for (std::uint32_t r = 0; leaves_ > 0 && r < plant_.spec().gpus_per_server; ++r) {
      if (!has_rail(RailId{r})) continue;
      for (const std::uint32_t leaf : leaf_list_) visit(RailId{r}, leaf);
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Returns the slots of a GPU in the grid of its server; 0 with a crossbar.
  [[nodiscard]] std::uint32_t slots() const { return plant_.grid() != nullptr ? plant_.grid()->slots() : 0; }
  [[nodiscard]] bool whole() const { return server_seat_.empty(); }
  [[nodiscard]] std::uint32_t seat(GpuId gpu) const {
    if (whole()) return gpu.value;
    return server_seat_[plant_.server_of(gpu)] * rails_ + rail_seat_[plant_.local_of(gpu)];
  }
  [[nodiscard]] std::uint32_t leaf_seat(RailId rail, std::uint32_t leaf) const {
    if (whole()) return rail.value * leaves_ + leaf;
    return rail_seat_[rail.index()] * leaves_ + leaf_seat_[leaf];
  }
  void list_leaves();

  const topology::Plant& plant_;
  std::uint32_t ports_;
  std::uint32_t rails_;                     // that the run has
  std::uint32_t leaves_ = 0;                // of a rail, that the run has; 0 with one tier
  std::vector<std::uint32_t> server_seat_;  // by server: its number among those that the run has; empty: the whole plant
  std::vector<std::uint32_t> rail_seat_;    // by rail
  std::vector<std::uint32_t> leaf_seat_;    // by leaf
  std::vector<std::uint32_t> leaf_list_;    // ascending
  // Where each kind of capacity begins; scale_up_out begins at 0.
  std::uint32_t scale_up_in_ = 0;
  std::uint32_t nic_out_ = 0;
  std::uint32_t nic_in_ = 0;
  std::uint32_t leaf_up_ = 0;
  std::uint32_t leaf_down_ = 0;
  std::uint32_t links_ = 0;
  std::uint32_t end_ = 0;
};

}  // namespace photonrail::fabric
