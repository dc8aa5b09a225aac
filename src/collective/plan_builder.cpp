#include "collective/rotation.hpp"
#include "collective/uniform_plan.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

namespace photonrail {

using collective::PlanTotals;
using collective::Rotation;
using collective::UniformPlan;

namespace {

/// The dependencies of sends, by index: send i waits for after[first[i]] .. after[first[i + 1] - 1].
struct Waits {
  std::span<const SendIndex> after;
  std::span<const std::size_t> first;

  [[nodiscard]] std::span<const SendIndex> of(std::size_t i) const {
    return after.subspan(first[i], first[i + 1] - first[i]);
  }
};

/// The runs of chunks beyond the first of each send.
struct MoreData {
  std::span<const ChunkRun> runs;
  std::span<const std::size_t> first;

  [[nodiscard]] std::span<const ChunkRun> of(std::size_t i) const {
    return runs.subspan(first[i], first[i + 1] - first[i]);
  }
};

/// A plan as flat arrays. Send j releases released_[first_released_[j]] .. released_[first_released_[j + 1] - 1].
class ListPlan final : public UniformPlan {
 public:
  /// `place` maps the old index of a send to its new one.
  ListPlan(const PlanTotals& totals, std::span<const Send> sends, const Waits& waits, const MoreData& more,
           std::span<const SendIndex> place, std::vector<bool> late, std::vector<LocalStep> steps)
      : UniformPlan(totals),
        late_(std::move(late)),
        steps_(std::move(steps)),
        sends_(sends.size()),
        waits_(sends.size()),
        first_released_(sends.size() + 1) {
    if (!more.runs.empty()) index_data(more, place);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      sends_[place[i]] = sends[i];
      waits_[place[i]] = static_cast<std::uint32_t>(waits.of(i).size());
      for (const SendIndex j : waits.of(i)) ++first_released_[place[j] + 1];
    }
    std::partial_sum(first_released_.begin(), first_released_.end(), first_released_.begin());
    released_.resize(first_released_.back());
    std::vector<std::size_t> next(first_released_.begin(), first_released_.end() - 1);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      for (const SendIndex j : waits.of(i)) released_[next[place[j]]++] = place[i];
    }
    index_rounds();
  }

  [[nodiscard]] Send send(SendIndex i) const override { return sends_[i]; }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override {
    out.push_back({sends_[i].first_chunk, sends_[i].chunks});
    if (first_more_.empty()) return;
    for (std::size_t r = first_more_[i]; r < first_more_[i + 1]; ++r) out.push_back(more_[r]);
  }
  [[nodiscard]] LocalStep step(SendIndex i) const override { return steps_[sends_[i].first_chunk]; }
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override { return waits_[i]; }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    for (std::size_t i = first_released_[arrived]; i < first_released_[arrived + 1]; ++i) out.push_back(released_[i]);
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> used;
    for (std::size_t at = first_of_round_[round]; at < first_of_round_[round + std::size_t{1}]; ++at) {
      const MemberPair pair{std::get<1>(departures_[at]), std::get<2>(departures_[at])};
      if (pair.first != pair.second && (used.empty() || used.back() != pair)) used.push_back(pair);
    }
    return used;
  }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const override {
    return starting_with(departures_, round, member);
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    return starting_with(arrivals_, round, member);
  }

  [[nodiscard]] bool starts_without(Member member) const override { return late_[member]; }

  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    const Rotation rotation(*this, period);
    if (!rotation.leaves_plan_unchanged()) return nullptr;
    std::vector<Send> sends;
    std::vector<SendIndex> place(sends_.size());  // of a send of the part in the part
    for (SendIndex i = 0; i < sends_.size(); ++i) {
      if (sends_[i].from >= period) continue;
      place[i] = static_cast<SendIndex>(sends.size());
      sends.push_back(sends_[i]);
    }
    std::vector<std::vector<SendIndex>> after(sends.size());
    for (SendIndex i = 0; i < sends_.size(); ++i) {
      if (sends_[i].from >= period) continue;
      for (std::size_t r = first_released_[i]; r < first_released_[i + 1]; ++r) {
        after[place[rotation.representative(released_[r])]].push_back(place[i]);
      }
    }
    return part(std::move(sends), after, period);
  }

 private:
  using RoundPair = std::tuple<std::uint32_t, Member, Member>;

  [[nodiscard]] std::uint32_t starting_with(const std::vector<RoundPair>& sorted, std::uint32_t round,
                                            Member member) const {
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(first_of_round_[round + std::size_t{1}]);
    auto first = sorted.begin() + static_cast<std::ptrdiff_t>(first_of_round_[round]);
    first = std::lower_bound(first, end, member, [](const RoundPair& p, Member m) { return std::get<1>(p) < m; });
    if (first == end || std::get<1>(*first) != member) return 0;
    if (first + 1 == end || std::get<1>(first[1]) != member) return 1;  // of a matching, as most rounds are
    const auto last = std::upper_bound(first, end, member, [](Member m, const RoundPair& p) { return m < std::get<1>(p); });
    return static_cast<std::uint32_t>(last - first);
  }

  /// `after`: by send, what it waits for, and as often.
  [[nodiscard]] std::unique_ptr<const SendPlan> part(std::vector<Send> sends,
                                                     const std::vector<std::vector<SendIndex>>& after,
                                                     Member period) const {
    const Member fold = members() / period;
    PlanTotals totals = totals_;
    totals.members = period;
    totals.sends /= fold;
    totals.initial /= fold;
    totals.wire = Bytes{totals.wire.count / fold};
    std::vector<SendIndex> flat;
    std::vector<std::size_t> first{0};
    for (const std::vector<SendIndex>& of : after) {
      flat.insert(flat.end(), of.begin(), of.end());
      first.push_back(flat.size());
    }
    std::vector<SendIndex> as_it_is(sends.size());
    std::iota(as_it_is.begin(), as_it_is.end(), SendIndex{0});
    return std::make_unique<ListPlan>(totals, sends, Waits{flat, first}, MoreData{{}, {}}, as_it_is,
                                      std::vector<bool>(period), std::vector<LocalStep>{});
  }

  void index_data(const MoreData& more, std::span<const SendIndex> place) {
    std::vector<std::size_t> old(place.size());
    for (std::size_t i = 0; i < place.size(); ++i) old[place[i]] = i;
    first_more_.push_back(0);
    for (const std::size_t i : old) {
      more_.insert(more_.end(), more.of(i).begin(), more.of(i).end());
      first_more_.push_back(more_.size());
    }
  }

  void index_rounds() {
    for (const Send& send : sends_) {
      departures_.emplace_back(send.round, send.from, send.to);
      arrivals_.emplace_back(send.round, send.to % members(), send.from);  // of a part, `to` is numbered as in the whole
    }
    std::sort(departures_.begin(), departures_.end());
    std::sort(arrivals_.begin(), arrivals_.end());
    first_of_round_.assign(rounds() + std::size_t{1}, 0);
    for (const Send& send : sends_) ++first_of_round_[send.round + std::size_t{1}];
    std::partial_sum(first_of_round_.begin(), first_of_round_.end(), first_of_round_.begin());
  }

  std::vector<bool> late_;  ///< by member
  std::vector<LocalStep> steps_;
  std::vector<Send> sends_;
  std::vector<std::uint32_t> waits_;
  std::vector<std::size_t> first_released_;
  std::vector<SendIndex> released_;
  std::vector<ChunkRun> more_;
  std::vector<std::size_t> first_more_;      ///< empty: no send has more than one run
  std::vector<RoundPair> departures_;        ///< (round, sender, receiver) of each send, ascending
  std::vector<RoundPair> arrivals_;          ///< (round, receiver, sender) of each send, ascending
  std::vector<std::size_t> first_of_round_;  ///< into both
};

void check_send(const Send& send, Member members, std::uint32_t chunk_count) {
  PHOTONRAIL_CHECK(send.from < members && send.to < members);
  if (send.from == send.to) return;  // a step, see add_step()
  PHOTONRAIL_CHECK(send.bytes.count >= 0);
  PHOTONRAIL_CHECK(send.chunks > 0 && std::uint64_t{send.first_chunk} + send.chunks <= chunk_count);
}

PlanTotals total(Member members, std::uint32_t chunk_count, std::span<const Send> sends, const Waits& waits) {
  PlanTotals totals{.members = members, .sends = sends.size(), .initial = 0, .chunks = chunk_count, .critical = 0};
  std::vector<std::uint32_t> depth(sends.size(), 1);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    check_send(sends[i], members, chunk_count);
    const std::span<const SendIndex> after = waits.of(i);
    for (const SendIndex j : after) depth[i] = std::max(depth[i], depth[j] + 1);
    totals.initial += after.empty() ? 1 : 0;
    totals.waits = std::max(totals.waits, static_cast<std::uint32_t>(after.size()));
    totals.rounds = std::max(totals.rounds, sends[i].round + 1);
    totals.critical = std::max(totals.critical, depth[i]);
    totals.wire += sends[i].bytes;
  }
  return totals;
}

/// The new index of each send: those that wait for nothing come first, otherwise the order stays.
std::vector<SendIndex> initial_first(const Waits& waits, const PlanTotals& totals) {
  std::vector<SendIndex> place(totals.sends);
  SendIndex initial = 0;
  auto later = static_cast<SendIndex>(totals.initial);
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = waits.of(i).empty() ? initial++ : later++;
  return place;
}

}  // namespace

SendPlanBuilder::SendPlanBuilder(Member members, std::uint32_t chunk_count)
    : members_(members), chunk_count_(chunk_count), late_(members) {}

SendIndex SendPlanBuilder::add(const Send& send, const std::vector<SendIndex>& after, const std::vector<ChunkRun>& more) {
  PHOTONRAIL_CHECK(sends_.size() < std::numeric_limits<SendIndex>::max());
  PHOTONRAIL_CHECK(send.from != send.to || (send.bytes == Bytes{} && send.first_chunk < steps_.size()));
  for (const SendIndex earlier : after) PHOTONRAIL_CHECK(earlier < sends_.size());
  sends_.push_back(send);
  after_.insert(after_.end(), after.begin(), after.end());
  first_after_.push_back(after_.size());
  for (const ChunkRun& run : more) {
    PHOTONRAIL_CHECK(run.count > 0 && std::uint64_t{run.first} + run.count <= chunk_count_);
  }
  more_.insert(more_.end(), more.begin(), more.end());
  first_more_.push_back(more_.size());
  return static_cast<SendIndex>(sends_.size() - 1);
}

SendIndex SendPlanBuilder::add_step(Member member, const LocalStep& step, const std::vector<SendIndex>& after) {
  const bool tiles = step.kind == LocalStep::Kind::kTiles;
  PHOTONRAIL_CHECK(!tiles || (step.tiles > 0 && step.processors > 0 && step.processors <= 65535));
  steps_.push_back(step);
  return add({.from = member, .to = member, .first_chunk = static_cast<std::uint32_t>(steps_.size() - 1)}, after);
}

void SendPlanBuilder::start_without(Member member) {
  PHOTONRAIL_CHECK(member < members_);
  late_[member] = true;
}

std::unique_ptr<const SendPlan> SendPlanBuilder::build() && {
  const Waits waits{after_, first_after_};
  const PlanTotals totals = total(members_, chunk_count_, sends_, waits);
  return std::make_unique<ListPlan>(totals, sends_, waits, MoreData{more_, first_more_}, initial_first(waits, totals),
                                    std::move(late_), std::move(steps_));
}

Bytes chunk_bytes(const CollectiveCall& call, std::uint32_t chunk_count, std::uint32_t chunk) {
  switch (call.op) {
    case CollectiveOp::kAllGather:
    case CollectiveOp::kGather: {
      const std::uint32_t pieces = chunk_count / call.members;
      return share(call.size, pieces, chunk % pieces);
    }
    case CollectiveOp::kAllToAll: {
      const std::uint32_t pieces = chunk_count / call.members / call.members;
      const Member from = chunk / pieces / call.members;
      const Member to = chunk / pieces % call.members;
      const Bytes pair = call.demand != nullptr ? call.demand->at(from, to) : share(call.size, call.members, to);
      return pieces == 1 ? pair : share(pair, pieces, chunk % pieces);
    }
    case CollectiveOp::kBarrier:
      return {};
    default:
      return share(call.size, chunk_count, chunk);
  }
}

}  // namespace photonrail
