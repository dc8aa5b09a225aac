// The part of Transfers that serves pairs one by one: a send waits for the circuits of its own pair, and a pair holds its
// circuits while something is on its way over them and no longer. So a pair that has nothing to send keeps no port from one
// that has, and operations that want more circuits than there are ports get on.
#include "photonrail/error.hpp"
#include "execution/transfers.hpp"

#include <algorithm>
#include <utility>

namespace photonrail {

void Transfers::open_by_pair(OpId id, Operation& op, Round& round) {
  round.open = true;
  round.moving.assign(op.members(), 0);
  round.lacking.assign(op.members(), 0);
  round.waited_before.assign(op.members(), Duration{});
  for (const MemberPair& pair : op.plan().pairs(round.index)) {
    Link& link = round.links.emplace_back();
    link.pair = pair;
    link.channel = fabric_.network().open_channel();
    const auto crossing = fabric_.crossing(op.gpus[pair.first], op.gpus[pair.second]);
    if (crossing) {
      link.rail = crossing->rail;
    } else {
      link.path = path_of(op, pair);
    }
  }
  const std::uint32_t index = round.index;
  listener_->round_opened_by_pair(id, index);
  const std::vector<SendIndex> parked = std::move(round.parked);
  round.parked.clear();
  for (const SendIndex i : parked) post(id, op, i);
  try_pairs(id, index);
}

// What waits is tried when the controller has seen it.
void Transfers::offer(OpId id, Operation& op, const Send& send, std::uint64_t tag) {
  Round& round = *op.round(send.round);
  Link& link = find(round.links, send.from, send.to);
  const bool circuits = !link.rail.is_none();
  if (!circuits || link.on_way > 0) {
    ++link.on_way;
    count(id, op, round, link.pair, Count::kMoving, 1);
    fabric_.post(link.channel, link.path, send.bytes, tag);
    return;
  }
  link.parked.push_back(tag);
  count(id, op, round, link.pair, Count::kLacking, 1);
  listener_->pair_waits(id, send.round, link.pair, send.bytes);
  if (offered_.empty()) engine_.schedule(engine_.now(), Phase::kStart, Action::to<&Transfers::try_offered>(*this));
  if (offered_.empty() || offered_.back() != std::pair{id, send.round}) offered_.emplace_back(id, send.round);
}

void Transfers::try_offered(std::uint64_t) {
  const std::vector<std::pair<OpId, std::uint32_t>> offered = std::move(offered_);
  offered_.clear();
  for (const auto& [id, round] : offered) {
    if (operations_[id].round(round) != nullptr) try_pairs(id, round);
  }
}

void Transfers::try_pairs(OpId id, std::uint32_t index) {
  Operation& op = operations_[id];
  Round& round = *op.round(index);
  for (Link& link : round.links) {
    if (!link.parked.empty()) hold_pair(id, op, round, link);
  }
}

void Transfers::hold_pair(OpId id, Operation& op, Round& round, Link& link) {
  const RailCrossing crossing = *fabric_.crossing(op.gpus[link.pair.first], op.gpus[link.pair.second]);
  const auto hold = fabric_.rail(crossing.rail).hold(crossing.from, crossing.to, id);
  if (!hold) return;
  link.hold = *hold;
  link.held = true;
  link.path = path_of(op, link.pair);
  const std::vector<std::uint64_t> tags = std::exchange(link.parked, {});
  const auto sends = static_cast<std::uint32_t>(tags.size());
  Parked parked{sends, {}};
  for (const std::uint64_t tag : tags) parked.bytes.count += op.plan().send(static_cast<SendIndex>(tag)).bytes.count;
  const auto waited = [&](Member m) {
    if (!round.waits(m)) return Duration{};
    return recorder_.reconfiguration_wait(op.rank(m), engine_.now()) - round.waited_before[m];
  };
  const Duration idle = std::max(waited(link.pair.first), waited(op.run_for(link.pair.second)));
  link.on_way = sends;
  count(id, op, round, link.pair, Count::kMoving, static_cast<std::int32_t>(sends));
  count(id, op, round, link.pair, Count::kLacking, -static_cast<std::int32_t>(sends));
  listener_->pair_served(id, round.index, link.pair, parked, idle);
  for (const std::uint64_t tag : tags) {
    fabric_.post(link.channel, link.path, op.plan().send(static_cast<SendIndex>(tag)).bytes, tag);
  }
}

// A send was delivered. What was posted behind it in the meantime keeps the circuits.
void Transfers::leave_pair(OpId id, Operation& op, Round& round, const Send& send) {
  Link& link = find(round.links, send.from, send.to);
  PHOTONRAIL_CHECK(link.on_way > 0);
  count(id, op, round, link.pair, Count::kMoving, -1);
  if (--link.on_way > 0 || !link.held) return;
  link.held = false;
  fabric_.rail(link.rail).release(link.hold);
  listener_->circuits_released(link.rail, id);
}

// A member with sends that wait and none that move waits for circuits.
void Transfers::count(OpId id, Operation& op, Round& round, MemberPair pair, Count which, std::int32_t change) {
  for (const Member m : {pair.first, op.run_for(pair.second)}) {
    const bool before = round.waits(m);
    std::uint32_t& counter = which == Count::kMoving ? round.moving[m] : round.lacking[m];
    counter = static_cast<std::uint32_t>(static_cast<std::int64_t>(counter) + change);
    if (round.waits(m) == before) continue;
    const RankId rank = op.rank(m);
    if (before) {
      recorder_.waiting_ended(rank, engine_.now());
      recorder_.running_began(rank, op.dimension(), engine_.now());
    } else {
      recorder_.running_ended(rank, op.dimension(), engine_.now());
      recorder_.waiting_began(rank, engine_.now());
      round.waited_before[m] = recorder_.reconfiguration_wait(rank, engine_.now());
    }
    listener_->member_waits(id, m, !before);
  }
}

}  // namespace photonrail
