#include "collective/message_graph.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace photonrail::collective {

MessageGraph::Node MessageGraph::add_node() {
  PHOTONRAIL_CHECK(sent_.size() < kNone);
  before_.emplace_back();
  protected_.emplace_back();
  sent_.push_back(kNone);
  received_.push_back(kNone);
  return static_cast<Node>(sent_.size() - 1);
}

void MessageGraph::order(Node before, Node after, Until until) { before_[after].push_back({before, until}); }

void MessageGraph::protect(Node before, Node receiver) { protected_[receiver].push_back(before); }

MessageGraph::Message MessageGraph::connect(Node from, Node to, std::uint32_t lane) {
  PHOTONRAIL_CHECK(sent_[from] == kNone && received_[to] == kNone);
  if (lane >= lanes_.size()) lanes_.resize(std::size_t{lane} + 1);
  const auto message = static_cast<Message>(messages_.size());
  messages_.push_back({from, to, lane, static_cast<std::uint32_t>(lanes_[lane].size())});
  lanes_[lane].push_back(message);
  sent_[from] = message;
  received_[to] = message;
  return message;
}

std::vector<std::uint32_t> MessageGraph::indegrees() const {
  std::vector<std::uint32_t> left(nodes());
  for (Node n = 0; n < nodes(); ++n) {
    left[n] = static_cast<std::uint32_t>(before_[n].size()) + (received_[n] != kNone ? 1U : 0U);
  }
  return left;
}

std::vector<std::vector<MessageGraph::Node>> MessageGraph::successors() const {
  std::vector<std::vector<Node>> next(nodes());
  for (Node n = 0; n < nodes(); ++n) {
    for (const Edge& edge : before_[n]) next[edge.before].push_back(n);
    if (received_[n] != kNone) next[messages_[received_[n]].from].push_back(n);
  }
  return next;
}

std::vector<MessageGraph::Node> MessageGraph::sequence(std::span<const std::uint64_t> rank) const {
  PHOTONRAIL_CHECK(rank.size() == nodes());
  std::vector<std::uint32_t> left = indegrees();
  const std::vector<std::vector<Node>> next = successors();
  using Ready = std::pair<std::uint64_t, Node>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (Node n = 0; n < nodes(); ++n) {
    if (left[n] == 0) ready.emplace(rank[n], n);
  }
  std::vector<Node> order;
  while (!ready.empty()) {
    const Node n = ready.top().second;
    ready.pop();
    order.push_back(n);
    for (const Node s : next[n]) {
      if (--left[s] == 0) ready.emplace(rank[s], s);
    }
  }
  return order;
}

std::vector<std::uint64_t> MessageGraph::levels() const {
  std::vector<std::uint64_t> level(nodes());
  const std::vector<Node> order = sequence(level);
  PHOTONRAIL_CHECK(order.size() == nodes());
  for (const Node n : order) {
    for (const Edge& edge : before_[n]) level[n] = std::max(level[n], level[edge.before] + 1);
    if (received_[n] != kNone) level[n] = std::max(level[n], level[messages_[received_[n]].from] + 1);
  }
  return level;
}

std::vector<MessageGraph::Node> MessageGraph::circle() const {
  const std::vector<std::uint64_t> any(nodes());
  std::vector<bool> done(nodes());
  for (const Node n : sequence(any)) done[n] = true;
  const auto stuck = std::find(done.begin(), done.end(), false);
  if (stuck == done.end()) return {};
  // Each node that is not done waits for another that is not done, so that following these edges finds a cycle.
  std::vector<std::size_t> visited(nodes());
  std::vector<Node> way;
  auto at = static_cast<Node>(stuck - done.begin());
  while (visited[at] == 0) {
    way.push_back(at);
    visited[at] = way.size();
    if (received_[at] != kNone && !done[messages_[received_[at]].from]) {
      at = messages_[received_[at]].from;
      continue;
    }
    const auto edge = std::find_if(before_[at].begin(), before_[at].end(), [&](const Edge& e) { return !done[e.before]; });
    PHOTONRAIL_CHECK(edge != before_[at].end());
    at = edge->before;
  }
  way.erase(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(visited[at] - 1));
  return way;
}

void MessageGraph::join(Clock& into, const Clock& other) {
  Clock joined;
  joined.reserve(into.size() + other.size());
  auto a = into.begin();
  auto b = other.begin();
  while (a != into.end() || b != other.end()) {
    if (b == other.end() || (a != into.end() && a->first < b->first)) {
      joined.push_back(*a++);
    } else if (a == into.end() || b->first < a->first) {
      joined.push_back(*b++);
    } else {
      joined.emplace_back(a->first, std::max(a->second, b->second));
      ++a, ++b;
    }
  }
  into = std::move(joined);
}

MessageGraph::Clock MessageGraph::stamp(Message message) const {
  const Wire& wire = messages_[message];
  return {{wire.lane, wire.number + 1}};
}

std::vector<MessageGraph::Clock> MessageGraph::clocks(std::span<const Node> sequence) const {
  PHOTONRAIL_CHECK(sequence.size() == nodes());
  std::vector<Clock> clock(nodes());
  for (const Node n : sequence) {
    for (const Edge& edge : before_[n]) {
      join(clock[n], clock[edge.before]);
      const Message sent = sent_[edge.before];
      if (edge.until == Until::kArrived && sent != kNone) join(clock[n], stamp(sent));
    }
    if (received_[n] != kNone) join(clock[n], stamp(received_[n]));
  }
  return clock;
}

std::vector<std::vector<MessageGraph::Message>> MessageGraph::waits(std::span<const Node> sequence) const {
  const std::vector<Clock> clock = clocks(sequence);
  std::vector<std::vector<Message>> waits(messages_.size());
  for (const std::vector<Message>& lane : lanes_) {
    Clock untouchable;  // for every later message of the lane too: those of a lane arrive in order
    for (const Message m : lane) {
      for (const Node before : protected_[messages_[m].to]) join(untouchable, clock[before]);
      Clock all = untouchable;
      join(all, clock[messages_[m].from]);
      // The last message of a lane that has arrived says that the earlier ones have.
      for (const auto& [other, count] : all) waits[m].push_back(lanes_[other][count - 1]);
    }
  }
  return waits;
}

}  // namespace photonrail::collective
