// The single uplinks of electrical rails of two tiers: which of them a message takes, and on which it goes on when one
// fails. A path has the leaves' uplinks as one capacity each way until it is posted; then these are replaced.
//
// Leaves out: packets out of order, and queues that a hash fills; the parts of a message count as a flow each where they
// meet others.
#pragma once

#include "fabric/capacity_map.hpp"
#include "network/delivery_listener.hpp"
#include "network/network.hpp"
#include "photonrail/core/random.hpp"
#include "topology/plant.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace photonrail::fabric {

/// The bytes that one uplink of a leaf has carried.
struct UplinkLoad {
  RailId rail;
  std::uint32_t leaf = 0;
  std::uint32_t uplink = 0;
  Bandwidth rate{};  ///< each direction, without faults
  Bytes up{};
  Bytes down{};
};

/// Divides bytes into parts in the proportion of `shares`, by the largest remainder and among equal ones to the first: the
/// parts add up to `bytes`. REQUIRES: bytes >= 0; a share is above 0; bytes x shares stay below 2^127.
[[nodiscard]] std::vector<Bytes> divide(Bytes bytes, const std::vector<std::uint64_t>& shares);

class UplinkRoutes : private network::DeliveryListener {
 public:
  /// `plant`, `capacities` and `network` must outlive the object. REQUIRES: plant.spec().routes_uplinks(); all capacities
  /// of `capacities` are in the network, and nothing has been posted.
  UplinkRoutes(const topology::Plant& plant, const CapacityMap& capacities, network::Network& network, std::uint64_t seed);
  UplinkRoutes(const UplinkRoutes&) = delete;  // the network notifies it
  UplinkRoutes& operator=(const UplinkRoutes&) = delete;

  /// Where the network is to notify of deliveries, so that `last` is told once of a message with several parts. It must
  /// outlive the object.
  [[nodiscard]] network::DeliveryListener& before(network::DeliveryListener& last);

  /// Network::post(), over one uplink, or in parts over several. A path below one leaf is posted as it is.
  void post(network::Network::ChannelId channel, const network::Path& path, Bytes bytes, std::uint64_t tag);
  /// Closes the channels that parts had beside this one.
  void close(network::Network::ChannelId channel);

  /// An uplink has a share of its rate from now on, 0 to 1. Call settle_faults() after the last of an instant.
  void set_share(RailId rail, std::uint32_t leaf, std::uint32_t uplink, double share);
  /// Takes messages off uplinks that failed, with the bytes that they have left. Where none is left they wait.
  void settle_faults();

  /// The loads of all uplinks, ascending by rail, leaf and uplink.
  [[nodiscard]] std::vector<UplinkLoad> loads() const;

 private:
  /// The two leaves of a path between leaves, and where their uplinks stand in it.
  struct Crossing {
    std::size_t up_at = 0;
    std::size_t down_at = 0;
    std::uint32_t from = 0;  // seats of leaves
    std::uint32_t to = 0;
    std::optional<std::uint32_t> uplink{};  // none: all
  };

  void delivered(std::uint64_t tag) override;

  [[nodiscard]] std::optional<Crossing> crossing(const network::Path& path) const;
  [[nodiscard]] const UplinkSpec& spec() const { return plant_.spec().uplinks; }
  [[nodiscard]] bool divides() const {
    return spec().routing == UplinkRouting::kEqual || spec().routing == UplinkRouting::kShares;
  }
  /// The leaves of all rails that the run has.
  [[nodiscard]] std::uint32_t seats() const { return capacities_.leaf_seats(); }
  [[nodiscard]] CapacityId up(std::uint32_t seat, std::uint32_t uplink) const { return singles_ + seat * count_ + uplink; }
  [[nodiscard]] CapacityId down(std::uint32_t seat, std::uint32_t uplink) const {
    return singles_ + (seats() + seat) * count_ + uplink;
  }
  [[nodiscard]] bool usable(const Crossing& at, std::uint32_t uplink) const {
    return shares_[uplink] > 0 && failed_[up(at.from, uplink)] == 0 && failed_[down(at.to, uplink)] == 0;
  }
  [[nodiscard]] std::vector<std::uint32_t> usable(const Crossing& at) const;
  [[nodiscard]] std::uint32_t pick(const Crossing& at, const network::Path& path);
  [[nodiscard]] std::uint32_t hashed(const Crossing& at, const network::Path& path);
  [[nodiscard]] std::uint32_t least_loaded(const Crossing& at) const;
  [[nodiscard]] double queued_s(CapacityId capacity, std::uint32_t uplink) const;
  [[nodiscard]] network::Path over(const Crossing& at, const network::Path& path, std::uint32_t uplink) const;
  void leave(network::Network::ChannelId channel, const Crossing& at, const network::Path& path, std::uint32_t uplink,
             Bytes bytes, std::uint64_t tag);
  void post_parts(network::Network::ChannelId channel, const Crossing& at, const network::Path& path, Bytes bytes,
                  std::uint64_t tag);
  [[nodiscard]] network::Network::ChannelId channel_of_part(network::Network::ChannelId channel, std::size_t part);
  bool divert(network::Path& path, Bytes left);

  const topology::Plant& plant_;
  const CapacityMap& capacities_;
  network::Network& network_;
  std::uint32_t count_;                // uplinks of a leaf
  CapacityId singles_;                 // the first of a single uplink: all up, then all down
  std::vector<std::uint64_t> shares_;  // by uplink, in proportion; 0: no message takes it
  std::uint64_t seed_;
  RandomStream draws_;                // of messages
  std::vector<std::uint8_t> failed_;  // by capacity
  bool failures_changed_ = false;
  std::size_t diverted_ = 0;
  std::vector<std::int64_t> carried_;                                       // by capacity from singles_ on
  std::unordered_map<std::uint64_t, std::uint32_t> parts_left_;             // by tag, of messages in several parts
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> channels_;  // by channel: of its further parts
  network::DeliveryListener* last_ = nullptr;
};

}  // namespace photonrail::fabric
