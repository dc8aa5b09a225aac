// StragglAR (arXiv 2505.23523): an all-reduce that hides its reduce-scatter behind the delay of one late member. The
// others, the punctual ones, reduce-scatter among themselves (round 0, a ring); when that is done and the straggler is
// there, each round lets it complete one chunk with one of them while the others hand complete chunks on
// (stragglar_schedule.hpp).
//
// The buffer is cut into n-1 chunks, which differ by one byte at the most; the published code pads each to the next KiB.
// A member begins a round when its sends and receives of the round before have arrived, and a send when both its ends have.
// Leaves out: a second straggler (it is waited for before anything starts), and any adaption while the reduce-scatter runs:
// a straggler that comes early waits for its end. `pieces` has no use here.
#include "collective/builtin.hpp"
#include "collective/matched_rounds.hpp"
#include "collective/stragglar/schedule.hpp"
#include "collective/uniform_plan.hpp"

#include <bit>
#include <map>
#include <mutex>

namespace photonrail::collective {

namespace {

// A schedule has about members^2 moves, of 16 bytes. Where it has to be searched for, the search takes more than members^3
// steps: some 20 s of the processor for 400 members.
constexpr Member kMaxDoubled = 4096;
constexpr Member kMaxSearched = 512;
constexpr Member kMaxSearchedForCost = 128;  // a choice among algorithms is made in milliseconds

class StragglarWriter {
 public:
  StragglarWriter(const CollectiveCall& call, const StragglarSchedule& schedule)
      : n_(call.members),
        schedule_(schedule),
        straggler_(call.straggler.value_or(n_ - 1)),
        cut_(call.size, n_ - 1),
        plan_(n_, n_ - 1) {}

  [[nodiscard]] std::unique_ptr<const SendPlan> write() && {
    plan_.builder().start_without(straggler_);
    if (n_ > 2) reduce_scatter();
    for (std::uint32_t r = 0; r < schedule_.rounds(); ++r) {
      for (const StragglarSchedule::Move& move : schedule_.round(r)) {
        plan_.add(send(move.from, move.to, move.chunk, n_ > 2 ? r + 1 : r, move.reduce));
      }
      plan_.end_round();
    }
    return std::move(plan_).build();
  }

 private:
  // The straggler and member n-1 swap their places in the schedule.
  [[nodiscard]] Member member(Member place) const {
    return place == n_ - 1 ? straggler_ : place == straggler_ ? n_ - 1 : place;
  }

  [[nodiscard]] Send send(Member from, Member to, std::uint32_t chunk, std::uint32_t round, bool reduce) const {
    return {.from = member(from),
            .to = member(to),
            .bytes = cut_[chunk],
            .first_chunk = chunk,
            .round = round,
            .reduce = reduce};
  }

  // A ring of the punctual ones: the one in place p ends with chunk p.
  void reduce_scatter() {
    const Member punctual = n_ - 1;
    std::vector<SendIndex> before(punctual);
    std::vector<SendIndex> now(punctual);
    for (Member step = 0; step + 1 < punctual; ++step) {
      for (Member p = 0; p < punctual; ++p) {
        const std::uint32_t chunk = (p + 2 * punctual - 1 - step) % punctual;
        std::vector<SendIndex> after;
        if (step > 0) after.push_back(before[(p + punctual - 1) % punctual]);
        now[p] = plan_.builder().add(send(p, (p + 1) % punctual, chunk, 0, true), after);
      }
      std::swap(before, now);
    }
    for (Member p = 0; p < punctual; ++p) {
      plan_.begin_after(member(p), {before[p], before[(p + punctual - 1) % punctual]});
    }
  }

  Member n_;
  const StragglarSchedule& schedule_;
  Member straggler_;
  EvenSplit cut_;
  MatchedRounds plan_;
};

class Stragglar final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "stragglar"; }
  [[nodiscard]] std::string_view summary() const override {
    return "all-reduce around one late member: the others reduce-scatter while it is away, then n-2+log2(n) rounds";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    const Member most = std::has_single_bit(members) ? kMaxDoubled : kMaxSearched;
    return op == CollectiveOp::kAllReduce && members >= 2 && members <= most;
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.least_bytes = true, .matchings = true};
  }
  /// If no member is late: the ring of the others, then the rounds, with a chunk of size / (n-1) in each step of both.
  /// Where a search for the rounds would take long, the fewest that there can be.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const Member n = call.members;
    const bool known = std::has_single_bit(n) || n > kMaxSearchedForCost;
    const std::uint32_t rounds = known ? fewest_stragglar_rounds(n) : schedule(n).rounds();
    const double step = on.rail_to(1).send(static_cast<double>(call.size.count) / (n - 1));
    return CollectiveCost{.picoseconds = (n - 2 + rounds) * step, .circuits = rounds + (n > 2 ? 1 : 0)};
  }
  [[nodiscard]] bool expects_straggler() const override { return true; }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    return StragglarWriter(call, schedule(call.members)).write();
  }

 private:
  // A group meets every straggler with the same schedule, and finding one takes longer than writing the plan.
  [[nodiscard]] const StragglarSchedule& schedule(Member members) const {
    const std::scoped_lock lock(mutex_);
    const auto found = found_.find(members);
    if (found != found_.end()) return found->second;
    const bool power = std::has_single_bit(members);
    return found_.emplace(members, power ? stragglar_doubling(members) : stragglar_matching(members)).first->second;
  }

  mutable std::mutex mutex_;
  mutable std::map<Member, StragglarSchedule> found_;  ///< never erased: the references stay
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_stragglar() { return std::make_unique<Stragglar>(); }

}  // namespace photonrail::collective
