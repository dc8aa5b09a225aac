#include "control/one_shot.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace photonrail::control {

std::vector<ServerPair> JobTraffic::pairs() const {
  std::vector<ServerPair> pairs;
  for (const Entry& entry : entries) {
    if (pairs.empty() || pairs.back() != entry.pair) pairs.push_back(entry.pair);
  }
  return pairs;
}

JobTraffic job_traffic(const FabricView& view, const Places& places) {
  std::set<std::pair<CommunicatorId, ServerIndex>> members;  // on this rail
  for (const RankSchedule& rank : view.schedule) {
    for (const ScheduledOperation& op : rank.operations) members.emplace(op.communicator, rank.position);
  }
  std::map<std::pair<ServerPair, Dimension>, std::int64_t> sums;
  for (const RankSchedule& rank : view.schedule) {
    for (const ScheduledOperation& op : rank.operations) {
      // Every member lists the operation. The sender counts what leaves it; where that one is on another rail (it came
      // here through the scale-up fabric), the receiver does.
      for (std::size_t p = 0; p < op.pairs.size(); ++p) {
        const ServerPair pair = op.pairs[p];
        const bool counts =
            pair.from == rank.position || (pair.to == rank.position && !members.contains({op.communicator, pair.from}));
        if (counts && places.has(pair)) sums[{places.places(pair), op.dimension}] += op.bytes[p].count;
      }
    }
  }
  JobTraffic traffic;
  for (const auto& [key, bytes] : sums) traffic.entries.push_back({key.first, key.second, bytes});
  return traffic;
}

CircuitPlan at_positions(CircuitPlan plan, const FabricView& view, const Places& places) {
  const auto port = [&](PortId p) {
    return view.port(places.position(p.value / view.ports_per_gpu), p.value % view.ports_per_gpu);
  };
  for (Circuit& circuit : plan.connect) circuit = {port(circuit.from), port(circuit.to)};
  return plan;
}

bool OneShot::join(ServerPair pair) {
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    std::uint32_t& sends = sends_[std::size_t{pair.from} * planes_ + plane];
    std::uint32_t& receives = receives_[std::size_t{pair.to} * planes_ + plane];
    if (std::max(sends, receives) == ports_per_gpu_ / planes_) continue;
    plan_.connect.push_back({PortId{pair.from * ports_per_gpu_ + plane + planes_ * sends++},
                             PortId{pair.to * ports_per_gpu_ + plane + planes_ * receives++}});
    next_[pair.from].push_back(pair.to);
    return true;
  }
  return false;
}

void OneShot::ring(std::span<const WeightedPair> pairs) {
  std::vector<WeightedPair> heaviest(pairs.begin(), pairs.end());
  std::sort(heaviest.begin(), heaviest.end(), [](const WeightedPair& a, const WeightedPair& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.pair < b.pair;
  });
  // Paths that grow together: from the first position of each to its last.
  std::map<ServerIndex, ServerIndex> last_of;
  std::map<ServerIndex, ServerIndex> first_of;
  for (const WeightedPair& p : pairs) {
    for (const ServerIndex position : {p.pair.from, p.pair.to}) last_of[position] = first_of[position] = position;
  }
  const auto link = [&](ServerPair pair) {
    const auto ends = first_of.find(pair.from);  // a path ends at `from`
    const auto begins = last_of.find(pair.to);   // another begins at `to`
    if (ends == first_of.end() || begins == last_of.end() || ends->second == pair.to) return;
    const ServerIndex first = ends->second;
    const ServerIndex last = begins->second;
    first_of.erase(ends);
    last_of.erase(begins);
    last_of[first] = last;
    first_of[last] = first;
    join(pair);
  };
  for (const WeightedPair& p : heaviest) link(p.pair);
  while (last_of.size() > 1) link({last_of.begin()->second, std::next(last_of.begin())->first});
  if (!last_of.empty() && last_of.begin()->first != last_of.begin()->second) {
    join({last_of.begin()->second, last_of.begin()->first});
  }
}

bool OneShot::reaches(std::span<const ServerPair> pairs) const {
  std::map<ServerIndex, std::set<ServerIndex>> reached;  // by sender
  for (const ServerPair pair : pairs) {
    const auto [entry, fresh] = reached.try_emplace(pair.from);
    if (fresh) {
      std::vector<ServerIndex> queue{pair.from};
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const ServerIndex to : next_[queue[i]]) {
          if (entry->second.insert(to).second) queue.push_back(to);
        }
      }
    }
    if (!entry->second.contains(pair.to)) return false;
  }
  return true;
}

}  // namespace photonrail::control
