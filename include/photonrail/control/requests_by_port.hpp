// The complete requests of one rail by the ports that they need, and those whose chances changed since the rail's
// controller was last asked: kept up to date as requests and circuits come and go, so that a policy looks at these and not
// at all.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail {

/// Indexes the requests of rails on which a NIC has one port, so that a position is a port. A change costs O(requests that
/// need its ports).
class RequestsByPort {
 public:
  using Queue = std::vector<const CircuitRequest*>;
  using Order = std::function<bool(const CircuitRequest&, const CircuitRequest&)>;

  /// `precedes(a, b)`: whether request a has its turn before b, a total order.
  explicit RequestsByPort(Order precedes) : precedes_(std::move(precedes)) {}

  /// Adds a request; it has changed. It must stay where it is, with its pairs and its place in the order, until it is
  /// removed.
  void insert(const CircuitRequest& request);
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

  /// Returns true when request a has its turn before b.
  [[nodiscard]] bool precedes(const CircuitRequest& a, const CircuitRequest& b) const { return precedes_(a, b); }
  /// The requests that send from the position, and that receive at it, on any sheet, in their order.
  [[nodiscard]] std::span<const CircuitRequest* const> senders(ServerIndex from) const {
    return from < ports_.size() ? ports_[from].senders : std::span<const CircuitRequest* const>{};
  }
  [[nodiscard]] std::span<const CircuitRequest* const> receivers(ServerIndex to) const {
    return fibre_of(to) < ports_.size() ? ports_[fibre_of(to)].receivers : std::span<const CircuitRequest* const>{};
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

  Order precedes_;
  std::vector<Port> ports_;  // by position
  Queue changed_;
  std::vector<bool> is_changed_;  // by request
};

}  // namespace photonrail
