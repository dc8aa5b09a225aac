// The cache of tool calls of one task (TVCACHE, arXiv 2602.10986): a tree of the histories that were seen. An edge is a
// call, a node the state of the sandbox after the whole history. Since calls change the state, a value holds only after
// exactly the same history.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::rl {

using CallId = std::uint32_t;         ///< a tool and its arguments
using EnvironmentId = std::uint32_t;  ///< a sandbox that is kept, from 1; 0: none

/// What a call answered, and how long it ran.
struct CallValue {
  std::uint64_t value = 0;
  double seconds = 0.0;
};

struct PrefixTreeOptions {
  std::uint32_t budget = 50;  ///< environments that are kept; a put that makes them more evicts
  double keep_share = 0.7;    ///< ... down to int(keep_share x budget)
  std::optional<double>
      seconds_to_live{};  ///< of a node since it was made; an expired one is cut with its subtree when met
};

/// Times are seconds that never go back. Environments are immutable: one that goes on is another one.
class PrefixTree {
 public:
  struct Found {
    EnvironmentId environment = 0;
    CallValue value{};
  };
  struct Match {
    EnvironmentId environment = 0;
    std::size_t depth = 0;  ///< of its history
  };

  explicit PrefixTree(PrefixTreeOptions options = {}) : options_(options), nodes_(1) {}

  /// Puts the values of the history's calls from index `start` on into the tree, and the environment at its end; an earlier
  /// node of the history that has the same environment loses it. Returns what is no longer kept: the new environment where
  /// the last node has one already, and what the budget evicts.
  std::vector<EnvironmentId> put(std::span<const CallId> history, EnvironmentId environment,
                                 std::span<const CallValue> values, double now, std::size_t start = 0);
  /// The last call's value, where the whole history is known.
  [[nodiscard]] std::optional<Found> get(std::span<const CallId> history, double now);
  /// The deepest environment on the known part of the history; it is referenced, and not evicted, until unref().
  [[nodiscard]] std::optional<Match> prefix_match(std::span<const CallId> history, double now);
  void unref(EnvironmentId environment);

  [[nodiscard]] std::uint32_t environments() const { return environments_; }

 private:
  using NodeIndex = std::uint32_t;
  struct Node {
    std::vector<std::pair<CallId, NodeIndex>> children{};  ///< in the order in which they were made
    EnvironmentId environment = 0;
    CallValue value{};
    double made = 0.0;
  };

  /// The child, or 0. One that has expired is cut.
  [[nodiscard]] NodeIndex child(NodeIndex of, CallId call, double now);
  void cut(NodeIndex node);
  void take(NodeIndex node);
  void evict(std::vector<EnvironmentId>& removed);
  void list_kept(NodeIndex node, std::vector<NodeIndex>& out) const;

  PrefixTreeOptions options_;
  std::vector<Node> nodes_;  ///< the root is the first
  std::vector<NodeIndex> free_;
  std::uint32_t environments_ = 0;
  std::map<EnvironmentId, std::uint32_t> references_;
};

}  // namespace photonrail::rl
