// The way of a pair's messages. It is resolved once, when the round of an operation opens, and stored with its links: who
// holds circuits, posts messages or says what is missing reads it there.
#pragma once

#include "network/path.hpp"
#include "photonrail/ids.hpp"

#include <cstdint>
#include <optional>

namespace photonrail::fabric {

/// The part of a message's way that an optical rail must provide.
struct RailCrossing {
  RailId rail;
  std::uint32_t from = 0;  ///< server
  std::uint32_t to = 0;    ///< server, in a folded run with its sheet (core/circuit.hpp)
};

struct Way {
  std::optional<RailCrossing> crossing{};  ///< none within a server
  /// The capacities. Over circuits they are known when these are held; single uplinks stand in it as those of their leaf,
  /// since what a message takes is decided when it leaves (UplinkRoutes).
  network::Path path{};
};

}  // namespace photonrail::fabric
