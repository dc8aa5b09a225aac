// An outlook says what a rail's circuits would be doing if demands were served one after the other in some order.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <vector>

namespace photonrail::control {

/// Returns true when some circuit joins the pair, or will when it is switched.
[[nodiscard]] bool joined(const FabricView& view, ServerPair pair);

/// Returns how long circuits of the pairs carry what the demand sends; by CircuitRequest::bytes.
[[nodiscard]] Duration service_time(const FabricView& view, const CircuitRequest& demand);

class ServiceEstimate {
 public:
  /// `view` must outlive the object. Circuits in use are free when their bytes are through.
  explicit ServiceEstimate(const FabricView& view);

  /// Serves the demand after all that were served before, when its ports are free and its members are ready; a circuit that
  /// is missing takes one reconfiguration. Returns when it ends.
  Time serve(const CircuitRequest& demand, Time ready);

 private:
  [[nodiscard]] PortId circuit(ServerPair pair) const;
  [[nodiscard]] PortId earliest(const std::vector<Time>& free, ServerIndex position) const;
  void join(PortId from, PortId to);

  const FabricView& view_;
  std::vector<Time> transmit_free_;  // by port
  std::vector<Time> receive_free_;
  std::vector<PortId> peer_;    // by transmit side
  std::vector<PortId> source_;  // by receive side
};

}  // namespace photonrail::control
