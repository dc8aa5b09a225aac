#include "fabric/site_links.hpp"

#include "core/checked.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace photonrail::fabric {

namespace {

// Breadth first, links in order. Empty: `to` is `from`, or cannot be reached.
std::vector<SiteLinks::Direction> shortest_way(const SitesSpec& spec, std::uint32_t from, std::uint32_t to) {
  std::vector<std::optional<SiteLinks::Direction>> over(spec.servers.size());
  std::vector<std::uint32_t> queue{from};
  const auto source = [&](SiteLinks::Direction d) { return d % 2 == 0 ? spec.links[d / 2].a : spec.links[d / 2].b; };
  const auto end = [&](SiteLinks::Direction d) { return d % 2 == 0 ? spec.links[d / 2].b : spec.links[d / 2].a; };
  for (std::size_t next = 0; next < queue.size() && !over[to]; ++next) {
    for (SiteLinks::Direction d = 0; d < 2 * spec.links.size(); ++d) {
      if (source(d) != queue[next] || end(d) == from || over[end(d)]) continue;
      over[end(d)] = d;
      queue.push_back(end(d));
    }
  }
  std::vector<SiteLinks::Direction> way;
  if (!over[to]) return way;
  for (std::uint32_t at = to; at != from; at = source(*over[at])) way.push_back(*over[at]);
  std::reverse(way.begin(), way.end());
  return way;
}

}  // namespace

SiteLinks::SiteLinks(const SitesSpec& spec) : spec_(spec) {
  const auto sites = static_cast<std::uint32_t>(spec.servers.size());
  for (std::uint32_t site = 0; site < sites; ++site) site_of_.insert(site_of_.end(), spec.servers[site], site);
  for (std::uint32_t from = 0; from < sites; ++from) {
    for (std::uint32_t to = 0; to < sites; ++to) {
      ways_.push_back(from == to ? std::vector<Direction>{} : shortest_way(spec, from, to));
    }
  }
}

std::span<const SiteLinks::Direction> SiteLinks::way(std::uint32_t from, std::uint32_t to) const {
  return ways_[site_of_[from] * spec_.servers.size() + site_of_[to]];
}

Duration SiteLinks::latency(std::uint32_t from, std::uint32_t to) const {
  Duration sum{};
  for (const Direction direction : way(from, to)) sum = core::checked_sum(sum, link(direction).latency);
  return sum;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> SiteLinks::parted(const SitesSpec& spec) {
  for (std::uint32_t site = 1; site < spec.servers.size(); ++site) {
    if (shortest_way(spec, 0, site).empty()) return std::pair(0U, site);
  }
  return std::nullopt;
}

}  // namespace photonrail::fabric
