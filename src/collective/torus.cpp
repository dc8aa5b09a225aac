// Rings along the lines of a torus, one dimension after the other: a reduce-scatter in each dimension leaves every member a
// smaller block, an all-gather goes back (Barnett, Littlefield, Payne and van de Geijn 1993, "bucket" algorithms; Sack and
// Gropp 2015 for all links at once). A line without a link from its last cell to its first sends that message back along
// it.
//
// "bucket" uses one direction of one dimension at a time. "torus_rings" cuts the data into a part for each dimension and
// direction, which begin in different dimensions, so that all links are busy where all sides are equally long.
//
// In a group that is no box of a torus both are one ring of its members.
//
// Leaves out: pieces that follow each other in a step (`pieces` has no use here), twisted tori, uneven demands.
#include "collective/builtin.hpp"
#include "collective/torus_parts.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>

namespace photonrail::collective {

namespace {

using enum CollectiveOp;
using Phase = DimensionOrder::Phase;

/// A step of the rings of a part: its phase, its number in the phase, and what its arrival at a member releases there.
struct RingStep {
  std::uint32_t phase = 0;
  std::uint32_t number = 0;
  bool reduce = false;
  std::uint32_t waits = 0;
  std::vector<std::uint32_t> releases{};  ///< steps
};

/// The phases of a part in order to scatter, in reverse to gather. What a member has of a phase is complete when the last
/// arrivals of this phase and of those before are there. So a last arrival releases all steps of later phases, of a
/// scattering phase up to the first one that gathers: all sends of a phase then leave in order, and its last arrival is the
/// last one indeed.
std::vector<RingStep> steps_on_rings(const DimensionOrder& order, CollectiveOp op) {
  std::vector<RingStep> steps;
  const auto phases = static_cast<std::uint32_t>(order.phases.size());
  for (const bool reduce : {true, false}) {
    if (op == (reduce ? kAllGather : kReduceScatter)) continue;
    for (std::uint32_t k = 0; k < phases; ++k) {
      const std::uint32_t phase = reduce ? k : phases - 1 - k;
      for (std::uint32_t t = 0; t + 1 < order.phases[phase].cells; ++t) steps.push_back({phase, t, reduce});
    }
  }
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    RingStep& step = steps[s];
    if (step.number + 2 < order.phases[step.phase].cells) {
      step.releases.push_back(s + 1);
    } else {
      for (std::uint32_t later = s + 1; later < steps.size(); ++later) {
        if (step.reduce && !steps[later].reduce && steps[later].phase + 1 < phases) break;
        step.releases.push_back(later);
      }
    }
    for (const std::uint32_t released : step.releases) ++steps[released].waits;
  }
  return steps;
}

using RingProgram = std::vector<RingStep>;

std::vector<RingProgram> programs_of(const TorusParts& parts, CollectiveOp op) {
  std::vector<RingProgram> programs;
  for (const DimensionOrder& order : parts.orders) programs.push_back(steps_on_rings(order, op));
  return programs;
}

/// Sends are numbered (step, part, member). Every member sends once in each step of each part.
class TorusRingPlan final : public UniformPlan {
 public:
  TorusRingPlan(const CollectiveCall& call, TorusParts parts, std::vector<RingProgram> programs)
      : UniformPlan(totals(call, parts, programs)),
        parts_(std::move(parts)),
        programs_(std::move(programs)),
        n_(call.members),
        per_step_(n_ * parts_.count()),
        numbers_members_(call.op != kAllReduce) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Move move = move_of(i);
    return {.from = move.from,
            .to = move.to,
            .bytes = parts_.parts[move.part].block_bytes[move.phase][move.block],
            .first_chunk = chunk(move, move.block * move.below),
            .chunks = numbers_members_ ? 1 : move.below,
            .reduce = move.reduce};
  }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override {
    const Move move = move_of(i);
    const std::uint32_t first = move.block * move.below;
    if (!numbers_members_) {
      out.push_back({chunk(move, first), move.below});
      return;
    }
    for (std::uint32_t place = first; place < first + move.below; ++place) out.push_back({chunk(move, place), 1});
  }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const RingStep& step = step_of(arrived);
    if (step.releases.empty()) return;
    const Move move = move_of(arrived);
    const SendIndex of_receiver = arrived % per_step_ - move.from + move.to;
    for (const std::uint32_t released : step.releases) out.push_back(released * per_step_ + of_receiver);
  }
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override { return step_of(i).waits; }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    for (const TorusPart& part : parts_.parts) {
      const DimensionOrder& order = parts_.orders[part.order];
      for (const Phase& phase : order.phases) {
        for (Member m = 0; m < n_; ++m) all.emplace_back(m, next(order, phase, order.place_of[m], part.up));
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * parts_.count();
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * parts_.count();
  }

 private:
  struct Move {
    Member from;
    Member to;
    std::uint32_t part;
    std::uint32_t phase;
    std::uint32_t block;
    std::uint32_t below;
    bool reduce;
  };

  static PlanTotals totals(const CollectiveCall& call, const TorusParts& parts, const std::vector<RingProgram>& programs) {
    // A block is sent by the members of its line that it is not for: cells - 1 of each of the lines below.
    Bytes wire{};
    for (std::uint32_t p = 0; p < parts.count(); ++p) {
      for (std::size_t k = 0; k < parts.order(p).phases.size(); ++k) {
        const Phase& phase = parts.order(p).phases[k];
        Bytes sum{};
        for (const Bytes block : parts.parts[p].block_bytes[k]) sum += block;
        wire += multiply(sum, std::uint64_t{phase.cells - 1} * phase.below);
      }
    }
    std::uint32_t waits = 0;
    for (const RingProgram& program : programs) {
      for (const RingStep& step : program) waits = std::max(waits, step.waits);
    }
    const auto steps = static_cast<std::uint32_t>(programs.front().size());
    const std::uint64_t per_step = std::uint64_t{call.members} * parts.count();
    return {.members = call.members,
            .sends = per_step * steps,
            .initial = per_step,
            .waits = waits,
            .chunks = per_step,
            .wire = multiply(wire, call.op == kAllReduce ? 2 : 1),
            .critical = steps};
  }

  [[nodiscard]] const RingStep& step_of(SendIndex i) const {
    const std::uint32_t step = i / per_step_;
    return programs_[parts_.parts[(i - step * per_step_) / n_].order][step];
  }
  [[nodiscard]] static Member next(const DimensionOrder& order, const Phase& phase, std::uint32_t place, bool up) {
    const std::uint32_t at = order.coordinate(place, phase);
    const std::uint32_t to = up ? (at + 1 == phase.cells ? 0 : at + 1) : (at == 0 ? phase.cells - 1 : at - 1);
    return order.member_at[order.moved(place, phase, to)];
  }

  [[nodiscard]] Move move_of(SendIndex i) const {
    const std::uint32_t step = i / per_step_;
    const std::uint32_t in_step = i - step * per_step_;
    const std::uint32_t p = in_step / n_;
    const Member from = in_step - p * n_;
    const TorusPart& part = parts_.parts[p];
    const DimensionOrder& order = parts_.orders[part.order];
    const RingStep& at = programs_[part.order][step];
    const Phase& phase = order.phases[at.phase];
    const std::uint32_t place = order.place_of[from];
    // A reduction starts one block behind the own one, so that the own one comes home complete after all steps.
    const std::uint32_t behind = at.number + (at.reduce ? 1 : 0);
    const std::uint32_t own = order.coordinate(place, phase);
    const std::uint32_t digit = (part.up ? own + phase.cells - behind : own + behind) % phase.cells;
    const std::uint32_t block = place / phase.below - own + digit;
    return {from, next(order, phase, place, part.up), p, at.phase, block, phase.below, at.reduce};
  }

  [[nodiscard]] std::uint32_t chunk(const Move& move, std::uint32_t place) const {
    if (!numbers_members_) return move.part * n_ + place;
    return parts_.order(move.part).member_at[place] * parts_.count() + move.part;
  }

  TorusParts parts_;
  std::vector<RingProgram> programs_;  ///< by order
  Member n_;
  std::uint32_t per_step_;
  bool numbers_members_;  ///< chunks are those of a member's shard
};

class TorusRings final : public CollectiveAlgorithm {
 public:
  explicit TorusRings(bool all_links) : all_links_(all_links) {}

  [[nodiscard]] std::string_view name() const override { return all_links_ ? "torus_rings" : "bucket"; }
  [[nodiscard]] std::string_view summary() const override {
    return all_links_
               ? "buckets for each dimension and direction of a torus at once, on all of its links (Sack and Gropp 2015)"
               : "rings along one dimension of a torus after the other (Barnett et al. 1993)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return members >= 2 && (op == kAllReduce || op == kReduceScatter || op == kAllGather || op == kAllToAll);
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp op, Member /*members*/) const override {
    return {.least_bytes = op != kAllToAll};
  }
  [[nodiscard]] bool follows_box() const override { return true; }

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    if (call.op == kAllToAll) return make_torus_exchange(call, all_links_);
    TorusParts parts = parts_of(call);
    const std::uint32_t count = parts.count();
    const EvenSplit cut(call.size, call.op == kAllGather ? count : std::uint64_t{count} * call.members);
    const auto bytes = [&](std::uint32_t part, std::uint32_t place) {
      if (call.op == kAllGather) return cut[part];
      if (call.op == kAllReduce) return cut[std::uint64_t{part} * call.members + place];
      return cut[std::uint64_t{parts.order(part).member_at[place]} * count + part];
    };
    fill_blocks(parts, bytes);
    std::vector<RingProgram> programs = programs_of(parts, call.op);
    return std::make_unique<TorusRingPlan>(call, std::move(parts), std::move(programs));
  }

  /// Sides s_1 .. s_D, P parts, n members, S bytes (all-gather: n times the shard): the sum over the dimensions of
  /// (s_k - 1) (alpha + S beta / (P s_1 .. s_k)), twice for an all-reduce, and on a line that is not closed the latency of
  /// its way back. Exact where all sides are equal; else the parts are taken to wait for each other after every step.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    if (call.op == kAllToAll && call.box.empty()) {
      const double each = static_cast<double>(call.size.count) / call.members;
      return CollectiveCost{.picoseconds = on.rail_to(call.members - 1).send((call.members - 1) * each),
                            .partners = call.members - 1};
    }
    const LinkCost link = on.rail_to(1);
    if (call.op == kAllToAll) return CollectiveCost{.picoseconds = torus_exchange_cost(call, link, all_links_)};
    const double once = ring_cost(call, link);
    return CollectiveCost{.picoseconds = call.op == kAllReduce ? 2 * once : once};
  }

 private:
  [[nodiscard]] TorusParts parts_of(const CollectiveCall& call) const {
    const MemberBox box = box_of(call);
    const bool all = all_links_ && !call.box.empty();
    return make_parts(box, all, all && both_ways(box));
  }

  [[nodiscard]] double ring_cost(const CollectiveCall& call, const LinkCost& link) const {
    const TorusParts parts = parts_of(call);
    const double size = static_cast<double>(call.size.count);
    const double shard = (call.op == kAllGather ? size : size / call.members) / parts.count();
    double time = 0.0;
    const std::vector<RingProgram> programs = programs_of(parts, kReduceScatter);
    for (std::size_t step = 0; step < programs.front().size(); ++step) {
      double longest = 0.0;
      for (std::size_t o = 0; o < programs.size(); ++o) {
        const Phase& phase = parts.orders[o].phases[programs[o][step].phase];
        longest = std::max(longest, link.send(shard * phase.below));
      }
      time += longest;
    }
    for (const Phase& phase : parts.orders.front().phases) {
      time += static_cast<double>(link.latency.count()) * (phase.closing - 1);
    }
    return time;
  }

  bool all_links_;
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_bucket() { return std::make_unique<TorusRings>(false); }
std::unique_ptr<const CollectiveAlgorithm> make_torus_rings() { return std::make_unique<TorusRings>(true); }

}  // namespace photonrail::collective
