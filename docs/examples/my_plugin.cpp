// A policy of one's own as a plug-in: `photonrail --plugin ./libmine.so list controllers` shows it.
#include "oldest_first.hpp"

#include <photonrail/plugin.hpp>

PHOTONRAIL_PLUGIN(known) { known.controllers.add(oldest_first()); }
