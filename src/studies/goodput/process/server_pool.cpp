#include "studies/goodput/process/server_pool.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>

namespace photonrail::goodput {

ServerPool::ServerPool(const GoodputSpec& spec)
    : spec_(&spec),
      servers_per_replica_(spec.job.servers / spec.job.replicas),
      servers_per_rack_(spec.spares.servers_per_rack == 0 ? spec.job.servers : spec.spares.servers_per_rack),
      place_of_(spec.servers(), kNoPlace),
      server_at_(spec.job.servers),
      rack_(spec.servers()),
      down_(spec.servers(), 0),
      dropped_(spec.job.replicas, false) {
  const std::uint32_t racks = spec.racks();
  const std::uint32_t first_anywhere = spec.job.servers + racks * spec.spares.per_rack;
  for (std::uint32_t s = 0; s < spec.servers(); ++s) {
    if (s < spec.job.servers) {
      server_at_[s] = place_of_[s] = s;
      rack_[s] = s / servers_per_rack_;
    } else if (s < first_anywhere) {
      rack_[s] = (s - spec.job.servers) / spec.spares.per_rack;
    } else {
      rack_[s] = racks + (s - first_anywhere) / servers_per_rack_;
    }
  }
  idle_in_.resize(1 + *std::max_element(rack_.begin(), rack_.end()), 0);
  for (std::uint32_t s = spec.job.servers; s < spec.servers(); ++s) count_idle(s, true);
}

bool ServerPool::is_active(std::uint32_t server) const {
  return place_of_[server] != kNoPlace && !dropped_[replica_of(place_of_[server])];
}

std::vector<std::uint32_t> ServerPool::group(std::uint32_t part, std::uint32_t servers_per_part) const {
  std::vector<std::uint32_t> servers;
  const std::uint32_t first = part * servers_per_part;
  const std::uint32_t end = std::min(first + servers_per_part, spec_->job.servers);
  for (std::uint32_t s = first; s < end; ++s) servers.push_back(s);
  for (std::uint32_t i = 0; i < spec_->racks() * spec_->spares.per_rack; ++i) {
    const std::uint32_t rack_begins = i / spec_->spares.per_rack * servers_per_rack_;
    if (rack_begins >= first && rack_begins < end) servers.push_back(spec_->job.servers + i);
  }
  return servers;
}

void ServerPool::count_idle(std::uint32_t server, bool idle) {
  std::uint32_t& in_rack = idle_in_[rack_[server]];
  in_rack = idle ? in_rack + 1 : in_rack - 1;
  idle_ = idle ? idle_ + 1 : idle_ - 1;
}

void ServerPool::replace(std::uint32_t place, std::uint32_t server) {
  const std::uint32_t before = server_at_[place];
  count_idle(server, false);
  server_at_[place] = server;
  place_of_[server] = place;
  place_of_[before] = kNoPlace;
  if (is_idle(before)) count_idle(before, true);
}

void ServerPool::take_down(std::uint32_t server) {
  if (is_idle(server)) count_idle(server, false);
  ++down_[server];
}

void ServerPool::repair(std::uint32_t server) {
  --down_[server];
  if (is_idle(server)) count_idle(server, true);
}

bool ServerPool::can_drop(std::uint32_t place) const {
  return !dropped_[replica_of(place)] && spec_->job.replicas - dropped_count_ > spec_->job.min_replicas;
}

void ServerPool::swap_in_rack(std::uint32_t place) {
  for (std::uint32_t s = 0; s < rack_.size(); ++s) {
    if (rack_[s] != rack_at(place) || !is_idle(s)) continue;
    return replace(place, s);
  }
  PHOTONRAIL_CHECK(false);
}

void ServerPool::swap(std::uint32_t place, const SparePlacement& placement) {
  std::vector<SpareView> spares;
  std::map<std::uint32_t, std::uint32_t> idle_in;
  for (std::uint32_t s = 0; s < rack_.size(); ++s) {
    if (!is_idle(s)) continue;
    spares.push_back({s, rack_[s], 0});
    ++idle_in[rack_[s]];
  }
  for (SpareView& spare : spares) spare.idle_in_rack = idle_in[spare.rack];
  PHOTONRAIL_CHECK(!spares.empty());
  const std::size_t chosen = placement.choose(rack_at(place), spares);
  if (chosen >= spares.size())
    throw core::FieldError(core::field("reliability.spare_placement"), "the policy chose a spare that there is not");
  replace(place, spares[chosen].server);
}

std::vector<std::uint32_t> ServerPool::places_in(std::uint32_t rack) const {
  std::vector<std::uint32_t> places;
  for (std::uint32_t s = 0; s < rack_.size(); ++s) {
    if (rack_[s] == rack && place_of_[s] != kNoPlace) places.push_back(place_of_[s]);
  }
  return places;
}

std::optional<std::uint32_t> ServerPool::idle_rack(std::uint32_t place) const {
  const std::size_t needed = places_in(rack_at(place)).size();
  std::map<std::uint32_t, std::size_t> idle_in;
  for (std::uint32_t s = 0; s < rack_.size(); ++s) {
    if (rack_[s] != rack_at(place) && is_idle(s) && ++idle_in[rack_[s]] == needed) return rack_[s];
  }
  return std::nullopt;
}

void ServerPool::move_rack(std::uint32_t place) {
  const std::uint32_t to = idle_rack(place).value();
  const std::vector<std::uint32_t> places = places_in(rack_at(place));
  std::uint32_t target = 0;
  for (const std::uint32_t p : places) {
    while (rack_[target] != to || !is_idle(target)) ++target;
    replace(p, target);
  }
}

void ServerPool::drop(std::uint32_t place) {
  PHOTONRAIL_CHECK(can_drop(place));
  dropped_[replica_of(place)] = true;
  ++dropped_count_;
}

void ServerPool::rejoin(std::uint32_t replica) {
  PHOTONRAIL_CHECK(dropped_[replica]);
  dropped_[replica] = false;
  --dropped_count_;
}

std::optional<std::uint32_t> ServerPool::healthy_dropped() const {
  if (dropped_count_ == 0) return std::nullopt;
  for (std::uint32_t r = 0; r < dropped_.size(); ++r) {
    if (!dropped_[r]) continue;
    bool healthy = true;
    for (std::uint32_t p = r * servers_per_replica_; p < (r + 1) * servers_per_replica_; ++p) {
      healthy = healthy && !is_down(server_at_[p]);
    }
    if (healthy) return r;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> ServerPool::places_to_fill() const {
  std::vector<std::uint32_t> places;
  if (dropped_count_ == 0) return places;
  for (std::uint32_t r = 0; r < dropped_.size(); ++r) {
    if (!dropped_[r]) continue;
    for (std::uint32_t p = r * servers_per_replica_; p < (r + 1) * servers_per_replica_; ++p) {
      if (is_down(server_at_[p])) places.push_back(p);
    }
  }
  return places;
}

}  // namespace photonrail::goodput
