// A folded Clos network takes this many switches.
#pragma once

#include <cstdint>
#include <vector>

namespace photonrail::cost {

/// The switches of one tier, or of the two outer stages that face each other.
struct Stage {
  std::uint64_t switches = 0;
  std::uint64_t ports_used = 0;  ///< of all of them
};

struct Wiring {
  std::vector<Stage> stages;  ///< the first is next to the NICs
  std::uint64_t links = 0;    ///< fibre pairs between switches
};

/// Electrical ports that want to reach each other.
struct Endpoints {
  std::uint64_t networks = 1;  ///< of this kind, with no link between them
  std::uint64_t groups = 1;    ///< of a network: no leaf has two, unless they fit whole
  std::uint64_t ports = 1;     ///< of a group
};

/// The first tier of a folded Clos network, as in PlantSpec.
struct LeafRule {
  double oversubscription = 1.0;  ///< down / up; >= 1
  bool fewer_spines = false;      ///< half of the ports go down all the same
};

/// A folded Clos network of switches of `radix` ports.
/// Networks that fit on a part of one switch share switches. Throws ConfigError when a
/// switch has too few ports to be joined to others.
[[nodiscard]] Wiring folded_clos(const Endpoints& endpoints, std::uint64_t radix, const LeafRule& leaf);

/// `networks` crossbars of `circuits` inputs and as many outputs from OCSs of `ports` ports, each of which switches ports /
/// 2 circuits. One that is too large has two outer stages of ceil(circuits / (ports / 2)) switches and a middle crossbar of
/// as many circuits for each input of an outer switch, which may be too large again. Throws as folded_clos().
[[nodiscard]] Wiring optical_clos(std::uint64_t networks, std::uint64_t circuits, std::uint64_t ports);

}  // namespace photonrail::cost
