// Every part of one optical rail is built from this context: the engine, the network, the plant and the rail's own values.
#pragma once

#include "engine/engine.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "topology/plant.hpp"

namespace photonrail::fabric {

/// References must outlive the parts of the rail.
struct RailContext {
  engine::Engine& engine;
  network::Network& network;
  const topology::Plant& plant;
  const RailSpec& spec;
  RailId id;
};

}  // namespace photonrail::fabric
