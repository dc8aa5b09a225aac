#include "photonrail/fabric_view.hpp"

namespace photonrail {

std::uint32_t FabricView::circuits(Pair pair) const {
  std::uint32_t lit = 0;
  for (std::uint32_t p = 0; p < ports_per_gpu; ++p) {
    const PortView& view = transmit[port(pair.from, p).index()];
    if (view.lit && position(view.peer) == pair.to) ++lit;
  }
  return lit;
}

}  // namespace photonrail
