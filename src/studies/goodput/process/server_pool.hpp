// Which server is at which place of the job, which are spares, and which are down.
#pragma once

#include "photonrail/study/goodput/policy.hpp"
#include "photonrail/study/goodput/spec.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::goodput {

class ServerPool {
 public:
  static constexpr std::uint32_t kNoPlace = 0xffffffffU;

  /// `spec` must outlive it.
  explicit ServerPool(const GoodputSpec& spec);

  [[nodiscard]] std::uint32_t place_of(std::uint32_t server) const { return place_of_[server]; }
  [[nodiscard]] std::uint32_t replica_of(std::uint32_t place) const { return place / servers_per_replica_; }
  [[nodiscard]] bool is_down(std::uint32_t server) const { return down_[server] != 0; }
  /// Whether the server is in a replica that takes part.
  [[nodiscard]] bool is_active(std::uint32_t server) const;
  [[nodiscard]] std::uint32_t dropped() const { return dropped_count_; }
  [[nodiscard]] const std::vector<bool>& dropped_replicas() const { return dropped_; }
  [[nodiscard]] const std::vector<std::uint32_t>& servers_at() const { return server_at_; }
  [[nodiscard]] const std::vector<std::uint32_t>& down() const { return down_; }  ///< causes, by server
  /// Servers of a group of the job, with the spares of its racks.
  [[nodiscard]] std::vector<std::uint32_t> group(std::uint32_t part, std::uint32_t servers_per_part) const;

  void take_down(std::uint32_t server);
  void repair(std::uint32_t server);

  // Of the place of a failure. Idle: at no place, not down.
  [[nodiscard]] std::uint32_t idle_in_rack(std::uint32_t place) const { return idle_in_[rack_at(place)]; }
  [[nodiscard]] std::uint32_t idle() const { return idle_; }
  /// Another rack with as many idle servers as the place's rack has places; none: there is none.
  [[nodiscard]] std::optional<std::uint32_t> idle_rack(std::uint32_t place) const;
  [[nodiscard]] bool can_drop(std::uint32_t place) const;

  /// A spare takes the place: of the same rack, or the one that `placement` chooses. REQUIRES: there is one.
  void swap_in_rack(std::uint32_t place);
  void swap(std::uint32_t place, const SparePlacement& placement);
  /// All places of the rack move to another one with as many idle servers. REQUIRES: idle_rack().
  void move_rack(std::uint32_t place);
  void drop(std::uint32_t place);
  void rejoin(std::uint32_t replica);
  /// A dropped replica whose servers are all healthy; none: there is none.
  [[nodiscard]] std::optional<std::uint32_t> healthy_dropped() const;
  /// Places of dropped replicas whose server is down.
  [[nodiscard]] std::vector<std::uint32_t> places_to_fill() const;

 private:
  [[nodiscard]] bool is_idle(std::uint32_t server) const { return place_of_[server] == kNoPlace && down_[server] == 0; }
  [[nodiscard]] std::uint32_t rack_at(std::uint32_t place) const { return rack_[server_at_[place]]; }
  /// The server at the place leaves it, and `server` takes it.
  void replace(std::uint32_t place, std::uint32_t server);
  void count_idle(std::uint32_t server, bool idle);
  [[nodiscard]] std::vector<std::uint32_t> places_in(std::uint32_t rack) const;

  const GoodputSpec* spec_;
  std::uint32_t servers_per_replica_;
  std::uint32_t servers_per_rack_;
  std::vector<std::uint32_t> place_of_;   // by server
  std::vector<std::uint32_t> server_at_;  // by place
  std::vector<std::uint32_t> rack_;       // by server
  std::vector<std::uint32_t> down_;       // by server
  std::vector<std::uint32_t> idle_in_;    // by rack: idle servers
  std::uint32_t idle_ = 0;
  std::vector<bool> dropped_;  // by replica
  std::uint32_t dropped_count_ = 0;
};

}  // namespace photonrail::goodput
