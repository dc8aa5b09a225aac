#include "collective/uneven.hpp"

#include "photonrail/error.hpp"

#include <optional>
#include <string>
#include <utility>

namespace photonrail::collective {

namespace {

SendPlanBuilder builder_for(const CollectiveCall& call) {
  if (call.members >= (1U << 16)) {
    throw ConfigError(
        "", "an uneven all-to-all of " + std::to_string(call.members) + " members has more pairs than can be listed",
        "use groups of at most 65535 members");
  }
  return {call.members, call.members * call.members};
}

/// Returns what `from` sends to `to`, if anything.
std::optional<Send> send_between(const CollectiveCall& call, Member from, Member to) {
  const Bytes bytes = call.demand != nullptr ? call.demand->at(from, to) : share(call.size, call.members, to);
  if (from == to || (call.demand != nullptr && bytes == Bytes{})) return std::nullopt;
  return Send{.from = from, .to = to, .bytes = bytes, .first_chunk = from * call.members + to};
}

/// The sends of a step that carry something, in order of sender.
std::vector<Send> sends_of_step(const CollectiveCall& call, const PairwiseOrder& order, std::uint32_t step) {
  std::vector<Send> sends;
  for (Member from = 0; from < call.members; ++from) {
    if (const auto send = send_between(call, from, order.receiver(from, step))) sends.push_back(*send);
  }
  return sends;
}

}  // namespace

std::unique_ptr<const SendPlan> expand_uneven_direct(const CollectiveCall& call) {
  SendPlanBuilder builder = builder_for(call);
  for (Member from = 0; from < call.members; ++from) {
    for (Member shift = 1; shift < call.members; ++shift) {
      if (const auto send = send_between(call, from, (from + shift) % call.members)) builder.add(*send);
    }
  }
  return std::move(builder).build();
}

std::unique_ptr<const SendPlan> expand_uneven_pairwise(const CollectiveCall& call, const PairwiseOrder& order) {
  SendPlanBuilder builder = builder_for(call);
  // Indexed by member: its last send, and what it received since. What came before, the last send has waited for.
  std::vector<std::vector<SendIndex>> unfinished(call.members);
  std::uint32_t round = 0;
  for (std::uint32_t step = 0; step < order.steps(); ++step) {
    std::vector<Send> sends = sends_of_step(call, order, step);
    std::vector<SendIndex> added;
    for (Send& send : sends) {
      send.round = round;
      added.push_back(builder.add(send, std::exchange(unfinished[send.from], {})));
    }
    for (std::size_t i = 0; i < sends.size(); ++i) {
      unfinished[sends[i].from].push_back(added[i]);
      unfinished[sends[i].to].push_back(added[i]);
    }
    if (!sends.empty()) ++round;
  }
  return std::move(builder).build();
}

CollectiveCost cost_of_rounds(const std::vector<Bytes>& largest, const LinkCost& link) {
  CollectiveCost cost{.picoseconds = 0.0, .circuits = 0};
  for (const Bytes bytes : largest) {
    if (bytes == Bytes{}) continue;
    cost.picoseconds += link.send(bytes);
    ++cost.circuits;
  }
  return cost;
}

}  // namespace photonrail::collective
