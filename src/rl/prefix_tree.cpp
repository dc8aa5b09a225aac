#include "rl/prefix_tree.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace photonrail::rl {

PrefixTree::NodeIndex PrefixTree::child(NodeIndex of, CallId call, double now) {
  auto& children = nodes_[of].children;
  const auto found = std::find_if(children.begin(), children.end(), [&](const auto& edge) { return edge.first == call; });
  if (found == children.end()) return 0;
  const NodeIndex node = found->second;
  if (!options_.seconds_to_live || now - nodes_[node].made <= *options_.seconds_to_live) return node;
  children.erase(found);
  cut(node);
  return 0;
}

void PrefixTree::cut(NodeIndex node) {
  take(node);
  for (const auto& [call, next] : nodes_[node].children) cut(next);
  nodes_[node] = {};
  free_.push_back(node);
}

void PrefixTree::take(NodeIndex node) {
  if (nodes_[node].environment == 0) return;
  nodes_[node].environment = 0;
  --environments_;
}

std::vector<EnvironmentId> PrefixTree::put(std::span<const CallId> history, EnvironmentId environment,
                                           std::span<const CallValue> values, double now, std::size_t start) {
  PHOTONRAIL_CHECK(!history.empty() && environment != 0 && start <= history.size() &&
                   values.size() == history.size() - start);
  NodeIndex at = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    NodeIndex next = child(at, history[i], now);
    if (next == 0) {
      next = free_.empty() ? static_cast<NodeIndex>(nodes_.size()) : free_.back();
      if (free_.empty()) {
        nodes_.emplace_back();
      } else {
        free_.pop_back();
      }
      nodes_[next].made = now;
      nodes_[at].children.emplace_back(history[i], next);
    }
    if (i >= start) nodes_[next].value = values[i - start];
    if (i + 1 < history.size() && nodes_[next].environment == environment) take(next);
    at = next;
  }
  std::vector<EnvironmentId> removed;
  if (nodes_[at].environment != 0) {
    removed.push_back(environment);
  } else {
    nodes_[at].environment = environment;
    ++environments_;
  }
  if (environments_ > options_.budget) evict(removed);
  return removed;
}

// Environments of leaves go first, of these the oldest, to the whole second; of equals the first in depth-first order.
void PrefixTree::evict(std::vector<EnvironmentId>& removed) {
  std::vector<NodeIndex> kept;
  list_kept(0, kept);
  std::stable_sort(kept.begin(), kept.end(), [this](NodeIndex a, NodeIndex b) {
    const auto key = [this](NodeIndex n) { return std::tuple{nodes_[n].children.size(), std::floor(nodes_[n].made)}; };
    return key(a) < key(b);
  });
  const auto least = static_cast<std::uint32_t>(options_.keep_share * options_.budget);
  for (const NodeIndex node : kept) {
    if (environments_ <= least) return;
    const auto referenced = references_.find(nodes_[node].environment);
    if (referenced != references_.end()) continue;
    removed.push_back(nodes_[node].environment);
    take(node);
  }
}

void PrefixTree::list_kept(NodeIndex node, std::vector<NodeIndex>& out) const {
  if (nodes_[node].environment != 0) out.push_back(node);
  for (const auto& [call, next] : nodes_[node].children) list_kept(next, out);
}

std::optional<PrefixTree::Found> PrefixTree::get(std::span<const CallId> history, double now) {
  NodeIndex at = 0;
  for (const CallId call : history) {
    at = child(at, call, now);
    if (at == 0) return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  return Found{nodes_[at].environment, nodes_[at].value};
}

std::optional<PrefixTree::Match> PrefixTree::prefix_match(std::span<const CallId> history, double now) {
  NodeIndex at = 0;
  Match deepest;
  for (std::size_t depth = 0; depth < history.size(); ++depth) {
    at = child(at, history[depth], now);
    if (at == 0) break;
    if (nodes_[at].environment != 0) deepest = {nodes_[at].environment, depth + 1};
  }
  if (deepest.environment == 0) return std::nullopt;
  ++references_[deepest.environment];
  return deepest;
}

void PrefixTree::unref(EnvironmentId environment) {
  const auto found = references_.find(environment);
  if (found != references_.end() && --found->second == 0) references_.erase(found);
}

}  // namespace photonrail::rl
