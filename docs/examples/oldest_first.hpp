// A reconfiguration policy of one's own: my_policy.cpp tests it, my_command.cpp puts it into the command.
#pragma once

#include <photonrail/controller.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace pr = photonrail;

/// Serves one demand at a time: the oldest of those that hold up their members.
class OldestFirst : public pr::Controller {
  pr::Decision decide(const pr::FabricView& view) override {
    const auto oldest =
        std::find_if(view.requests.begin(), view.requests.end(), [](auto& demand) { return demand.blocking; });
    if (oldest == view.requests.end()) return std::nullopt;  // keep everything as it is
    pr::CircuitPlan plan;
    std::map<pr::ServerIndex, std::uint32_t> out, in;  // how many ports of a GPU the demand has taken
    for (const pr::ServerPair pair : oldest->pairs) {
      const pr::PortId from = view.port(pair.from, out[pair.from]++);
      const pr::PortId to = view.port(pair.to, in[pair.to]++);
      if (view.transmit[from.index()].peer == to) continue;  // lit, or on its way
      const pr::PortId holder = view.receive[to.index()];
      const bool busy = view.transmit[from.index()].in_use || (!holder.is_none() && view.transmit[holder.index()].in_use);
      if (busy) return std::nullopt;  // asked again when the bytes are through
      plan.connect.push_back({from, to});
    }
    return plan;
  }
};

inline pr::ControllerFactory oldest_first() {
  return {"oldest_first", "one demand after another", [](auto&&...) { return std::make_unique<OldestFirst>(); }};
}
