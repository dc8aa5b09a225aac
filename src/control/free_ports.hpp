// The fibres of a rail that a policy may still use while it makes a plan: those that carry no bytes, are not switching, and
// are not reserved by a request that came first.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::control {

/// Not to be taken: it carries bytes, is on its way, or cannot be re-pointed at either end.
[[nodiscard]] inline bool is_fixed(const FabricView& view, const PortView& fibre) {
  if (fibre.in_use || fibre.faulty) return true;
  return !fibre.peer.is_none() && (!fibre.lit || view.transmit[fibre_of(fibre.peer).index()].faulty);
}

/// Circuits that every pair can have when the GPU with the most partners shares its ports out evenly; 1 at the least.
[[nodiscard]] std::uint32_t even_share(const FabricView& view, std::span<const ServerPair> pairs);

/// Returns true when `bytes` go over `circuits` circuits in place of one so much faster that it is worth a reconfiguration,
/// which those whose circuits are taken will have to pay.
[[nodiscard]] bool pays(const FabricView& view, Bytes bytes, std::uint32_t circuits);

class FreePorts {
 public:
  /// Begins a plan, over ports that are the job's. `view` must outlive it. Of several fibres that could be taken it is a
  /// dark one; or one of a pair that has others; or the one whose circuit was used the longest time ago: `last_use` by
  /// transmit port, or empty when that makes no difference.
  void begin(const FabricView& view, std::span<const Time> last_use = {});

  /// Claims up to `wanted` circuits that the pair has or that are on their way to it; returns how many it got.
  std::uint32_t keep(ServerPair pair, std::uint32_t wanted);
  /// Joins the pair over a free fibre at each end. False: one of the two has none.
  bool join(ServerPair pair, std::vector<Circuit>& connect);
  /// Reserves the fibres of these GPUs: they are needed as soon as they are free, and join() gives them to no other pair.
  void reserve(std::span<const ServerPair> pairs);
  /// Joins each pair by up to `wanted` circuits if every pair can have at least one. Otherwise joins none and reserves the
  /// fibres that they need, so that later requests cannot use them.
  bool serve_all(std::span<const ServerPair> pairs, std::uint32_t wanted, std::vector<Circuit>& connect);

  /// More circuits for pairs that have some or get some by this plan, in turn and up to `wanted` each: over dark fibres,
  /// and with `take` over those of idle circuits that no pair was promised.
  void widen(std::span<const ServerPair> pairs, std::uint32_t wanted, bool take, std::vector<Circuit>& connect);

  /// More circuits for those of the pairs that have one, the first of them first: as many as dark fibres allow, and an even
  /// share of all ports for those whose bytes are worth it. `share`: even_share() of all pairs that wait.
  void widen(std::span<const PairTraffic> waiting, std::uint32_t share, std::vector<Circuit>& connect);

 private:
  /// Holds what the plan has come to.
  struct State {
    std::vector<bool> transmit;  // by port: the plan has a use for it
    std::vector<bool> receive;
    std::vector<PortId> planned;       // by transmit port: where the plan points it, or none
    std::vector<std::uint8_t> broken;  // by transmit port: ends of its circuit that the plan takes
  };
  /// Counts circuits of a position by the position that they lead to.
  struct Leads {
    struct To {
      ServerIndex position;
      std::uint32_t circuits;
    };
    bool known = false;
    std::vector<To> to;
  };

  /// serve_all() of one pair by one circuit, with one port a GPU.
  bool serve_one(ServerPair pair, std::vector<Circuit>& connect);
  bool try_all(std::span<const ServerPair> pairs, std::uint32_t wanted, std::vector<Circuit>& connect);
  bool by_port(std::span<const ServerPair> pairs, std::vector<Circuit>& connect);
  bool join(ServerPair pair, int most_loss, std::vector<Circuit>& connect);
  /// Returns what is lost when the circuit that begins here is taken: 0 nothing, 1 one of several of its pair, 2 the only
  /// one.
  [[nodiscard]] int loss(PortId from) const;
  /// When the plan is carried out. With many ports they are counted once for all pairs of a position.
  [[nodiscard]] std::uint32_t circuits(ServerPair pair) const;
  void count_circuits(ServerIndex from) const;
  /// The circuits of the position that sends from the port have to be counted again.
  void forget_circuits(PortId from) {
    if (!leads_.empty()) leads_[view_->position(from)].known = false;
  }
  void restore(State saved);
  [[nodiscard]] bool leads(PortId from, ServerIndex to) const;
  [[nodiscard]] bool can_send(PortId port) const;
  [[nodiscard]] bool can_receive(PortId port) const;
  [[nodiscard]] PortId free_transmit(ServerIndex position, std::uint32_t plane) const;
  [[nodiscard]] PortId free_receive(ServerIndex position, std::uint32_t plane) const;
  [[nodiscard]] bool better(PortId from, PortId than) const;
  void claim(Circuit circuit);
  void plan(Circuit circuit, std::vector<Circuit>& connect);
  void unplan(std::size_t before, std::vector<Circuit>& connect);
  [[nodiscard]] bool busy(const PortView& fibre) const { return is_fixed(*view_, fibre); }
  [[nodiscard]] Time last_use(PortId from) const { return last_use_.empty() ? Time{} : last_use_[from.index()]; }

  const FabricView* view_ = nullptr;
  std::span<const Time> last_use_;
  std::vector<std::uint32_t> have_;
  State state_;
  mutable std::vector<Leads> leads_;  // by position; empty where a position has few ports
};

}  // namespace photonrail::control
