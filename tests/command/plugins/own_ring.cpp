// A collective and a controller beside those of another plug-in.
#include "support/own_names.hpp"

#include <photonrail/plugin.hpp>

PHOTONRAIL_PLUGIN(known) {
  known.controllers.add(photonrail::test::own_names().controllers.find("lights_once"));
  known.collectives.add(std::make_unique<photonrail::test::OwnRing>());
}
