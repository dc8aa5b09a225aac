#include "control/weighted_matching.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/maximum_weighted_matching.hpp>

#include <algorithm>
#include <map>

namespace photonrail::control {

std::vector<std::size_t> heaviest_matching(std::span<const WeightedPair> pairs) {
  const auto counts = [](const WeightedPair& p) { return p.weight > 0; };
  if (pairs.size() == 1 && counts(pairs[0])) return {0};            // what most calls come to, where ports are busy
  if (std::none_of(pairs.begin(), pairs.end(), counts)) return {};  // Boost computes twice the least integer of them
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                      boost::property<boost::edge_weight_t, std::int64_t>>;
  // Only positions that occur are in the graph, once as a sender and once as a receiver.
  std::map<ServerIndex, std::size_t> senders;
  std::map<ServerIndex, std::size_t> receivers;
  std::size_t vertices = 0;
  const auto vertex = [&vertices](std::map<ServerIndex, std::size_t>& known, ServerIndex position) {
    const auto [entry, fresh] = known.try_emplace(position, vertices);
    if (fresh) ++vertices;
    return entry->second;
  };
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (const WeightedPair& p : pairs) edges.emplace_back(vertex(senders, p.pair.from), vertex(receivers, p.pair.to));
  Graph graph(vertices);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (counts(pairs[i])) boost::add_edge(edges[i].first, edges[i].second, pairs[i].weight, graph);
  }
  std::vector<boost::graph_traits<Graph>::vertex_descriptor> mates(vertices);
  boost::maximum_weighted_matching(graph, mates.data());
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (counts(pairs[i]) && mates[edges[i].first] == edges[i].second) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace photonrail::control
