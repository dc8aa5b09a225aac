// An optical switch that cannot make every matching, as a rail asks it: which ways light finds beside others, and what
// arrives. A component implements it (src/components): the fabric knows neither meshes nor their optics.
#pragma once

#include "photonrail/cluster/device.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::fabric {

/// Two fibres of a switch, by number.
struct FibrePair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// The waveguides that light takes from one fibre of the pair to the other, in that order. No two ways share one.
struct LightWay {
  FibrePair ends;
  std::vector<std::uint32_t> waveguides;
};

/// Holds what the shortest ways of single pairs say of a switch.
struct LightReach {
  FibrePair farthest;          ///< of the pairs that a way joins, the one whose shortest way has the most cells
  std::uint32_t cells = 0;     ///< that this way passes; 0: no pair is joined
  FibrePair apart;             ///< the first pair that no way joins
  std::uint64_t unjoined = 0;  ///< how many such pairs there are
};

/// Same questions, same answers. Nothing is switched here: what is lit is a parameter.
class BlockingSwitch {
 public:
  virtual ~BlockingSwitch() = default;

  /// The largest number of fibres that a switch of these rows and columns can have.
  [[nodiscard]] virtual std::uint32_t open_ends() const = 0;
  /// Ways for all pairs beside those that are taken; none: no way was found.
  [[nodiscard]] virtual std::optional<std::vector<LightWay>> route(std::span<const FibrePair> pairs,
                                                                   std::span<const LightWay> taken) const = 0;
  /// Every receiver has the power that it needs when these ways are lit: loss and penalty are at most `budget_db`.
  [[nodiscard]] virtual bool bright(std::span<const LightWay> ways, double budget_db) const = 0;
  /// Returns the loss of a way of `cells` cells alone, from fibre to fibre: that of its cells with what they leak, and of
  /// two ports.
  [[nodiscard]] virtual double loss_db(std::uint32_t cells) const = 0;
  /// `wanted(a, b)`, a < b: whether the pair is one that may have to be joined.
  [[nodiscard]] virtual LightReach reach(bool (*wanted)(std::uint32_t, std::uint32_t)) const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;  ///< "mesh of 9x9 hexagons"
};

/// A switch with that many fibres. Its body is in src/components. Throws ConfigError: too many fibres for it.
[[nodiscard]] std::unique_ptr<BlockingSwitch> make_blocking_switch(const PipMeshSpec& spec, std::uint32_t fibres);

}  // namespace photonrail::fabric
