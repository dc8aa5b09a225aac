#include "photonrail/version.hpp"

namespace photonrail {

std::string_view version() { return PHOTONRAIL_VERSION; }

}  // namespace photonrail
