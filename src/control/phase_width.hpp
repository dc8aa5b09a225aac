// The width of a phase is how many ports in parallel a pair of GPUs is given where a NIC has several.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::control {

/// A phase is what a parallelism dimension does; it has partners for a GPU to send to and to receive from. Where the ports
/// of a GPU are enough for all of them, each partner gets its share for good, and nothing is re-pointed within the phase.
/// Where they are not, or where the phase's largest message loses more on fewer ports than a reconfiguration takes, the
/// ports go to the partners of the operation in hand.
class PhaseWidth {
 public:
  /// Learns the partners from FabricView::schedule, once; without a schedule every operation is a phase of its own.
  void learn(const FabricView& view);

  /// Circuits in parallel for each pair of the demand; at least 1.
  [[nodiscard]] std::uint32_t of(const FabricView& view, const CircuitRequest& demand);

 private:
  [[nodiscard]] std::size_t sender(Dimension dimension, ServerIndex position) const;
  [[nodiscard]] std::size_t receiver(Dimension dimension, ServerIndex position) const;
  [[nodiscard]] bool share_pays(const FabricView& view, Dimension dimension, std::uint32_t alone,
                                std::uint32_t shared) const;

  bool learned_ = false;
  std::uint32_t positions_ = 0;
  std::vector<std::uint32_t> partners_;  // by dimension, direction and position; empty: not known
  std::vector<Bytes> largest_;           // by dimension: of what an operation sends over one pair
  std::vector<std::uint32_t> degree_;    // by direction and position; all 0 between calls
};

}  // namespace photonrail::control
