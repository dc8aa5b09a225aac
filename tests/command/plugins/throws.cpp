#include <photonrail/plugin.hpp>

#include <stdexcept>

PHOTONRAIL_PLUGIN(known) { throw std::runtime_error("no licence today"); }
