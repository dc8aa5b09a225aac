#include "control_plane/round_circuits.hpp"

#include "core/grown.hpp"

#include <algorithm>

namespace photonrail::control_plane {

using execution::Operation;

RoundLinks RoundCircuits::make(const Operation& op, std::uint32_t round) const {
  RoundLinks links;
  for (const MemberPair& pair : op.plan().pairs(round)) {
    links.crossings.push_back({pair, fabric_.crossing(op.gpus[pair.first], op.gpus[pair.second])});
  }
  links.rails = rail_circuits(fabric_, op.gpus, *op.runnable, round);
  for (Member m = 0; m < op.members(); ++m) links.participants += op.takes_part(m, round) ? 1 : 0;
  return links;
}

// Plans of traffic matrices come and go, and one of one round is asked for no more often than it is used.
const RoundLinks* RoundCircuits::of(const Operation& op, std::uint32_t round) {
  const std::uint32_t rounds = op.plan().rounds();
  if (op.demand != 0 || rounds < 2 || crossings_ > kMaxCrossings) return nullptr;
  std::vector<Known>& plans = core::grown(known_, op.key.communicator.index());
  auto known = std::find_if(plans.begin(), plans.end(), [&](const Known& k) { return k.plan == op.runnable; });
  if (known == plans.end()) known = plans.insert(plans.end(), Known{op.runnable, std::vector<RoundLinks>(rounds)});
  RoundLinks& links = known->rounds[round];
  if (links.crossings.empty()) {
    links = make(op, round);
    crossings_ += links.crossings.size() + 1;
  }
  return &links;
}

}  // namespace photonrail::control_plane
