// Policies that read what waits, pair by pair, from FabricView::waiting.
#pragma once

#include "photonrail/controller.hpp"

namespace photonrail::control {

/// Such a policy does not look at the pairs and the bytes of blocking requests, which are then not listed: a hundred
/// thousand pairs would be listed anew at every change.
class WaitingReader : public Controller {};

}  // namespace photonrail::control
