// The links between the sites of a cluster: over which of them a message goes from one site to another, fixed from the
// beginning. A link is one capacity each way, which all rails share.
#pragma once

#include "photonrail/cluster.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::fabric {

class SiteLinks {
 public:
  /// One direction of a link: 2 x link, and one more against the order in which the link names its sites.
  using Direction = std::uint32_t;

  /// REQUIRES: the sites are valid. `spec` must outlive the object.
  explicit SiteLinks(const SitesSpec& spec);

  /// The directions become capacities from this one on.
  void place(topology::CapacityId first) { first_ = first; }
  [[nodiscard]] topology::CapacityId capacity(Direction direction) const { return first_ + direction; }
  [[nodiscard]] Direction directions() const { return 2 * static_cast<Direction>(spec_.links.size()); }
  [[nodiscard]] const SiteLink& link(Direction direction) const { return spec_.links[direction / 2]; }

  /// The links from one server to another, in order: the fewest, and of equally many the first by their numbers. Empty
  /// within a site.
  [[nodiscard]] std::span<const Direction> way(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Duration latency(std::uint32_t from, std::uint32_t to) const;

  /// The first pair of sites that no links join; nullopt: there is none.
  [[nodiscard]] static std::optional<std::pair<std::uint32_t, std::uint32_t>> parted(const SitesSpec& spec);

 private:
  const SitesSpec& spec_;
  topology::CapacityId first_ = 0;
  std::vector<std::uint32_t> site_of_;        // by server
  std::vector<std::vector<Direction>> ways_;  // by site and site
};

}  // namespace photonrail::fabric
