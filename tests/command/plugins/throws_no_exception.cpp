#include <photonrail/plugin.hpp>

PHOTONRAIL_PLUGIN(known) { throw 7; }
