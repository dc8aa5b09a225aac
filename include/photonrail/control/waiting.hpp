// The requests of one rail in an order of their own, kept up to date as requests, sends and circuits come and go, so that a
// policy looks at those that it can serve or that have changed and not at all of them: pair by pair, and port by port.
#pragma once

#include "photonrail/fabric_view.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail {

struct WaitingPair {
  ServerPair pair;
  Bytes bytes{};  ///< of all requests for it
  Time since{};   ///< when the oldest of them was complete
};

/// The pairs of the complete requests that block their members. A removal costs O(log n), n being the number of partners of
/// one position: what no longer waits is marked, and a row is compacted when half of it is. An addition at the end of a
/// row, or beside a marked entry, costs the same; elsewhere it moves the entries behind it.
class WaitingPairs {
 public:
  /// `bytes` more of the pair wait for a request. `since`: when that was complete.
  void add(RequestId request, ServerPair pair, Bytes bytes, Time since);
  /// `bytes` of the pair no longer wait; with `last` nothing of the request does. REQUIRES: they waited.
  void remove(RequestId request, ServerPair pair, Bytes bytes, bool last);

  /// Positions below this number may occur.
  [[nodiscard]] std::uint32_t positions() const { return static_cast<std::uint32_t>(sends_.size()); }
  /// Returns how many positions the position waits to send to, and to receive from.
  [[nodiscard]] std::uint32_t receivers(ServerIndex from) const { return from < positions() ? sends_[from].pairs : 0; }
  [[nodiscard]] std::uint32_t senders(ServerIndex to) const { return to < positions() ? receives_[to] : 0; }
  /// nullopt: the pair does not wait.
  [[nodiscard]] std::optional<WaitingPair> find(ServerPair pair) const;
  [[nodiscard]] bool waits(ServerPair pair) const;

  /// Calls visit(WaitingPair) for the pairs that the position sends in, ascending by the receiver.
  template <class Visit>
  void each_from(ServerIndex from, Visit&& visit) const {
    if (from >= positions()) return;
    const std::vector<Entry>& entries = sends_[from].entries;
    for (std::size_t i = 0; i < entries.size();) {
      if (entries[i].gone) {
        ++i;
      } else {
        visit(merge(from, i));
      }
    }
  }

 private:
  struct Entry {
    ServerIndex to = 0;
    RequestId request;
    Bytes bytes{};
    Time since{};
    bool gone = false;  // no longer waits; only its key is of use, to keep the order
  };
  struct Row {
    std::vector<Entry> entries;  // ascending by receiver, then by request
    std::uint32_t pairs = 0;     // different receivers that wait
    std::size_t gone = 0;        // entries
  };

  [[nodiscard]] static std::size_t place(const Row& row, ServerIndex to);
  [[nodiscard]] static std::size_t first_waiting(const Row& row, ServerIndex to);
  static void insert(Row& row, std::size_t at, const Entry& entry);
  [[nodiscard]] WaitingPair merge(ServerIndex from, std::size_t& next) const;
  void reach(ServerPair pair);

  std::vector<Row> sends_;               // by position
  std::vector<std::uint32_t> receives_;  // by position
};

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
