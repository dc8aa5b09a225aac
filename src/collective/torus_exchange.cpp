// All to all on a torus: in each dimension in turn, every member sends to every other one of its line what is for the cells
// behind it there, the shorter way round. Data travels in bundles, so that a member sends a message for each cell of its
// lines and not for each cell of the torus.
#include "collective/torus_parts.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>

namespace photonrail::collective {

namespace {

using Phase = DimensionOrder::Phase;

/// Sends are numbered (phase, part, member, other cell of the line).
class TorusExchangePlan final : public UniformPlan {
 public:
  TorusExchangePlan(const CollectiveCall& call, TorusParts parts)
      : UniformPlan(totals(call, parts)), parts_(std::move(parts)), n_(call.members) {
    std::uint64_t first = 0;
    for (std::uint32_t k = 0; k < phases(); ++k) {
      for (std::uint32_t p = 0; p < parts_.count(); ++p) {
        first_.push_back(first);
        first += std::uint64_t{n_} * (phase(p, k).cells - 1);
      }
    }
  }

  [[nodiscard]] Send send(SendIndex i) const override {
    const Move move = move_of(i);
    const std::uint32_t block = order(move).place_of[move.to] / phase(move).below;
    const Bytes each = parts_.parts[move.part].block_bytes[move.phase][block];
    return {.from = move.from,
            .to = move.to,
            .bytes = {each.count * static_cast<std::int64_t>(sources(phase(move)))},
            .first_chunk = first_chunk(move)};
  }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override {
    const Move move = move_of(i);
    const Phase& at = phase(move);
    for (std::uint32_t a = 0; a < sources(at); ++a) {
      for (std::uint32_t b = 0; b < at.below; ++b) out.push_back({chunk(move, a, b), 1});
    }
  }
  // Data that came to a member in a phase, from the other cells of its line, is in what it sends in all later ones.
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override {
    const Move move = move_of(i);
    std::uint32_t waits = 0;
    for (std::uint32_t k = 0; k < move.phase; ++k) waits += phase(move.part, k).cells - 1;
    return waits;
  }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const Move move = move_of(arrived);
    for (std::uint32_t k = move.phase + 1; k < phases(); ++k) {
      const std::uint32_t others = phase(move.part, k).cells - 1;
      const std::uint64_t first = first_[k * parts_.count() + move.part] + std::uint64_t{move.to} * others;
      for (std::uint32_t j = 0; j < others; ++j) out.push_back(static_cast<SendIndex>(first + j));
    }
  }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    const DimensionOrder& any = parts_.orders.front();
    for (const Phase& line : any.phases) {
      for (Member m = 0; m < n_; ++m) {
        const std::uint32_t place = any.place_of[m];
        for (std::uint32_t to = 0; to < line.cells; ++to) {
          if (to != any.coordinate(place, line)) all.emplace_back(m, any.member_at[any.moved(place, line, to)]);
        }
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override { return per_member(); }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override { return per_member(); }

 private:
  struct Move {
    std::uint32_t phase;
    std::uint32_t part;
    Member from;
    Member to;
  };

  static PlanTotals totals(const CollectiveCall& call, const TorusParts& parts) {
    PlanTotals totals{.members = call.members, .sends = 0, .initial = 0, .waits = 0, .critical = 0};
    const std::uint64_t n = call.members;
    totals.chunks = n * n * parts.count();
    totals.critical = static_cast<std::uint32_t>(parts.orders.front().phases.size());
    for (std::uint32_t p = 0; p < parts.count(); ++p) {
      const std::vector<Phase>& phases = parts.order(p).phases;
      std::uint32_t before = 0;
      for (std::size_t k = 0; k < phases.size(); ++k) {
        const std::uint64_t others = phases[k].cells - 1;
        totals.sends += n * others;
        if (k == 0) totals.initial += n * others;
        totals.waits = std::max(totals.waits, before);
        before += phases[k].cells - 1;
        Bytes sum{};  // a block comes from every other cell of its line, in each of the lines below, for all sources
        for (const Bytes block : parts.parts[p].block_bytes[k]) sum += block;
        totals.wire += multiply(sum, others * (n / phases[k].cells));
      }
    }
    return totals;
  }

  [[nodiscard]] std::uint32_t phases() const { return totals_.critical; }
  [[nodiscard]] const DimensionOrder& order(const Move& move) const { return parts_.order(move.part); }
  [[nodiscard]] const Phase& phase(std::uint32_t part, std::uint32_t k) const { return parts_.order(part).phases[k]; }
  [[nodiscard]] const Phase& phase(const Move& move) const { return phase(move.part, move.phase); }
  /// Members whose data a message of the phase carries: they have come together in the phases before.
  [[nodiscard]] std::uint32_t sources(const Phase& phase) const { return n_ / (phase.cells * phase.below); }
  [[nodiscard]] std::uint32_t per_member() const {
    std::uint32_t sends = 0;
    for (const Phase& line : parts_.orders.front().phases) sends += line.cells - 1;
    return sends * parts_.count();
  }

  [[nodiscard]] Move move_of(SendIndex i) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), std::uint64_t{i});
    const auto group = static_cast<std::uint32_t>(after - first_.begin()) - 1;
    Move move{group / parts_.count(), group % parts_.count(), 0, 0};
    const Phase& at = phase(move);
    const auto in_group = static_cast<std::uint32_t>(i - first_[group]);
    move.from = in_group / (at.cells - 1);
    const std::uint32_t place = order(move).place_of[move.from];
    const std::uint32_t to = (order(move).coordinate(place, at) + 1 + in_group % (at.cells - 1)) % at.cells;
    move.to = order(move).member_at[order(move).moved(place, at, to)];
    return move;
  }

  [[nodiscard]] std::uint32_t first_chunk(const Move& move) const { return chunk(move, 0, 0); }
  /// Returns the chunk of the a-th source and the b-th destination of a message.
  [[nodiscard]] std::uint32_t chunk(const Move& move, std::uint32_t a, std::uint32_t b) const {
    const Phase& at = phase(move);
    const DimensionOrder& by = order(move);
    const std::uint32_t line = at.cells * at.below;
    const Member source = by.member_at[a * line + by.place_of[move.from] % line];
    const Member target = by.member_at[by.place_of[move.to] / at.below * at.below + b];
    return (source * n_ + target) * parts_.count() + move.part;
  }

  TorusParts parts_;
  Member n_;
  std::vector<std::uint64_t> first_;  ///< by phase and part: the number of its first send
};

/// Messages between all cells of a line that cross its busiest link in one direction. Half-way round a ring of an even
/// number of cells every second one goes up.
double busiest_link(const Phase& line) {
  const double s = line.cells;
  if (line.closing > 1) return static_cast<double>((line.cells / 2) * ((line.cells + 1) / 2));
  if (line.cells % 2 == 1) return (s * s - 1.0) / 8.0;
  return line.cells % 4 == 0 ? s * s / 8.0 : (s * s + 4.0) / 8.0;
}

}  // namespace

std::unique_ptr<const SendPlan> make_torus_exchange(const CollectiveCall& call, bool rotated) {
  TorusParts parts = make_parts(box_of(call), rotated, false);
  const EvenSplit shares(call.size, call.members);
  fill_blocks(parts, [&](std::uint32_t part, std::uint32_t place) {
    return share(shares[parts.order(part).member_at[place]], parts.count(), part);
  });
  return std::make_unique<TorusExchangePlan>(call, std::move(parts));
}

double torus_exchange_cost(const CollectiveCall& call, const LinkCost& link, bool rotated) {
  const TorusParts parts = make_parts(box_of(call), rotated, false);
  const double bundle = static_cast<double>(call.size.count) / parts.count();  // pair / parts * members
  double time = 0.0;
  for (std::size_t k = 0; k < parts.orders.front().phases.size(); ++k) {
    double longest = 0.0;
    for (const DimensionOrder& order : parts.orders) {
      const Phase& line = order.phases[k];
      const std::uint32_t hops = line.closing > 1 ? line.cells - 1 : line.cells / 2;
      const double bytes = busiest_link(line) * bundle / line.cells;
      const double alpha = static_cast<double>(link.overhead.count()) + static_cast<double>(link.latency.count()) * hops;
      longest = std::max(longest, alpha + link.beta(bytes));
    }
    time += longest;
  }
  return time;
}

}  // namespace photonrail::collective
