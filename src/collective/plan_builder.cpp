#include "collective/rotation.hpp"
#include "collective/round_index.hpp"
#include "collective/send_list.hpp"
#include "collective/uniform_plan.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace photonrail {

using collective::PlanTotals;
using collective::Rotation;
using collective::RoundIndex;
using collective::SendList;
using collective::SendLists;
using collective::UniformPlan;

namespace {

/// A run of chunks of a send beyond the one that it names.
struct MoreData {
  SendIndex send = 0;
  ChunkRun run;
};

/// What a builder has written down.
struct ListedSends {
  SendList sends;
  SendLists after;               ///< by send, those that it waits for
  std::vector<MoreData> more;    ///< by send
  std::vector<LocalStep> steps;  ///< by Send::first_chunk of a send of a member to itself
  std::vector<bool> late;        ///< by member: the plan starts without it
};

/// A plan as flat arrays.
class ListPlan final : public UniformPlan {
 public:
  /// `place` maps the index of a send in the list to that in the plan.
  ListPlan(const PlanTotals& totals, ListedSends listed, std::span<const SendIndex> place)
      : UniformPlan(totals),
        late_(std::move(listed.late)),
        steps_(std::move(listed.steps)),
        sends_(std::move(listed.sends)),
        waits_(sends_.size()),
        released_(listed.after.inverse(place)),
        more_(std::move(listed.more)) {
    for (std::size_t i = 0; i < sends_.size(); ++i) waits_[place[i]] = static_cast<std::uint32_t>(listed.after[i].size());
    listed.after = {};
    sends_.reorder(place);
    for (MoreData& of : more_) of.send = place[of.send];
    std::stable_sort(more_.begin(), more_.end(), [](const MoreData& a, const MoreData& b) { return a.send < b.send; });
    rounds_ = RoundIndex(sends_, rounds(), members());
  }

  [[nodiscard]] Send send(SendIndex i) const override { return sends_[i]; }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override {
    const Send of = sends_[i];
    out.push_back({of.first_chunk, of.chunks});
    const auto earlier = [](const MoreData& more, SendIndex send) { return more.send < send; };
    for (auto at = std::lower_bound(more_.begin(), more_.end(), i, earlier); at != more_.end() && at->send == i; ++at)
      out.push_back(at->run);
  }
  [[nodiscard]] LocalStep step(SendIndex i) const override { return steps_[sends_[i].first_chunk]; }
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override { return waits_[i]; }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::span<const SendIndex> released = released_[arrived];
    out.insert(out.end(), released.begin(), released.end());
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override { return rounds_.pairs(round); }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const override {
    return rounds_.sends_from(member, round);
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    return rounds_.sends_to(member, round);
  }

  [[nodiscard]] bool starts_without(Member member) const override { return late_[member]; }

  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    const Rotation rotation(*this, period);
    if (!rotation.leaves_plan_unchanged()) return nullptr;
    ListedSends part{.sends = {}, .after = {}, .more = {}, .steps = {}, .late = std::vector<bool>(period)};
    std::vector<SendIndex> place(sends_.size());  // of a send of the part in the part
    for (SendIndex i = 0; i < sends_.size(); ++i) {
      if (sends_.from(i) >= period) continue;
      place[i] = static_cast<SendIndex>(part.sends.size());
      part.sends.push_back(sends_[i]);
    }
    std::vector<std::vector<SendIndex>> after(part.sends.size());
    for (SendIndex i = 0; i < sends_.size(); ++i) {
      if (sends_.from(i) >= period) continue;
      for (const SendIndex released : released_[i]) after[place[rotation.representative(released)]].push_back(place[i]);
    }
    for (const std::vector<SendIndex>& of : after) part.after.push_back(of);
    std::vector<SendIndex> as_it_is(part.sends.size());
    std::iota(as_it_is.begin(), as_it_is.end(), SendIndex{0});
    return std::make_unique<ListPlan>(totals_.folded(period), std::move(part), as_it_is);
  }

 private:
  std::vector<bool> late_;  ///< by member
  std::vector<LocalStep> steps_;
  SendList sends_;
  std::vector<std::uint32_t> waits_;
  SendLists released_;  ///< by send, what its arrival counts for
  std::vector<MoreData> more_;
  RoundIndex rounds_;
};

void check_send(const Send& send, Member members, std::uint32_t chunk_count) {
  PHOTONRAIL_CHECK(send.from < members && send.to < members);
  if (send.from == send.to) return;  // a step, see add_step()
  PHOTONRAIL_CHECK(send.bytes.count >= 0);
  PHOTONRAIL_CHECK(send.chunks > 0 && std::uint64_t{send.first_chunk} + send.chunks <= chunk_count);
}

PlanTotals total(Member members, std::uint32_t chunk_count, const ListedSends& listed) {
  const SendList& sends = listed.sends;
  PlanTotals totals{.members = members, .sends = sends.size(), .initial = 0, .chunks = chunk_count, .critical = 0};
  std::vector<std::uint32_t> depth(sends.size(), 1);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Send send = sends[i];
    check_send(send, members, chunk_count);
    const std::span<const SendIndex> after = listed.after[i];
    for (const SendIndex j : after) depth[i] = std::max(depth[i], depth[j] + 1);
    totals.initial += after.empty() ? 1 : 0;
    totals.waits = std::max(totals.waits, static_cast<std::uint32_t>(after.size()));
    totals.rounds = std::max(totals.rounds, send.round + 1);
    totals.critical = std::max(totals.critical, depth[i]);
    totals.wire += send.bytes;
  }
  return totals;
}

/// The new index of each send: those that wait for nothing come first, otherwise the order stays.
std::vector<SendIndex> initial_first(const SendLists& after, const PlanTotals& totals) {
  std::vector<SendIndex> place(totals.sends);
  SendIndex initial = 0;
  auto later = static_cast<SendIndex>(totals.initial);
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = after[i].empty() ? initial++ : later++;
  return place;
}

}  // namespace

struct SendPlanBuilder::Written : ListedSends {};

SendPlanBuilder::SendPlanBuilder(Member members, std::uint32_t chunk_count)
    : members_(members), chunk_count_(chunk_count), written_(std::make_unique<Written>()) {
  written_->late.resize(members);
}
SendPlanBuilder::SendPlanBuilder(SendPlanBuilder&&) noexcept = default;
SendPlanBuilder& SendPlanBuilder::operator=(SendPlanBuilder&&) noexcept = default;
SendPlanBuilder::~SendPlanBuilder() = default;

SendIndex SendPlanBuilder::add(const Send& send, const std::vector<SendIndex>& after, const std::vector<ChunkRun>& more) {
  const std::size_t sends = written_->sends.size();
  PHOTONRAIL_CHECK(sends < std::numeric_limits<SendIndex>::max());
  PHOTONRAIL_CHECK(send.from != send.to || (send.bytes == Bytes{} && send.first_chunk < written_->steps.size()));
  for (const SendIndex earlier : after) PHOTONRAIL_CHECK(earlier < sends);
  written_->sends.push_back(send);
  written_->after.push_back(after);
  for (const ChunkRun& run : more) {
    PHOTONRAIL_CHECK(run.count > 0 && std::uint64_t{run.first} + run.count <= chunk_count_);
    written_->more.push_back({static_cast<SendIndex>(sends), run});
  }
  return static_cast<SendIndex>(sends);
}

SendIndex SendPlanBuilder::add_step(Member member, const LocalStep& step, const std::vector<SendIndex>& after) {
  const bool tiles = step.kind == LocalStep::Kind::kTiles;
  PHOTONRAIL_CHECK(!tiles || (step.tiles > 0 && step.processors > 0 && step.processors <= 65535));
  std::vector<LocalStep>& steps = written_->steps;
  steps.push_back(step);
  return add({.from = member, .to = member, .first_chunk = static_cast<std::uint32_t>(steps.size() - 1)}, after);
}

void SendPlanBuilder::start_without(Member member) {
  PHOTONRAIL_CHECK(member < members_);
  written_->late[member] = true;
}

std::unique_ptr<const SendPlan> SendPlanBuilder::build() && {
  const PlanTotals totals = total(members_, chunk_count_, *written_);
  const std::vector<SendIndex> place = initial_first(written_->after, totals);
  return std::make_unique<ListPlan>(totals, std::move(*written_), place);
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
