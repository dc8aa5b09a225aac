// Two binary trees, each with one half of the tensor; no member is an inner node of both (Sanders, Speck and Traff 2009,
// "Two-tree algorithms for full bandwidth broadcast, reduction and scan"; the trees are numbered as in NCCL 2.4). Each
// member has at most two edges in and two out, so that the edges fall into two colours and every step of one colour is a
// matching: `pieces` follow each other two steps apart. The tensor is reduced to both roots, then the same runs backwards.
//
// Leaves out: a pipeline from the reduction into the broadcast (a port is busy with either, so that only the latency of one
// way up would be saved), and broadcast and reduce by two trees.
#include "collective/builtin.hpp"
#include "collective/steps.hpp"
#include "collective/uniform_plan.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>

namespace photonrail::collective {

namespace {

constexpr Member kNobody = ~Member{0};

/// The parent of `m` in a tree of n numbered in order: odd numbers are leaves, 0 is the root and has one child.
Member parent_in_order(Member m, Member n) {
  if (m == 0) return kNobody;
  const Member bit = m & (~m + 1);
  const Member up = (m ^ bit) | (bit << 1);
  return up < n ? up : m ^ bit;
}

/// The edges of both trees, as child and tree, with the step in which each carries its first piece up.
class TwoTrees {
 public:
  explicit TwoTrees(Member n) : n_(n) {
    for (auto& tree : parent_) tree.resize(n);
    for (Member m = 0; m < n; ++m) {
      // The second tree is the first one seen from the other end, or, for n odd, one place further.
      const Member there = n % 2 == 0 ? n - 1 - m : (m + n - 1) % n;
      const Member up = parent_in_order(there, n);
      parent_[0][m] = parent_in_order(m, n);
      parent_[1][m] = up == kNobody ? kNobody : n % 2 == 0 ? n - 1 - up : (up + 1) % n;
    }
    colour_edges();
    for (std::size_t tree = 0; tree < 2; ++tree) {
      first_step_[tree].assign(n, -1);
      for (Member m = 0; m < n; ++m) {
        if (parent_[tree][m] != kNobody) depth_ = std::max(depth_, step_of(tree, m) + 1);
      }
    }
  }

  [[nodiscard]] Member parent(std::size_t tree, Member child) const { return parent_[tree][child]; }
  [[nodiscard]] std::uint32_t first_step(std::size_t tree, Member child) const {
    return static_cast<std::uint32_t>(first_step_[tree][child]);
  }
  /// Steps until `pieces` pieces are at the roots.
  [[nodiscard]] std::uint32_t steps(std::uint32_t pieces) const {
    return static_cast<std::uint32_t>(depth_) + 2 * (pieces - 1);
  }

 private:
  struct Edge {
    std::size_t tree = 0;
    Member child = kNobody;
  };

  /// Edges that leave one child, or reach one parent, get different colours: they form paths and even circles.
  void colour_edges() {
    for (auto& tree : colour_) tree.assign(n_, -1);
    into_.assign(n_, {});
    children_.assign(n_, {});
    for (std::size_t tree = 0; tree < 2; ++tree) {
      for (Member m = 0; m < n_; ++m) {
        const Member up = parent_[tree][m];
        if (up == kNobody) continue;
        (into_[up][0].child == kNobody ? into_[up][0] : into_[up][1]) = {tree, m};
        children_[up].push_back({tree, m});
        PHOTONRAIL_CHECK(children_[up].size() <= 2);
      }
    }
    for (std::size_t tree = 0; tree < 2; ++tree) {
      for (Member m = 0; m < n_; ++m) {
        if (parent_[tree][m] == kNobody || colour_[tree][m] >= 0) continue;
        walk({tree, m}, true);
        walk({tree, m}, false);
      }
    }
  }

  void walk(Edge edge, bool at_child) {
    int colour = std::max(0, colour_[edge.tree][edge.child]);
    while (true) {
      colour_[edge.tree][edge.child] = colour;
      const Edge next = at_child ? Edge{1 - edge.tree, edge.child} : sibling(edge);
      if (next.child == kNobody || parent_[next.tree][next.child] == kNobody) return;
      if (colour_[next.tree][next.child] >= 0) return;
      edge = next;
      colour = 1 - colour;
      at_child = !at_child;
    }
  }

  [[nodiscard]] Edge sibling(Edge edge) const {
    const auto& both = into_[parent_[edge.tree][edge.child]];
    return both[0].tree == edge.tree && both[0].child == edge.child ? both[1] : both[0];
  }

  int step_of(std::size_t tree, Member m) {
    int& step = first_step_[tree][m];
    if (step >= 0) return step;
    int earliest = 0;
    for (const Edge& below : children_[m]) {
      if (below.tree == tree) earliest = std::max(earliest, step_of(tree, below.child) + 1);
    }
    return step = earliest + ((earliest + colour_[tree][m]) & 1);
  }

  Member n_;
  int depth_ = 0;
  std::array<std::vector<Member>, 2> parent_;
  std::array<std::vector<int>, 2> colour_;
  std::array<std::vector<int>, 2> first_step_;
  std::vector<std::array<Edge, 2>> into_;  ///< by parent
  std::vector<std::vector<Edge>> children_;
};

struct Hop {
  Member child = 0;
  Member parent = 0;
  std::uint32_t chunk = 0;
};

/// Returns what goes up, by step: at most one send and one receive a member.
std::vector<std::vector<Hop>> hops_up(const TwoTrees& trees, Member n, std::uint32_t pieces) {
  std::vector<std::vector<Hop>> steps(trees.steps(pieces));
  for (std::size_t tree = 0; tree < 2; ++tree) {
    for (Member m = 0; m < n; ++m) {
      if (trees.parent(tree, m) == kNobody) continue;
      for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        const auto chunk = static_cast<std::uint32_t>(tree) * pieces + piece;
        steps[trees.first_step(tree, m) + 2 * piece].push_back({m, trees.parent(tree, m), chunk});
      }
    }
  }
  return steps;
}

/// The sends in a row, up and down again: a member does not wait in a step that leaves it out.
std::uint32_t longest_chain(const std::vector<std::vector<Hop>>& up, Member n) {
  std::vector<std::uint32_t> done(n);  // by member: the chain that ends with its last step
  std::vector<std::uint32_t> chain;
  const auto take = [&](const std::vector<Hop>& step) {
    chain.clear();
    for (const Hop& hop : step) chain.push_back(1 + std::max(done[hop.child], done[hop.parent]));
    for (std::size_t i = 0; i < step.size(); ++i) {
      for (const Member m : {step[i].child, step[i].parent}) done[m] = std::max(done[m], chain[i]);
    }
  };
  std::for_each(up.begin(), up.end(), take);
  std::for_each(up.rbegin(), up.rend(), take);
  return *std::max_element(done.begin(), done.end());
}

/// The neighbours of a member are two in each direction, but for the smallest groups.
std::uint32_t partners_among(Member n) { return n <= 3 ? 1 : 2; }

class DoubleTree final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "double_binary_tree"; }
  [[nodiscard]] std::string_view summary() const override {
    return "two binary trees, a half of the tensor each, no inner node in both: about 4 log2 n steps and a port always "
           "busy "
           "with many chunks (Sanders et al. 2009)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return op == CollectiveOp::kAllReduce && members >= 2;
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member members) const override {
    return {.least_bytes = true, .matchings = partners_among(members) == 1};
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    const TwoTrees trees(call.members);
    const std::vector<std::vector<Hop>> up = hops_up(trees, call.members, call.pieces);
    StepPlan plan(call, 2 * call.pieces);
    for (const std::vector<Hop>& step : up) {
      for (const Hop& hop : step) plan.send(hop.child, hop.parent, {{hop.chunk, 1}}, true);
      plan.step();
    }
    plan.round();
    for (auto step = up.rbegin(); step != up.rend(); ++step) {
      for (const Hop& hop : *step) plan.send(hop.parent, hop.child, {{hop.chunk, 1}});
      plan.step();
    }
    return std::move(plan).build();
  }

  /// At most 2 (d + 2 (p-1)) (alpha + S/(2p) beta), where d, about 2 log2 n or less, is the number of steps of the first
  /// piece; less by the steps in which the longest chain need not wait. Two circuits share the ports of an optical NIC, and
  /// one of them is busy at a time.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const std::uint32_t steps = longest_chain(hops_up(TwoTrees(call.members), call.members, call.pieces), call.members);
    const std::uint32_t partners = partners_among(call.members);
    LinkCost link = on.rail_to(partners);
    if (on.optical()) link.rate.bytes_per_second /= partners;
    const double piece = static_cast<double>(call.size.count) / (2.0 * call.pieces);
    return CollectiveCost{
        .picoseconds = steps * link.send(piece), .circuits = call.members == 2 ? 1u : 2u, .partners = partners};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_double_tree() { return std::make_unique<DoubleTree>(); }

}  // namespace photonrail::collective
