#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"
#include "photonrail/fabric_view.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace photonrail {

std::uint32_t FabricView::circuits(ServerPair pair) const {
  std::uint32_t lit = 0;
  for (std::uint32_t p = 0; p < ports_per_gpu; ++p) {
    const PortView& view = transmit[port(pair.from, p).index()];
    if (view.lit && position(view.peer) == pair.to) ++lit;
  }
  return lit;
}

void fail_unasked(ViewPart part) {
  const char* what = "CircuitRequest::bytes";
  const char* word = "kBytes";
  if (part == ViewPart::kRounds) std::tie(what, word) = std::pair("CircuitRequest::next", "kRounds");
  if (part == ViewPart::kSchedule) std::tie(what, word) = std::pair("FabricView::schedule", "kSchedule");
  if (part == ViewPart::kTraffic) std::tie(what, word) = std::pair("the traffic of FabricView", "kTraffic");
  throw ControllerError("a policy reads " + std::string(what) + ", which it did not ask for: add ViewPart::" + word +
                        " to the PolicyNeeds::view of its ControllerFactory");
}

bool RankBehaviour::announces(RankId rank) const {
  bool announces = announce == Announcement::kAhead;
  for (const ShimSpec& shim : of_ranks) {
    if (shim.announce && std::find(shim.ranks.begin(), shim.ranks.end(), rank) != shim.ranks.end())
      announces = *shim.announce;
  }
  return announces;
}

bool RankBehaviour::announces_any() const {
  return announce == Announcement::kAhead ||
         std::any_of(of_ranks.begin(), of_ranks.end(), [](const ShimSpec& shim) { return shim.announce.value_or(false); });
}

}  // namespace photonrail
