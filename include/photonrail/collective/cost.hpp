// The alpha-beta cost of a collective as a value: what a message costs on a rail and inside a server, and what an
// algorithm makes of it (Hockney 1994; Thakur, Rabenseifner and Gropp 2005 for the collectives).
#pragma once

#include "photonrail/units.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace photonrail {

/// Times are picoseconds as real numbers inside a formula; CollectiveCost has the one rounding.
struct LinkCost {
  Duration latency{};
  Duration overhead{};
  Bandwidth rate{1.0};

  /// Until a message of no bytes is there: alpha.
  [[nodiscard]] double alpha() const { return static_cast<double>((latency + overhead).count()); }
  /// Returns how long `bytes` keep the link busy: beta times bytes.
  [[nodiscard]] double beta(double bytes) const { return bytes * 1e12 / rate.bytes_per_second; }
  [[nodiscard]] double send(double bytes) const { return alpha() + beta(bytes); }
  [[nodiscard]] double send(Bytes bytes) const { return send(static_cast<double>(bytes.count)); }
};

/// Holds what a collective runs on.
struct CostModel {
  LinkCost rail{};      ///< a NIC, its ports together
  LinkCost scale_up{};  ///< a GPU's port inside its server
  std::uint32_t ports = 1;
  std::optional<Duration> reconfiguration;  ///< optical rails: of one set of circuits; nullopt: electrical rails

  [[nodiscard]] bool optical() const { return reconfiguration.has_value(); }
  /// The NIC of a member that has circuits to `partners` at once: the rates of all of them together. Each partner has as
  /// many ports as the next one, so that on optical rails ports may be left over. REQUIRES: partners > 0.
  [[nodiscard]] LinkCost rail_to(std::uint32_t partners) const {
    LinkCost link = rail;
    if (optical() && partners <= ports) {
      link.rate.bytes_per_second *= static_cast<double>(ports / partners * partners) / ports;
    }
    return link;
  }
};

struct CollectiveCost {
  double picoseconds = 0.0;    ///< without reconfigurations
  std::uint32_t circuits = 1;  ///< sets of circuits on the rails, one after another
  std::uint32_t partners = 1;  ///< the most members that a member sends to, or receives from, in one set

  /// With every set of circuits lit when its turn comes, and not before.
  [[nodiscard]] Duration total(const CostModel& on) const {
    const double switching = on.optical() ? static_cast<double>(on.reconfiguration->count()) * circuits : 0.0;
    return round_up_picoseconds(picoseconds + switching);
  }
};

}  // namespace photonrail
