#include "control/weighted_matching.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace photonrail::control {

namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Senders or receivers, numbered in the order in which they occur: of matchings of one weight the same is found under any
/// names of servers.
struct Ends {
  explicit Ends(const std::vector<ServerIndex>& all) {
    std::vector<std::pair<ServerIndex, std::uint32_t>> first;  // where each occurs first
    for (const ServerIndex position : all) first.emplace_back(position, static_cast<std::uint32_t>(first.size()));
    std::sort(first.begin(), first.end());
    first.erase(std::unique(first.begin(), first.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
                first.end());
    std::vector<std::uint32_t> order(first.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&first](std::uint32_t a, std::uint32_t b) { return first[a].second < first[b].second; });
    numbers.resize(order.size());
    for (std::uint32_t number = 0; number < order.size(); ++number) numbers[order[number]] = number;
    for (const auto& [position, at] : first) positions.push_back(position);
  }
  [[nodiscard]] std::uint32_t number(ServerIndex position) const {
    return numbers[static_cast<std::size_t>(std::lower_bound(positions.begin(), positions.end(), position) -
                                            positions.begin())];
  }
  [[nodiscard]] std::size_t size() const { return positions.size(); }

  std::vector<ServerIndex> positions;  // ascending
  std::vector<std::uint32_t> numbers;  // of each of them
};

/// The Hungarian method by shortest augmenting paths (Kuhn 1955; Edmonds and Karp 1972), for matchings that need not be
/// perfect: senders and receivers have prices of 0 or more that sum up to at least the weight of each of their pairs, and
/// to exactly that of each pair in the matching; who is in no pair has the price 0. Such a matching is the heaviest.
class Assignment {
 public:
  explicit Assignment(std::span<const WeightedPair> pairs) : pairs_(pairs), senders_(ends(true)), receivers_(ends(false)) {
    list_edges();
    pair_of_sender_.assign(senders_.size(), kNone);
    pair_of_receiver_.assign(receivers_.size(), kNone);
    receiver_price_.assign(receivers_.size(), 0);
    sender_price_.assign(senders_.size(), 0);
    for (const Edge& edge : edges_) {
      sender_price_[edge.sender] = std::max(sender_price_[edge.sender], edge.weight);
    }
    for (std::uint32_t s = 0; s < senders_.size(); ++s) augment(s);
  }

  [[nodiscard]] std::vector<std::size_t> chosen() const {
    std::vector<std::size_t> chosen;
    for (const std::uint32_t edge : pair_of_sender_) {
      if (edge != kNone) chosen.push_back(edges_[edge].pair);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  struct Edge {
    std::uint32_t sender;
    std::uint32_t receiver;
    std::int64_t weight;
    std::size_t pair;
  };
  struct Reached {
    std::int64_t distance;
    std::uint32_t receiver;
    [[nodiscard]] bool operator<(const Reached& other) const {  // the first of std's heaps is the greatest
      return distance != other.distance ? distance > other.distance : receiver > other.receiver;
    }
  };

  /// The shortest paths from a sender.
  struct Search {
    std::vector<std::int64_t> distance;  // by receiver
    std::vector<std::uint32_t> by;       // by receiver: the last edge of the shortest path
    std::vector<Reached> heap;
    std::vector<std::pair<std::uint32_t, std::int64_t>> visited;  // senders, and how far they are
    std::vector<std::uint32_t> settled;                           // receivers
    std::int64_t least = kFar;                                    // length of the shortest way to an end
    std::uint32_t last = kNone;                                   // the sender there, where it is one
  };

  [[nodiscard]] Ends ends(bool senders) const {
    std::vector<ServerIndex> all;
    for (const WeightedPair& p : pairs_) {
      if (p.weight > 0) all.push_back(senders ? p.pair.from : p.pair.to);
    }
    return Ends(all);
  }

  void list_edges() {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const WeightedPair& p = pairs_[i];
      if (p.weight > 0) edges_.push_back({senders_.number(p.pair.from), receivers_.number(p.pair.to), p.weight, i});
    }
    std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.sender < b.sender; });
    first_.assign(senders_.size() + 1, 0);
    for (const Edge& edge : edges_) ++first_[edge.sender + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  // Pairs the sender, if that adds weight: along the shortest path to a receiver without a pair, or to a sender that gives
  // its own up.
  void augment(std::uint32_t sender) {
    path_.distance.assign(receivers_.size(), kFar);
    path_.by.assign(receivers_.size(), kNone);
    path_.heap.clear();
    path_.visited.clear();
    path_.settled.clear();
    path_.least = kFar;
    visit(sender, 0);
    std::uint32_t free = kNone;
    while (!path_.heap.empty() && path_.heap.front().distance < path_.least) {
      const Reached next = path_.heap.front();
      std::pop_heap(path_.heap.begin(), path_.heap.end());
      path_.heap.pop_back();
      if (next.distance != path_.distance[next.receiver]) continue;
      if (pair_of_receiver_[next.receiver] == kNone) {
        path_.least = next.distance;
        free = next.receiver;
        break;
      }
      path_.settled.push_back(next.receiver);
      visit(edges_[pair_of_receiver_[next.receiver]].sender, next.distance);
    }
    for (const auto& [s, distance] : path_.visited) sender_price_[s] -= path_.least - distance;
    for (const std::uint32_t r : path_.settled) receiver_price_[r] += path_.least - path_.distance[r];
    if (free != kNone) {
      take(path_.by[free]);
    } else {
      give_up(path_.last);
    }
  }

  void visit(std::uint32_t sender, std::int64_t distance) {
    path_.visited.emplace_back(sender, distance);
    if (distance + sender_price_[sender] < path_.least) {
      path_.least = distance + sender_price_[sender];
      path_.last = sender;
    }
    for (std::uint32_t e = first_[sender]; e < first_[sender + 1]; ++e) {
      const Edge& edge = edges_[e];
      const std::int64_t there = distance + sender_price_[sender] + receiver_price_[edge.receiver] - edge.weight;
      if (there >= path_.least || there >= path_.distance[edge.receiver]) continue;
      path_.distance[edge.receiver] = there;
      path_.by[edge.receiver] = e;
      path_.heap.push_back({there, edge.receiver});
      std::push_heap(path_.heap.begin(), path_.heap.end());
    }
  }

  // The edge joins the matching; its sender leaves the receiver that it had to the sender before it on the path.
  void take(std::uint32_t edge) {
    while (edge != kNone) {
      const std::uint32_t sender = edges_[edge].sender;
      const std::uint32_t had = pair_of_sender_[sender];
      pair_of_sender_[sender] = edge;
      pair_of_receiver_[edges_[edge].receiver] = edge;
      edge = had == kNone ? kNone : path_.by[edges_[had].receiver];
    }
  }

  void give_up(std::uint32_t sender) {
    const std::uint32_t had = pair_of_sender_[sender];
    if (had == kNone) return;  // the sender that was to be paired
    pair_of_sender_[sender] = kNone;
    take(path_.by[edges_[had].receiver]);
  }

  std::span<const WeightedPair> pairs_;
  Ends senders_;
  Ends receivers_;
  std::vector<Edge> edges_;                    // by sender
  std::vector<std::uint32_t> first_;           // by sender, and one more: into edges_
  std::vector<std::uint32_t> pair_of_sender_;  // an edge, or kNone
  std::vector<std::uint32_t> pair_of_receiver_;
  std::vector<std::int64_t> sender_price_;
  std::vector<std::int64_t> receiver_price_;

  Search path_;
};

}  // namespace

std::vector<std::size_t> heaviest_matching(std::span<const WeightedPair> pairs) {
  if (pairs.size() == 1 && pairs[0].weight > 0) return {0};  // what most calls come to, where ports are busy
  return Assignment(pairs).chosen();
}

}  // namespace photonrail::control
