// FreePorts::serve_all() of every request, the blocking ones first, on NICs of one port, for those requests alone whose
// turn could end otherwise than when the controller was last asked.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <cstddef>
#include <vector>

namespace photonrail::control {

/// Every request claims its ports in its turn, whether or not it is served: that a port is claimed already says that a
/// request before it names the port, and no turn depends on what became of another. A request that had no new circuit
/// needs none while its fibres stay as they are and no request before it goes away.
class ChangedRequests {
 public:
  /// Adds the circuits of a plan that serves all requests in order. REQUIRES: view.by_port is there, and every view is of
  /// one rail and one job.
  void serve(const FabricView& view, std::vector<Circuit>& connect);

 private:
  struct Served {
    const CircuitRequest* request = nullptr;
    std::vector<Circuit> circuits;
  };

  [[nodiscard]] bool serve(const FabricView& view, const CircuitRequest& request);
  [[nodiscard]] bool keep(const FabricView& view, const CircuitRequest& request, ServerPair pair);
  [[nodiscard]] bool join(const FabricView& view, const CircuitRequest& request, ServerPair pair);
  [[nodiscard]] bool may_send(const FabricView& view, const CircuitRequest& request, ServerIndex from) const;
  [[nodiscard]] bool may_receive(const FabricView& view, const CircuitRequest& request, ServerIndex to) const;
  void sort_by_turn(const FabricView& view);
  void learn_own(const FabricView& view);

  std::vector<bool> foreign_;   // by position; empty: every port is the job's
  std::vector<bool> sends_;     // by position: the request in hand has a use for the port; all false between requests
  std::vector<bool> receives_;  // by position
  std::vector<bool> have_;      // by pair of the request in hand
  std::vector<Circuit> joined_;
  std::vector<Served> served_;
  bool learned_ = false;
};

}  // namespace photonrail::control
