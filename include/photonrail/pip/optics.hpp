// Loss and crosstalk of a PipSwitch: what of the light that enters at each port leaves at each other one.
//
// Model: power, without interference, as of light whose paths differ by more than its coherence length. A cell passes
// 1 - x of the light to the waveguide that its state names and x to the other one, and takes its loss of both; light goes
// on until it leaves the mesh, whatever way leaks took it. Open ends without a fibre, and fibres, reflect nothing.
//
// Leaves out: crossings and bends (count them to the cells), wavelength, polarisation, and cells whose leaks differ.
#pragma once

#include "photonrail/pip/pip_switch.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::pip {

struct PipOptics {
  double cell_loss_db = 0.25;   ///< of one pass of a cell, 0.01 to 20
  double port_loss_db = 1.0;    ///< between a fibre and the mesh, each time, 0 to 20
  double crosstalk_db = -30.0;  ///< of a cell: x / (1 - x), -100 to -3

  void check() const;  ///< throws ConfigError for fields out of range
};

/// The transfer matrix of a mesh whose cells are set for a matching: the share of the power into the fibre of port a that
/// comes out of the fibre of port b.
class PipTransfer {
 public:
  /// REQUIRES: fault_of() finds nothing wrong with the matching. Throws as PipOptics::check().
  PipTransfer(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics);

  [[nodiscard]] std::uint32_t ports() const { return ports_; }
  /// In [0, 1]. REQUIRES: both below ports().
  [[nodiscard]] double power(std::uint32_t from, std::uint32_t to) const { return power_[from * ports_ + to]; }

 private:
  std::uint32_t ports_;
  std::vector<double> power_;
};

/// The worst of the two directions of all routes of a matching, when every port of it sends with the same power.
struct PipBudget {
  std::uint32_t cells = 0;    ///< of the longest route
  double loss_db = 0.0;       ///< from fibre to fibre
  double crosstalk_db = 0.0;  ///< power of all other senders at a receiver / that of its signal; -infinity: none
  /// More power that a receiver needs for the crosstalk: -10 log10(1 - 2 sum over the other senders of sqrt(power /
  /// signal)), of light at the wavelength of the signal and a receiver that thermal noise limits (Ramaswami and
  /// Sivarajan, Optical Networks); infinity: the eye is closed.
  double penalty_db = 0.0;

  /// Returns what OpticalSwitchSpec::insertion_loss_db has to bridge.
  [[nodiscard]] double needed_db() const { return loss_db + penalty_db; }
};
/// The matching may be empty. REQUIRES and throws: as PipTransfer.
[[nodiscard]] PipBudget budget_of(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics);

/// budget_of() needs at most `budget_db`. Follows the light only until that is certain, which is much sooner where cells
/// leak much and lose little. Throws and REQUIRES as budget_of().
[[nodiscard]] bool within_budget(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics,
                                 double budget_db);

}  // namespace photonrail::pip
