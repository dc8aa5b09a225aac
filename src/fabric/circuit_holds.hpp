// Which operations hold which circuits. A hold is on all circuits of the hops of a way. Where its circuits may be
// darkened, it goes on over those that are left, or misses the hop until the servers are joined again.
#pragma once

#include "fabric/circuit_links.hpp"
#include "fabric/circuit_listener.hpp"
#include "fabric/rail_circuits.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::fabric {

class CircuitHolds {
 public:
  using Id = std::uint32_t;

  /// All must outlive the object.
  CircuitHolds(RailCircuits& circuits, CircuitLinks& links, const CircuitNotifier& notifier)
      : circuits_(circuits), links_(links), notifier_(notifier) {}

  /// Holds the usable circuits of every hop until release(). REQUIRES: `way` is not empty, and each hop has a link.
  [[nodiscard]] Id hold(std::span<const Hop> way, std::uint64_t owner);
  void release(Id hold);
  /// release() of a hold that nothing was sent over: it does not count among uses().
  void withdraw(Id hold);

  /// The holds of circuits that are about to go dark give up their ports.
  void detach(std::span<const Circuit> darkened);
  /// The circuits that were given to detach() are dark. A hold that has others on the hop goes on with them; one that has
  /// none misses the hop, and the listener is notified.
  void miss(std::span<const Circuit> darkened);
  /// The servers are joined again: what waited goes on by itself, and the holds take the new circuits.
  void reattach(Hop hop);

  /// Adds the owners of the holds on the hop.
  void add_owners(Hop hop, std::vector<std::uint64_t>& owners) const;

  /// Returns how many holds there were so far.
  [[nodiscard]] std::uint64_t uses() const { return uses_; }
  /// There are holds, of circuits lit or taken away.
  [[nodiscard]] bool held() const { return free_.size() < holds_.size(); }
  /// Returns the bytes left of the messages on the links of all holds, once for each hold.
  [[nodiscard]] Bytes bytes_left() const;

 private:
  struct Hold {
    std::uint64_t owner = 0;
    std::vector<Hop> hops;
    std::vector<PortId> ports;  // transmit sides
    std::vector<Hop> missed;    // hops of which the listener was told that they have no circuit
  };

  [[nodiscard]] Id take_id();
  void give_back(Id id, bool used);
  void use_ports(Hop hop, Hold& hold);
  [[nodiscard]] bool has_port(const Hold& hold, Hop hop) const;
  template <class Visit>
  void each_holder(Hop hop, Visit&& visit);

  RailCircuits& circuits_;
  CircuitLinks& links_;
  const CircuitNotifier& notifier_;
  std::vector<Hold> holds_;
  std::vector<Id> free_;
  std::uint64_t uses_ = 0;
};

}  // namespace photonrail::fabric
