#include "fabric/link_faults.hpp"

#include "core/checked.hpp"
#include "core/printed.hpp"

#include <algorithm>

namespace photonrail::fabric {

using topology::CapacityId;
using topology::GridLink;

namespace {

// Marks a link. One that failed once, or is on a detour, stays marked: a way over it may be another than that of the grid.
constexpr std::uint8_t kFailed = 1;
constexpr std::uint8_t kDetour = 2;

std::string place_of(const ScaleUpFault& fault) {
  if (fault.gpu && fault.to) {
    return "the link between GPUs " + std::to_string(*fault.gpu) + " and " + std::to_string(*fault.to);
  }
  if (fault.gpu) return "every link of GPU " + std::to_string(*fault.gpu);
  std::string at;
  for (const std::uint32_t coordinate : fault.position) at += (at.empty() ? "" : ", ") + std::to_string(coordinate);
  return "the optical switch of dimension " + std::to_string(*fault.dimension) + " at (" + at + ")";
}

}  // namespace

LinkFaults::LinkFaults(const Parts& parts) : parts_(parts), failed_(parts.capacities.count(), 0) {
  const topology::LinkGrid& grid = *parts_.plant.grid();
  bool any = false;
  parts_.capacities.each_link_slot([&](GpuId gpu, std::uint32_t slot) {
    if (!any) first_ = parts_.capacities.scale_up_link(gpu, slot);
    any = true;
    const std::uint32_t local = parts_.plant.local_of(gpu);
    const bool face = grid.has(local) && grid.is_face(local, slot);  // a GPU that a ring bypasses has slots, but no links
    link_of_.push_back({parts_.plant.server_of(gpu), {local, slot, face}});
  });
  shares_.resize(link_of_.size());
  const std::vector<ScaleUpFault>& faults = parts_.spec.scale_up.faults;
  for (std::size_t f = 0; f < faults.size(); ++f) {
    const Time at = faults[f].at;
    parts_.engine.schedule(at, engine::Phase::kFinish, engine::Action::to<&LinkFaults::begin>(*this, f));
    if (!faults[f].lasts) continue;
    parts_.engine.schedule(at + *faults[f].lasts, engine::Phase::kFinish, engine::Action::to<&LinkFaults::end>(*this, f));
  }
}

template <class Visit>
void LinkFaults::each_link(const ScaleUpFault& fault, Visit&& visit) const {
  const topology::LinkGrid& grid = *parts_.plant.grid();
  const std::vector<GridLink> links = grid.links_of(fault);
  for (std::uint32_t server = 0; server < parts_.plant.spec().servers; ++server) {
    if ((fault.server && *fault.server != server) || !parts_.capacities.has_server(server)) continue;
    for (const GridLink& link : links) visit(parts_.plant.gpu(server, link.from), link.slot);
  }
}

// Bytes that stand still on a broken link may move again from then on: a controller that has nothing else to wait for does.
std::optional<Time> LinkFaults::next_change(Time now) const {
  std::optional<Time> next;
  const auto count = [&](Time at) {
    if (at > now && (!next || at < *next)) next = at;
  };
  for (const ScaleUpFault& fault : parts_.spec.scale_up.faults) {
    count(fault.at);
    if (fault.lasts) count(fault.at + *fault.lasts);
  }
  return next;
}

void LinkFaults::begin(std::uint64_t index) { change(parts_.spec.scale_up.faults[index], true); }
void LinkFaults::end(std::uint64_t index) { change(parts_.spec.scale_up.faults[index], false); }

// Messages whose way is another now go on over it with what they have left: around links that failed, and back after a
// repair. Those that no way is left for wait on theirs until one opens.
void LinkFaults::change(const ScaleUpFault& fault, bool begins) {
  each_link(fault, [&](GpuId gpu, std::uint32_t slot) {
    const CapacityId id = parts_.capacities.scale_up_link(gpu, slot);
    // Faults of one link may overlap: the lowest of their rates holds, and a repair takes back its own alone.
    std::multiset<double>& shares = shares_[id - first_];
    if (begins) {
      shares.insert(fault.rate);
    } else {
      shares.erase(shares.find(fault.rate));
    }
    const double share = shares.empty() ? 1.0 : *shares.begin();
    failed_[id] = share == 0.0 ? kFailed | kDetour : failed_[id] & kDetour;
    const Bandwidth whole = parts_.plant.rate(parts_.plant.scale_up_link(gpu, slot));
    parts_.network.set_rate(id, {whole.bytes_per_second * share});
  });
  // Detours were the shortest ones of the faults before.
  detours_.clear();
  parts_.network.divert(failed_, [this](network::Path& path, Bytes) { return divert(path); });
}

bool LinkFaults::failed(std::uint32_t server, const GridLink& link) const {
  return (failed_[parts_.capacities.scale_up_link(parts_.plant.gpu(server, link.from), link.slot)] & kFailed) != 0;
}

Duration LinkFaults::latency(const GridLink& link) const {
  const ScaleUpSpec& scale_up = parts_.spec.scale_up;
  return scale_up.latency + (link.face ? scale_up.face_latency : Duration{});
}

// Null: the way of the grid is whole, or no way is left; the two are told apart by the caller, who walks the grid's way. A
// detour is found once until the next change. Its links are marked, so that a repair finds the messages on it.
const LinkFaults::Way* LinkFaults::detour(std::uint32_t server, std::uint32_t from, std::uint32_t to) {
  bool whole = true;
  parts_.plant.grid()->route(from, to, [&](const GridLink& link) { whole = whole && !failed(server, link); });
  if (whole) return nullptr;
  const auto [at, is_new] = detours_.try_emplace({server, from, to});
  if (is_new) {
    at->second = shortest(server, from, to);
    for (const GridLink& link : at->second) {
      failed_[parts_.capacities.scale_up_link(parts_.plant.gpu(server, link.from), link.slot)] |= kDetour;
    }
  }
  return at->second.empty() ? nullptr : &at->second;
}

// Breadth first, slots in order: among equally short ways the one that leaves by the lowest slots.
LinkFaults::Way LinkFaults::shortest(std::uint32_t server, std::uint32_t from, std::uint32_t to) const {
  const topology::LinkGrid& grid = *parts_.plant.grid();
  std::vector<std::uint32_t> slot_to(parts_.plant.spec().gpus_per_server, ~std::uint32_t{0});
  std::vector<std::uint32_t> before(slot_to.size(), 0);
  std::vector<std::uint32_t> queue{from};
  slot_to[from] = 0;
  for (std::size_t next = 0; next < queue.size() && slot_to[to] == ~std::uint32_t{0}; ++next) {
    for (std::uint32_t slot = 0; slot < grid.slots(); ++slot) {
      const std::optional<std::uint32_t> other = grid.neighbour(queue[next], slot);
      if (!other || slot_to[*other] != ~std::uint32_t{0} || failed(server, {queue[next], slot, false})) continue;
      slot_to[*other] = slot;
      before[*other] = queue[next];
      queue.push_back(*other);
    }
  }
  Way way;
  if (slot_to[to] == ~std::uint32_t{0}) return way;
  for (std::uint32_t at = to; at != from; at = before[at]) {
    way.push_back({before[at], slot_to[at], grid.is_face(before[at], slot_to[at])});
  }
  std::reverse(way.begin(), way.end());
  return way;
}

// Replaces the links inside the server of a path that was found earlier. Latencies are taken off link by link and added
// anew: the rest of the path, a rail, has its own share of the latency.
bool LinkFaults::divert(network::Path& path) {
  const auto is_link = [this](CapacityId id) { return id >= first_ && id - first_ < link_of_.size(); };
  const auto hops = path.hops();
  if (std::none_of(hops.begin(), hops.end(), [&](CapacityId id) { return is_link(id) && failed_[id] != 0; })) return false;
  // The links of a path are its beginning: what follows them is the rail.
  std::size_t links = 0;
  network::Path other;
  other.overhead = path.overhead;
  other.latency = path.latency;
  while (links < hops.size() && is_link(hops[links])) {
    other.latency -= latency(link_of_[hops[links] - first_].link);
    ++links;
  }
  if (links == 0) return false;
  const Link& first = link_of_[hops.front() - first_];
  const GridLink& last = link_of_[hops[links - 1] - first_].link;
  const std::uint32_t to = *parts_.plant.grid()->neighbour(last.from, last.slot);
  const auto add = [&](const GridLink& link) {
    other.add(parts_.capacities.scale_up_link(parts_.plant.gpu(first.server, link.from), link.slot));
    other.latency = core::checked_sum(other.latency, latency(link));
  };
  if (const Way* way = detour(first.server, first.link.from, to)) {
    std::for_each(way->begin(), way->end(), add);
  } else {
    // No detour: either the grid's own way is whole again, after a repair, or there is no way at all.
    bool whole = true;
    parts_.plant.grid()->route(first.link.from, to,
                               [&](const GridLink& link) { whole = whole && !failed(first.server, link); });
    if (!whole) return false;
    parts_.plant.grid()->route(first.link.from, to, add);
  }
  for (std::size_t i = links; i < hops.size(); ++i) other.add(hops[i]);
  if (std::ranges::equal(other.hops(), hops)) return false;
  path = other;
  return true;
}

std::vector<std::string> LinkFaults::lines() const {
  std::vector<std::string> lines;
  for (const ScaleUpFault& fault : parts_.spec.scale_up.faults) {
    if (fault.at > parts_.engine.now()) continue;
    const std::string what =
        fault.rate == 0.0 ? " failed" : " had " + std::to_string(100.0 * fault.rate) + " % of its rate";
    std::string when = (fault.lasts || fault.rate > 0.0 ? " from " : " at ") + core::seconds_text(fault.at);
    if (fault.lasts) when += " to " + core::seconds_text(fault.at + *fault.lasts);
    if (!fault.lasts && fault.rate > 0.0) when += " on";
    lines.push_back("scale-up fabric of " + (fault.server ? "server " + std::to_string(*fault.server) : "every server") +
                    ": " + place_of(fault) + what + when);
  }
  constexpr std::size_t kMaxPairs = 4;
  std::size_t pairs = 0;
  for (const auto& [of, way] : detours_) {
    if (!way.empty() || ++pairs > kMaxPairs) continue;
    const auto& [server, from, to] = of;
    lines.push_back("no way is left from GPU " + std::to_string(from) + " to GPU " + std::to_string(to) + " of server " +
                    std::to_string(server));
  }
  return lines;
}

}  // namespace photonrail::fabric
