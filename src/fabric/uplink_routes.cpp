#include "fabric/uplink_routes.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace photonrail::fabric {

using network::Network;
using network::Path;

// Divides bytes by largest remainder, so that the parts add up to the whole; equal remainders go to the first parts.
std::vector<Bytes> divide(Bytes bytes, const std::vector<std::uint64_t>& shares) {
  const std::uint64_t whole = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
  PHOTONRAIL_CHECK(whole > 0 && bytes.count >= 0);
  std::vector<Bytes> parts(shares.size());
  std::vector<std::pair<std::uint64_t, std::size_t>> remainders;
  std::int64_t left = bytes.count;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    // Bytes times a share may exceed 64 bits.
    const unsigned __int128 product = static_cast<unsigned __int128>(bytes.count) * shares[i];
    parts[i].count = static_cast<std::int64_t>(product / whole);
    remainders.emplace_back(static_cast<std::uint64_t>(product % whole), i);
    left -= parts[i].count;
  }
  std::stable_sort(remainders.begin(), remainders.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::int64_t i = 0; i < left; ++i) ++parts[remainders[static_cast<std::size_t>(i)].second].count;
  return parts;
}

namespace {

// Shares as whole numbers, so that dividing is exact: units of 1e-15 tell a byte of a petabyte.
std::vector<std::uint64_t> whole_shares(const PlantSpec& plant) {
  std::vector<std::uint64_t> shares(plant.uplink_count(), 1);
  const UplinkSpec& uplinks = plant.uplinks;
  if (uplinks.routing != UplinkRouting::kShares) return shares;
  for (std::uint32_t u = 0; u < shares.size(); ++u) {
    const double share = uplinks.shares.empty() ? plant.uplink_rate(u).bytes_per_second / plant.leaf_rate().bytes_per_second
                                                : uplinks.shares[u];
    shares[u] = static_cast<std::uint64_t>(std::llround(share * 1e15));
  }
  return shares;
}

// What two leaves have between them for a message that is alone, one way.
Bandwidth rate_alone(const PlantSpec& plant, const std::vector<std::uint64_t>& shares, bool divides) {
  const auto all = static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}));
  double greatest = 0.0;
  double divided = std::numeric_limits<double>::infinity();
  for (std::uint32_t u = 0; u < shares.size(); ++u) {
    const double rate = plant.uplink_rate(u).bytes_per_second;
    greatest = std::max(greatest, rate);
    if (shares[u] > 0) divided = std::min(divided, rate * all / static_cast<double>(shares[u]));
  }
  return {divides ? divided : greatest};
}

}  // namespace

UplinkRoutes::UplinkRoutes(const topology::Plant& plant, const CapacityMap& capacities, Network& network,
                           std::uint64_t seed)
    : plant_(plant),
      capacities_(capacities),
      network_(network),
      count_(plant.spec().uplink_count()),
      singles_(capacities.count()),
      shares_(whole_shares(plant.spec())),
      seed_(RandomStream(seed, "flows over uplinks").next()),
      draws_(seed, "messages over uplinks") {
  PHOTONRAIL_CHECK(plant.spec().routes_uplinks());
  const std::size_t end = singles_ + std::size_t{2} * seats() * count_;
  // Single uplinks are capacities behind all others: up by seat and uplink, then down. A seat is a leaf on a rail.
  network_.resize(end);
  failed_.assign(end, 0);
  carried_.assign(end - singles_, 0);
  for (std::uint32_t seat = 0; seat < seats(); ++seat) {
    for (std::uint32_t u = 0; u < count_; ++u) {
      network_.set_rate(up(seat, u), plant.spec().uplink_rate(u));
      network_.set_rate(down(seat, u), plant.spec().uplink_rate(u));
    }
  }
  // No message takes the uplinks of a leaf as one capacity: its rate is that of a message alone between two leaves.
  const Bandwidth alone = rate_alone(plant.spec(), shares_, divides());
  capacities.each_leaf([&](RailId rail, std::uint32_t leaf) {
    network_.set_rate(capacities.leaf_up(rail, leaf), alone);
    network_.set_rate(capacities.leaf_down(rail, leaf), alone);
  });
}

network::DeliveryListener& UplinkRoutes::before(network::DeliveryListener& last) {
  if (!divides()) return last;
  last_ = &last;
  return *this;
}

void UplinkRoutes::delivered(std::uint64_t tag) {
  const auto parts = parts_left_.find(tag);
  if (parts != parts_left_.end()) {
    if (--parts->second > 0) return;
    parts_left_.erase(parts);
  }
  last_->delivered(tag);
}

// Finds the uplinks of a path: those of whole leaves as Fabric::route() has them, or single ones.
std::optional<UplinkRoutes::Crossing> UplinkRoutes::crossing(const Path& path) const {
  const CapacityId whole = capacities_.first_leaf_up();
  Crossing at;
  bool found = false;
  const auto hops = path.hops();
  for (std::size_t h = 0; h < hops.size(); ++h) {
    // A diverted message already stands on a single uplink, a new one on its leaf's as a whole.
    const bool single = hops[h] >= singles_ && hops[h] < singles_ + 2 * seats() * count_;
    if (!single && (hops[h] < whole || hops[h] >= whole + 2 * seats())) continue;
    const std::uint32_t number = single ? (hops[h] - singles_) / count_ : hops[h] - whole;
    if (single) at.uplink = (hops[h] - singles_) % count_;
    (number < seats() ? at.up_at : at.down_at) = h;
    (number < seats() ? at.from : at.to) = number % seats();
    found = true;
  }
  return found ? std::optional(at) : std::nullopt;
}

std::vector<std::uint32_t> UplinkRoutes::usable(const Crossing& at) const {
  std::vector<std::uint32_t> uplinks;
  for (std::uint32_t u = 0; u < count_; ++u) {
    if (usable(at, u)) uplinks.push_back(u);
  }
  return uplinks;
}

// Where an uplink of the hash has failed another one is taken, and all other messages stay where they are.
std::uint32_t UplinkRoutes::hashed(const Crossing& at, const Path& path) {
  std::uint64_t hash = 0;
  if (spec().hash_by == UplinkSpec::HashBy::kMessage) {
    hash = draws_.next();
  } else {
    const auto hops = path.hops();  // the NICs stand at the ends of the way over the leaves
    const std::uint64_t flow = std::uint64_t{hops[at.up_at - 1]} << 32 | hops[at.down_at + 1];
    hash = RandomStream(seed_ ^ flow, "flow").next();
  }
  // The hash counts failed uplinks too, so that a failure moves only the messages of the failed uplink.
  const auto uplink = static_cast<std::uint32_t>(hash % count_);
  if (usable(at, uplink)) return uplink;
  const std::vector<std::uint32_t> others = usable(at);
  return others.empty() ? uplink : others[hash / count_ % others.size()];
}

double UplinkRoutes::queued_s(CapacityId capacity, std::uint32_t uplink) const {
  const double left = static_cast<double>(network_.bytes_left(capacity).count);
  return left / plant_.spec().uplink_rate(uplink).bytes_per_second;
}

// Among equal ones the fastest, then the first.
std::uint32_t UplinkRoutes::least_loaded(const Crossing& at) const {
  std::optional<std::uint32_t> best;
  double least = 0.0;
  const auto rate = [this](std::uint32_t u) { return plant_.spec().uplink_rate(u).bytes_per_second; };
  for (std::uint32_t u = 0; u < count_; ++u) {
    if (!usable(at, u)) continue;
    // The way is as long as its fuller end: the leaf of the sender, or that of the receiver.
    const double queued = std::max(queued_s(up(at.from, u), u), queued_s(down(at.to, u), u));
    if (best && (queued > least || (queued == least && rate(u) <= rate(*best)))) continue;
    best = u;
    least = queued;
  }
  return best.value_or(0);
}

std::uint32_t UplinkRoutes::pick(const Crossing& at, const Path& path) {
  return spec().routing == UplinkRouting::kHash ? hashed(at, path) : least_loaded(at);
}

Path UplinkRoutes::over(const Crossing& at, const Path& path, std::uint32_t uplink) const {
  Path way;
  const auto hops = path.hops();
  for (std::size_t h = 0; h < hops.size(); ++h) {
    way.add(h == at.up_at ? up(at.from, uplink) : h == at.down_at ? down(at.to, uplink) : hops[h]);
  }
  way.latency = path.latency;
  way.overhead = path.overhead;
  return way;
}

void UplinkRoutes::post(Network::ChannelId channel, const Path& path, Bytes bytes, std::uint64_t tag) {
  const std::optional<Crossing> at = crossing(path);
  if (!at) return network_.post(channel, path, bytes, tag);
  if (divides()) return post_parts(channel, *at, path, bytes, tag);
  leave(channel, *at, path, pick(*at, path), bytes, tag);
}

void UplinkRoutes::leave(Network::ChannelId channel, const Crossing& at, const Path& path, std::uint32_t uplink,
                         Bytes bytes, std::uint64_t tag) {
  carried_[up(at.from, uplink) - singles_] += bytes.count;
  carried_[down(at.to, uplink) - singles_] += bytes.count;
  network_.post(channel, over(at, path, uplink), bytes, tag);
}

// Each part has a channel of its own, so that it waits for the part before it on its uplink, and not for others of its
// message. A part without a byte is not sent, but the first of a message without any.
void UplinkRoutes::post_parts(Network::ChannelId channel, const Crossing& at, const Path& path, Bytes bytes,
                              std::uint64_t tag) {
  std::vector<std::uint32_t> uplinks = usable(at);
  // Where all have failed, the parts wait on the failed ones until a repair.
  if (uplinks.empty()) {
    for (std::uint32_t u = 0; u < count_; ++u) {
      if (shares_[u] > 0) uplinks.push_back(u);
    }
  }
  std::vector<std::uint64_t> shares;
  for (const std::uint32_t u : uplinks) shares.push_back(shares_[u]);
  const std::vector<Bytes> parts = divide(bytes, shares);
  const auto sent = static_cast<std::uint32_t>(std::ranges::count_if(parts, [](Bytes part) { return part.count > 0; }));
  if (sent == 0) return leave(channel, at, path, uplinks.front(), Bytes{}, tag);
  if (sent > 1) parts_left_[tag] = sent;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].count > 0) leave(channel_of_part(channel, i), at, path, uplinks[i], parts[i], tag);
  }
}

Network::ChannelId UplinkRoutes::channel_of_part(Network::ChannelId channel, std::size_t part) {
  if (channel == Network::kNone || part == 0) return channel;
  std::vector<std::uint32_t>& further = channels_[channel];
  while (further.size() < part) further.push_back(network_.open_channel());
  return further[part - 1];
}

void UplinkRoutes::close(Network::ChannelId channel) {
  const auto further = channels_.find(channel);
  if (further == channels_.end()) return;
  for (const std::uint32_t part : further->second) network_.close_channel(part);
  channels_.erase(further);
}

void UplinkRoutes::set_share(RailId rail, std::uint32_t leaf, std::uint32_t uplink, double share) {
  const std::uint32_t seat = capacities_.leaf_up(rail, leaf) - capacities_.first_leaf_up();
  const Bandwidth rate{plant_.spec().uplink_rate(uplink).bytes_per_second * share};
  for (const CapacityId id : {up(seat, uplink), down(seat, uplink)}) {
    network_.set_rate(id, rate);
    // Diverting looks at every flow, so that a rate that only falls does not ask for it.
    failures_changed_ = failures_changed_ || (failed_[id] != 0) != (share == 0.0);
    failed_[id] = share == 0.0 ? 1 : 0;
  }
}

void UplinkRoutes::settle_faults() {
  if (!std::exchange(failures_changed_, false)) return;
  network_.divert(failed_, [this](Path& path, Bytes left) { return divert(path, left); });
}

// Equal parts go on over the uplinks that are left in turn.
bool UplinkRoutes::divert(Path& path, Bytes left) {
  const std::optional<Crossing> at = crossing(path);
  PHOTONRAIL_CHECK(at && at->uplink);
  std::uint32_t uplink = *at->uplink;
  // The hash and the least load choose anew; equal parts have no choice of their own, and others take the least load.
  if (spec().routing == UplinkRouting::kEqual) {
    const std::vector<std::uint32_t> others = usable(*at);
    if (!others.empty()) uplink = others[diverted_++ % others.size()];
  } else {
    uplink = pick(*at, path);
  }
  if (!usable(*at, uplink)) return false;
  // What has left before the failure stays in the books of the failed uplink.
  for (const CapacityId id : {up(at->from, *at->uplink), down(at->to, *at->uplink)}) carried_[id - singles_] -= left.count;
  for (const CapacityId id : {up(at->from, uplink), down(at->to, uplink)}) carried_[id - singles_] += left.count;
  path = over(*at, path, uplink);
  return true;
}

std::vector<UplinkLoad> UplinkRoutes::loads() const {
  std::vector<UplinkLoad> loads;
  capacities_.each_leaf([&](RailId rail, std::uint32_t leaf) {
    const std::uint32_t seat = capacities_.leaf_up(rail, leaf) - capacities_.first_leaf_up();
    for (std::uint32_t u = 0; u < count_; ++u) {
      loads.push_back({rail, leaf, u, plant_.spec().uplink_rate(u), Bytes{carried_[up(seat, u) - singles_]},
                       Bytes{carried_[down(seat, u) - singles_]}});
    }
  });
  return loads;
}

}  // namespace photonrail::fabric
