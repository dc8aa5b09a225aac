#include "fabric/capacity_map.hpp"

#include <algorithm>

namespace photonrail::fabric {

using topology::Plant;

namespace {

// Numbers those of `count` that are marked; returns how many they are.
std::uint32_t number(std::vector<std::uint32_t>& seats, std::uint32_t none) {
  std::uint32_t next = 0;
  for (std::uint32_t& seat : seats) {
    if (seat != none) seat = next++;
  }
  return next;
}

}  // namespace

CapacityMap::CapacityMap(const Plant& plant, std::span<const GpuId> gpus)
    : plant_(plant), ports_(plant.spec().nic_ports), rails_(plant.spec().gpus_per_server) {
  std::uint32_t servers = plant.spec().servers;
  if (!gpus.empty()) {
    server_seat_.assign(servers, kNone);
    rail_seat_.assign(rails_, kNone);
    for (const GpuId gpu : gpus) server_seat_[plant.server_of(gpu)] = rail_seat_[plant.local_of(gpu)] = 0;
    servers = number(server_seat_, kNone);
    rails_ = number(rail_seat_, kNone);
    if (servers == server_seat_.size() && rails_ == rail_seat_.size()) server_seat_.clear();  // the whole plant after all
  }
  if (plant.spec().two_tier()) list_leaves();
  const std::uint32_t seats = servers * rails_;
  scale_up_in_ = seats;
  nic_out_ = scale_up_in_ + seats;
  nic_in_ = nic_out_ + seats * ports_;
  leaf_up_ = nic_in_ + seats * ports_;
  leaf_down_ = leaf_up_ + rails_ * leaves_;
  links_ = leaf_down_ + rails_ * leaves_;
  end_ = links_ + servers * plant.spec().gpus_per_server * slots();
}

void CapacityMap::list_leaves() {
  leaf_seat_.assign(plant_.spec().leaves(), kNone);
  if (whole()) std::fill(leaf_seat_.begin(), leaf_seat_.end(), 0);
  for (std::uint32_t s = 0; s < server_seat_.size(); ++s) {
    if (has_server(s)) leaf_seat_[plant_.leaf_of(plant_.gpu(s, 0), 0)] = 0;
  }
  leaves_ = number(leaf_seat_, kNone);
  for (std::uint32_t leaf = 0; leaf < leaf_seat_.size(); ++leaf) {
    if (leaf_seat_[leaf] != kNone) leaf_list_.push_back(leaf);
  }
}

}  // namespace photonrail::fabric
