#include "collective/uneven.hpp"

#include "photonrail/error.hpp"

#include <utility>

namespace photonrail {

namespace {

SendPlanBuilder builder_for(const CollectiveCall& call) {
  PHOTONRAIL_CHECK(call.demand != nullptr && call.members < (1U << 16));
  return {call.members, call.members * call.members};
}

/// The sends of the shift by `shift` members that carry something, in order of sender.
std::vector<Send> sends_of_shift(const CollectiveCall& call, Member shift) {
  std::vector<Send> sends;
  for (Member from = 0; from < call.members; ++from) {
    const Member to = (from + shift) % call.members;
    const Bytes bytes = call.demand->at(from, to);
    if (bytes == Bytes{}) continue;
    sends.push_back({.from = from, .to = to, .bytes = bytes, .first_chunk = from * call.members + to});
  }
  return sends;
}

}  // namespace

std::unique_ptr<const SendPlan> expand_uneven_direct(const CollectiveCall& call) {
  SendPlanBuilder builder = builder_for(call);
  for (Member shift = 1; shift < call.members; ++shift) {
    for (const Send& send : sends_of_shift(call, shift)) builder.add(send);
  }
  return std::move(builder).build();
}

std::unique_ptr<const SendPlan> expand_uneven_pairwise(const CollectiveCall& call) {
  SendPlanBuilder builder = builder_for(call);
  // By member: its last send, and what it received since. What came before, the last send has waited for.
  std::vector<std::vector<SendIndex>> unfinished(call.members);
  std::uint32_t round = 0;
  for (Member shift = 1; shift < call.members; ++shift) {
    std::vector<Send> sends = sends_of_shift(call, shift);
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

}  // namespace photonrail
