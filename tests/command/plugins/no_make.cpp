#include <photonrail/plugin.hpp>

PHOTONRAIL_PLUGIN(known) { known.controllers.add({"mine", "cannot be made", {}}); }
