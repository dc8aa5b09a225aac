// A controller under a name that is taken.
#include <photonrail/plugin.hpp>

PHOTONRAIL_PLUGIN(known) { known.controllers.add(known.controllers.find("opus")); }
