// Which fibres of a rail a policy may still take while it makes a plan: those that carry nothing, are not on their way, and
// that nobody served before wants.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail {

/// Not to be taken: it carries bytes, is on its way, or cannot be re-pointed at either end.
[[nodiscard]] inline bool is_fixed(const FabricView& view, const PortView& fibre) {
  if (fibre.in_use || fibre.faulty) return true;
  return !fibre.peer.is_none() && (!fibre.lit || view.transmit[fibre.peer.index()].faulty);
}

class FreePorts {
 public:
  /// Begins a plan. `view` must outlive it. Of several fibres that could be taken it is a dark one, or the one whose
  /// circuit was used the longest time ago: `last_use` by transmit port, or empty when that makes no difference.
  void begin(const FabricView& view, std::span<const Time> last_use = {});

  /// Claims up to `wanted` circuits that the pair has or that are on their way to it; returns how many it got.
  std::uint32_t keep(ServerPair pair, std::uint32_t wanted);
  /// Joins the pair over a free fibre at each end. False: one of the two has none.
  bool join(ServerPair pair, std::vector<Circuit>& connect);
  /// Nobody else may take a fibre of these GPUs: they are needed as soon as they are free.
  void reserve(std::span<const ServerPair> pairs);
  /// Up to `wanted` circuits for each pair, and at least one for all of them; or none, and what they need is reserved: it
  /// is waited for, and nobody younger takes it.
  bool serve_all(std::span<const ServerPair> pairs, std::uint32_t wanted, std::vector<Circuit>& connect);

 private:
  bool try_all(std::span<const ServerPair> pairs, std::uint32_t wanted, std::vector<Circuit>& connect);
  [[nodiscard]] PortId free_transmit(ServerIndex position, std::uint32_t plane) const;
  [[nodiscard]] PortId free_receive(ServerIndex position, std::uint32_t plane) const;
  void claim(Circuit circuit);
  [[nodiscard]] bool busy(const PortView& fibre) const { return is_fixed(*view_, fibre); }

  [[nodiscard]] Time last_use(PortId from) const { return last_use_.empty() ? Time{} : last_use_[from.index()]; }

  const FabricView* view_ = nullptr;
  std::span<const Time> last_use_;
  std::vector<std::uint32_t> have_;
  std::vector<bool> claimed_transmit_;
  std::vector<bool> claimed_receive_;
};

}  // namespace photonrail
