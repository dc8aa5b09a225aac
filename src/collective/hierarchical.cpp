// Collectives in two levels: inside each server over the scale-up fabric, where every member sends to every other one at
// once, and along every rail at the same time, in rings, binomial trees or shifts (Cho et al. 2019, "BlueConnect"; the
// all-to-all is the one that NCCL 2.12 calls PXN). The traffic spreads over all rails evenly.
//
// The order decides what the rails carry. "hierarchical" goes the way that loads them least: reductions and all-to-all meet
// inside the server first, an all-gather comes there last. "hierarchical_reversed" goes the other way round, for
// comparison.
//
// Leaves out: a pipeline between the levels (`pieces` has no use here), gather, scatter, barrier.
#include "collective/binomial.hpp"
#include "collective/builtin.hpp"
#include "collective/grid.hpp"
#include "collective/turned_plan.hpp"
#include "collective/uniform_plan.hpp"

#include <bit>
#include <numeric>
#include <optional>

namespace photonrail::collective {

namespace {

using enum CollectiveOp;

/// Every server sends as many bytes as the first one, to members that are as far from it: then one stands for all.
bool all_servers_alike(const CollectiveCall& call, const Grid& grid) {
  const bool rooted = call.op == kBroadcast || call.op == kReduce;
  const bool even = call.op == kAllGather || call.size.count % call.members == 0;
  return !rooted && even && call.demand == nullptr && grid.servers() > 1 && grid.in_order();
}

/// A plan in the making, and the stages that it is made of. A stage is a round, a ring of several steps too.
class TwoLevelPlanBuilder {
 public:
  TwoLevelPlanBuilder(const CollectiveCall& call, const Grid& grid, std::uint32_t chunks, ChunkOrder order)
      : grid_(grid), plan_(call, chunks) {
    if (all_servers_alike(call, grid)) turned_.emplace(call, ServerGrid{grid.servers(), grid.rails()}, chunks, order);
  }

  /// Inside the servers: in each, the member on `rail` sends data(server, rail, to) to the one on rail `to`.
  template <class Data>
  void exchange(Data data, bool reduce) {
    for (Member server = 0; server < servers_to_write(); ++server) {
      for (Member rail = 0; rail < grid_.rails(); ++rail) {
        for (Member step = 1; step < grid_.rails(); ++step) {
          const Member to = (rail + step) % grid_.rails();
          send(server, {rail, 0, to, reduce}, data(server, rail, to));
        }
      }
    }
    round();
  }

  /// Along the rails: a ring. block(rail, server) ends at its server, and, without `reduce`, starts there and ends
  /// everywhere.
  template <class Block>
  void ring(Block block, bool reduce) {
    const Member servers = grid_.servers();
    for (Member step = 0; step + 1 < servers; ++step) {
      const Member behind = step + (reduce ? 1 : 0);
      for (Member server = 0; server < servers_to_write(); ++server) {
        for (Member rail = 0; rail < grid_.rails(); ++rail) {
          send(server, {rail, 1, rail, reduce}, block(rail, (server + servers - behind) % servers));
        }
      }
      turned_ ? turned_->step() : plan_.step();
    }
  }

  /// Along the rails: round k goes from each server to the k-th after it.
  template <class Data>
  void shifts(Data data) {
    const Member servers = grid_.servers();
    for (Member shift = 1; shift < servers; ++shift) {
      for (Member server = 0; server < servers_to_write(); ++server) {
        const Member to = (server + shift) % servers;
        for (Member rail = 0; rail < grid_.rails(); ++rail) {
          send(server, {rail, shift, rail, false}, data(server, to, rail));
        }
      }
      round();
    }
  }

  void round() { turned_ ? turned_->round() : plan_.round(); }
  /// For what is not a stage. REQUIRES: the operation has a root.
  [[nodiscard]] StepPlan& plan() { return plan_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] std::unique_ptr<const SendPlan> build() && {
    return turned_ ? std::move(*turned_).build() : std::move(plan_).build();
  }

  /// One chunk for every server, or for every rail.
  template <class Chunk>
  [[nodiscard]] Runs of_servers(Chunk chunk) const {
    return each(grid_.servers(), chunk);
  }
  template <class Chunk>
  [[nodiscard]] Runs of_rails(Chunk chunk) const {
    return each(grid_.rails(), chunk);
  }

 private:
  template <class Chunk>
  [[nodiscard]] static Runs each(Member count, Chunk chunk) {
    Runs runs;
    for (Member i = 0; i < count; ++i) append_chunk(runs, chunk(i));
    return runs;
  }

  [[nodiscard]] Member servers_to_write() const { return turned_ ? 1 : grid_.servers(); }
  void send(Member server, const TurnedSend& send, const Runs& data) {
    if (turned_) return turned_->send(send, data);
    const Member to = (server + send.servers_away) % grid_.servers();
    plan_.send(grid_.member(server, send.rail), grid_.member(to, send.to_rail), data, send.reduce);
  }

  const Grid& grid_;
  StepPlan plan_;
  std::optional<TurnedPlanBuilder> turned_;  ///< in place of plan_ where it can be
};

/// Chunk rail * servers + server, so that what a rail carries is one run; rails first: server * rails + rail.
std::unique_ptr<const SendPlan> all_reduce(const CollectiveCall& call, const Grid& grid, bool rails_first) {
  const Member servers = grid.servers();
  const Member rails = grid.rails();
  TwoLevelPlanBuilder levels(call, grid, call.members,
                             rails_first ? ChunkOrder::kRailsOfServer : ChunkOrder::kServersOfRail);
  const auto column = [&](Member rail) -> Runs { return {{rail * servers, servers}}; };
  const auto row = [&](Member /*rail*/, Member server) -> Runs { return {{server * rails, rails}}; };
  const auto cell = [&](Member rail, Member server) -> Runs { return {{rail * servers + server, 1}}; };
  if (!rails_first) {
    levels.exchange([&](Member, Member, Member to) { return column(to); }, true);
    levels.ring(cell, true);
    levels.ring(cell, false);
    levels.round();
    levels.exchange([&](Member, Member rail, Member) { return column(rail); }, false);
  } else {
    levels.ring(row, true);
    levels.round();
    levels.exchange([&](Member server, Member, Member to) -> Runs { return {{server * rails + to, 1}}; }, true);
    levels.exchange([&](Member server, Member rail, Member) -> Runs { return {{server * rails + rail, 1}}; }, false);
    levels.ring(row, false);
  }
  return std::move(levels).build();
}

/// The shards of a server, of a rail, and of one member.
std::unique_ptr<const SendPlan> shards(const CollectiveCall& call, const Grid& grid, bool rails_first) {
  TwoLevelPlanBuilder levels(call, grid, call.members, ChunkOrder::kRailsOfServer);
  const bool reduce = call.op == kReduceScatter;
  const auto on_rail = [&](Member rail) {
    return levels.of_servers([&](Member server) { return grid.member(server, rail); });
  };
  const auto in_server = [&](Member, Member server) {
    return levels.of_rails([&](Member rail) { return grid.member(server, rail); });
  };
  const auto one = [&](Member rail, Member server) -> Runs { return {{grid.member(server, rail), 1}}; };
  if (reduce && !rails_first) {
    levels.exchange([&](Member, Member, Member to) { return on_rail(to); }, true);
    levels.ring(one, true);
  } else if (reduce) {
    levels.ring(in_server, true);
    levels.round();
    levels.exchange([&](Member server, Member, Member to) { return one(to, server); }, true);
  } else if (rails_first) {
    levels.ring(one, false);
    levels.round();
    levels.exchange([&](Member, Member rail, Member) { return on_rail(rail); }, false);
  } else {
    levels.exchange([&](Member server, Member rail, Member) { return one(rail, server); }, false);
    levels.ring(in_server, false);
  }
  return std::move(levels).build();
}

std::unique_ptr<const SendPlan> all_to_all(const CollectiveCall& call, const Grid& grid, bool rails_first) {
  TwoLevelPlanBuilder levels(call, grid, call.members * call.members, ChunkOrder::kPairs);
  const auto chunk = [&](Member from, Member to) { return from * call.members + to; };
  if (!rails_first) {
    levels.exchange(
        [&](Member server, Member rail, Member to) {
          const Member from = grid.member(server, rail);
          return levels.of_servers([&](Member there) { return chunk(from, grid.member(there, to)); });
        },
        false);
    levels.shifts([&](Member server, Member there, Member rail) {
      const Member to = grid.member(there, rail);
      return levels.of_rails([&](Member other) { return chunk(grid.member(server, other), to); });
    });
    return std::move(levels).build();
  }
  levels.shifts([&](Member server, Member there, Member rail) {
    const Member from = grid.member(server, rail);
    return levels.of_rails([&](Member other) { return chunk(from, grid.member(there, other)); });
  });
  levels.exchange(
      [&](Member server, Member rail, Member to) {
        const Member target = grid.member(server, to);
        return levels.of_servers([&](Member there) { return chunk(grid.member(there, rail), target); });
      },
      false);
  return std::move(levels).build();
}

/// Broadcast and reduce: in parts, one a rail; or whole, along the rails before the servers.
class Rooted {
 public:
  Rooted(const CollectiveCall& call, const Grid& grid, bool rails_first)
      : call_(call),
        grid_(grid),
        whole_(rails_first),
        levels_(call, grid, rails_first ? 1 : grid.rails(), ChunkOrder::kServersOfRail) {}

  [[nodiscard]] std::unique_ptr<const SendPlan> build() && {
    const auto part = [](Member rail) -> Runs { return {{rail, 1}}; };
    const Member root = call_.root;
    if (whole_ && call_.op == kBroadcast) {
      along_rail(grid_.rail_of(root));
      inside_servers();
    } else if (whole_) {
      along_rails();
      inside_server(grid_.server_of(root));
    } else if (call_.op == kBroadcast) {
      from_root(part);
      along_rails();
      levels_.exchange(
          [&](Member server, Member rail, Member to) { return grid_.member(server, to) == root ? Runs{} : part(rail); },
          false);
    } else {
      levels_.exchange([&](Member, Member, Member to) { return part(to); }, true);
      along_rails();
      to_root(part);
    }
    return std::move(levels_).build();
  }

 private:
  template <class Part>
  void from_root(Part part) {
    for (Member rail = 0; rail < grid_.rails(); ++rail) {
      const Member to = grid_.member(grid_.server_of(call_.root), rail);
      if (to != call_.root) levels_.plan().send(call_.root, to, part(rail));
    }
    levels_.plan().round();
  }
  template <class Part>
  void to_root(Part part) {
    for (Member rail = 0; rail < grid_.rails(); ++rail) {
      const Member from = grid_.member(grid_.server_of(call_.root), rail);
      if (from != call_.root) levels_.plan().send(from, call_.root, part(rail));
    }
  }

  void trees(const std::vector<std::vector<Member>>& lines, bool parts) {
    binomial_trees(levels_.plan(), lines, call_.op == kReduce ? TreeFlow::kReduce : TreeFlow::kSpread,
                   [&](std::size_t line, Member, Member) -> Runs {
                     return {{parts ? static_cast<Member>(line) : 0, 1}};
                   });
  }

  [[nodiscard]] std::vector<Member> rail_from_root(Member rail) const {
    std::vector<Member> line;
    for (Member i = 0; i < grid_.servers(); ++i) {
      line.push_back(grid_.member((grid_.server_of(call_.root) + i) % grid_.servers(), rail));
    }
    return line;
  }
  [[nodiscard]] std::vector<Member> server_from_root(Member server) const {
    std::vector<Member> line;
    for (Member i = 0; i < grid_.rails(); ++i) {
      line.push_back(grid_.member(server, (grid_.rail_of(call_.root) + i) % grid_.rails()));
    }
    return line;
  }
  void along_rail(Member rail) { trees({rail_from_root(rail)}, false); }
  void along_rails() {
    std::vector<std::vector<Member>> lines;
    for (Member rail = 0; rail < grid_.rails(); ++rail) lines.push_back(rail_from_root(rail));
    trees(lines, !whole_);
  }
  void inside_server(Member server) { trees({server_from_root(server)}, false); }
  void inside_servers() {
    std::vector<std::vector<Member>> lines;
    for (Member server = 0; server < grid_.servers(); ++server) lines.push_back(server_from_root(server));
    trees(lines, false);
  }

  const CollectiveCall& call_;
  const Grid& grid_;
  bool whole_;
  TwoLevelPlanBuilder levels_;
};

std::uint32_t tree_steps(Member n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); }

/// The terms of the costs below: s servers of g members.
struct Terms {
  double s;
  double g;
  LinkCost rail;
  LinkCost scale_up;

  /// Every member of a server sends `bytes` to every other one.
  [[nodiscard]] double exchange(double bytes) const {
    return g > 1 ? scale_up.alpha() + scale_up.beta((g - 1) * bytes) : 0;
  }
  /// One ring along each rail, or the shifts of an all-to-all.
  [[nodiscard]] double steps(double bytes) const { return (s - 1) * rail.send(bytes); }
};

class Hierarchical final : public CollectiveAlgorithm {
 public:
  explicit Hierarchical(bool reversed) : reversed_(reversed) {}

  [[nodiscard]] std::string_view name() const override { return reversed_ ? "hierarchical_reversed" : "hierarchical"; }
  [[nodiscard]] std::string_view summary() const override {
    return reversed_ ? "the levels of hierarchical in the other order"
                     : "scale-up and rails one after the other, all rails at once, in the order that loads the rails "
                       "least (Cho et al. 2019)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    switch (op) {
      case kAllReduce:
      case kReduceScatter:
      case kAllGather:
      case kAllToAll:
      case kBroadcast:
      case kReduce:
        return members >= 2;
      default:
        return false;
    }
  }
  /// An all-to-all goes two hops, and a reduction in parts is brought to the root in one hop more.
  [[nodiscard]] CollectiveClaims claims(CollectiveOp op, Member /*members*/) const override {
    return {.least_bytes = op != kAllToAll && (op != kReduce || reversed_), .matchings = true};
  }
  [[nodiscard]] bool uses_places() const override { return true; }
  [[nodiscard]] bool takes_demand() const override { return true; }

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    const Grid grid(call);
    const bool rails_first = (call.op == kAllGather) != reversed_;
    switch (call.op) {
      case kAllReduce:
        return all_reduce(call, grid, rails_first);
      case kReduceScatter:
      case kAllGather:
        return shards(call, grid, rails_first);
      case kAllToAll:
        return all_to_all(call, grid, rails_first);
      default:
        return Rooted(call, grid, rails_first).build();
    }
  }

  /// The sum over the stages. Inside a server: alpha + (g-1) b beta of the scale-up fabric. Along the rails: rings of s
  /// members, s-1 shifts, or trees of ceil(log2 s) steps.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const Grid grid(call);
    const Terms t{static_cast<double>(grid.servers()), static_cast<double>(grid.rails()), on.rail_to(1), on.scale_up};
    const bool rails_first = (call.op == kAllGather) != reversed_;
    const double size = static_cast<double>(call.size.count);
    const double time =
        call.op == kBroadcast || call.op == kReduce ? rooted_cost(grid, t, size) : flat_cost(call.op, t, size, rails_first);
    const bool crosses = grid.servers() > 1;
    std::uint32_t circuits = crosses ? 1 : 0;
    if (call.op == kAllToAll) circuits = grid.servers() - 1;
    if (call.op == kBroadcast || call.op == kReduce) circuits = tree_steps(grid.servers());
    return CollectiveCost{.picoseconds = time, .circuits = circuits, .partners = crosses ? 1u : 0u};
  }

 private:
  [[nodiscard]] static double flat_cost(CollectiveOp op, const Terms& t, double size, bool rails_first) {
    const double n = t.s * t.g;
    switch (op) {
      case kAllReduce:
        return rails_first ? 2 * t.steps(size / t.s) + 2 * t.exchange(size / n)
                           : 2 * t.exchange(size / t.g) + 2 * t.steps(size / n);
      case kReduceScatter:
        return rails_first ? t.steps(size / t.s) + t.exchange(size / n) : t.exchange(size / t.g) + t.steps(size / n);
      case kAllGather:
        return rails_first ? t.steps(size) + t.exchange(t.s * size) : t.exchange(size) + t.steps(t.g * size);
      default:  // all-to-all: the same in both orders
        return t.exchange(size / t.g) + t.steps(size / t.s);
    }
  }
  [[nodiscard]] double rooted_cost(const Grid& grid, const Terms& t, double size) const {
    if (reversed_) return tree_steps(grid.servers()) * t.rail.send(size) + tree_steps(grid.rails()) * t.scale_up.send(size);
    return 2 * t.exchange(size / t.g) + tree_steps(grid.servers()) * t.rail.send(size / t.g);
  }

  bool reversed_;
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_hierarchical() { return std::make_unique<Hierarchical>(false); }
std::unique_ptr<const CollectiveAlgorithm> make_hierarchical_reversed() { return std::make_unique<Hierarchical>(true); }

}  // namespace photonrail::collective
