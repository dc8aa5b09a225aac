// A circuit of an optical circuit switch, a plan of circuits, and what became of circuits on switches that block.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace photonrail {

/// Light from the transmit fibre of one NIC port to the receive fibre of another, on one rail.
struct Circuit {
  PortId from;
  PortId to;

  friend constexpr auto operator<=>(const Circuit&, const Circuit&) = default;
};

/// In a folded run a port stands for those of many GPUs, and two circuits between two ports may lead to different ones of
/// them: the sheet, in the upper bits of the receive side, tells these circuits apart. A fibre is in one circuit at a time,
/// whatever its sheet. In any other run, and in most folded ones, every sheet is 0, and a receive side is its fibre.
inline constexpr unsigned kSheetShift = 24;
inline constexpr std::uint32_t kMaxRailPorts = 1U << kSheetShift;            ///< of an optical rail
inline constexpr std::uint32_t kMaxSheets = (1U << (32 - kSheetShift)) - 1;  ///< the last one would be none()
[[nodiscard]] constexpr std::uint32_t on_sheet(std::uint32_t fibre, std::uint32_t sheet) {
  return fibre | (sheet << kSheetShift);
}
[[nodiscard]] constexpr std::uint32_t fibre_of(std::uint32_t receive_side) { return receive_side & (kMaxRailPorts - 1); }
[[nodiscard]] constexpr PortId fibre_of(PortId receive_side) { return PortId{fibre_of(receive_side.value)}; }

/// On the way to be usable, usable, or neither.
enum class CircuitState : std::uint8_t { kSwitching, kLit, kDark };

/// Holds what a controller wants changed on one rail. A circuit in `connect` takes its two fibres: whatever they carried
/// before goes dark. Fibres that are not named keep their circuits and keep carrying traffic.
struct CircuitPlan {
  std::vector<Circuit> connect;
  std::vector<PortId> disconnect;  ///< transmit sides to leave dark

  friend bool operator==(const CircuitPlan&, const CircuitPlan&) = default;
};

/// The delays between the decision for a circuit and its first byte, in their order.
struct ReconfigurationDelays {
  Duration command{};
  Duration switching{};
  Duration settle{};
  Duration link_up{};
  Duration acknowledgement{};

  /// The one place where they are added up.
  [[nodiscard]] constexpr Duration total() const { return command + switching + settle + link_up + acknowledgement; }
};

/// Holds what switches that block (a PipSwitch) did to circuits.
struct BlockingSummary {
  std::uint64_t waited = 0;     ///< circuits that a controller wanted and that could not be routed at once
  std::uint64_t displaced = 0;  ///< circuits out of use that went dark, or were routed anew, to make room for others
  std::uint32_t cells = 0;      ///< of the longest way that light took
  double loss_db = 0.0;         ///< of that way, from fibre to fibre, without crosstalk

  BlockingSummary& operator+=(const BlockingSummary& other) {
    waited += other.waited;
    displaced += other.displaced;
    cells = std::max(cells, other.cells);
    loss_db = std::max(loss_db, other.loss_db);
    return *this;
  }
};

}  // namespace photonrail
