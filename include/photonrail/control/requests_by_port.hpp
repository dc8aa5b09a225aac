// The complete requests of one rail by the ports that they need, and those whose chances changed since the rail's
// controller was last asked: kept up to date as requests and circuits come and go, so that a policy looks at these and not
// at all.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail {

/// Of rails on which a NIC has one port, so that a position is a port. A change costs O(requests that need its ports).
class RequestsByPort {
 public:
  using Queue = std::vector<const CircuitRequest*>;

  /// Adds a request; it has changed. It must stay where it is, with its pairs, until it is removed.
  /// `precedes(a, b)`: whether request a is before b in FabricView::requests; equal ones are in order of insertion.
  template <class Precedes>
  void insert(const CircuitRequest& request, Precedes&& precedes) {
    reach(request.pairs);
    const auto put = [&](Queue& queue) {
      if (std::find(queue.begin(), queue.end(), &request) != queue.end()) return;  // a pair before brought it
      queue.insert(std::upper_bound(queue.begin(), queue.end(), &request,
                                    [&](const auto* a, const auto* b) { return precedes(*a, *b); }),
                   &request);
    };
    for (const ServerPair pair : request.pairs) {
      put(ports_[pair.from].senders);
      put(ports_[pair.to].receivers);
    }
    change(request);
  }
  /// Removes a request, if it is there; those that need its ports have changed.
  void erase(const CircuitRequest& request);
  void clear();

  /// The request blocks its members from now on, or its ports have yet to be given to it. No effect if it is not there.
  void change(const CircuitRequest& request);
  /// A fibre of the port has another state: requests for it, and for the ports at the other ends of its circuits, have
  /// changed. `transmit`, `receive`: as in FabricView.
  void port_changed(PortId port, std::span<const PortView> transmit, std::span<const PortId> receive);
  /// The controller was asked: nothing has changed since.
  void settle();

  /// The requests that send from the position, and that receive at it, in the order of FabricView::requests.
  [[nodiscard]] std::span<const CircuitRequest* const> senders(ServerIndex from) const {
    return from < ports_.size() ? ports_[from].senders : std::span<const CircuitRequest* const>{};
  }
  [[nodiscard]] std::span<const CircuitRequest* const> receivers(ServerIndex to) const {
    return to < ports_.size() ? ports_[to].receivers : std::span<const CircuitRequest* const>{};
  }
  /// In no order. Of every other request: it is as it was, as are the fibres that it needs, and no request that precedes it
  /// on one of its ports has gone, or is preceded by it now.
  [[nodiscard]] std::span<const CircuitRequest* const> changed() const { return changed_; }

 private:
  struct Port {
    Queue senders;
    Queue receivers;
  };

  void reach(std::span<const ServerPair> pairs);
  void change_all(const Queue& queue);

  std::vector<Port> ports_;  // by position
  Queue changed_;
  std::vector<bool> is_changed_;  // by request
};

}  // namespace photonrail
