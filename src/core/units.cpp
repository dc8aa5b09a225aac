#include "photonrail/units.hpp"

#include "core/checked.hpp"
#include "photonrail/error.hpp"

#include <string>

namespace photonrail {

void fail_too_long(double picoseconds) {
  throw ConfigError(
      "", "a transfer, a computation or the whole run would take " + std::to_string(picoseconds / 86400e12) + " days",
      "times end at 46 days: look for a rate that is too low or a size that is too large");
}

}  // namespace photonrail

namespace photonrail::core {

void fail_too_many_bytes() {
  throw ConfigError("", "the run puts more than 2^63 - 1 bytes on the wire",
                    "look for a size or a repetition that is too large");
}

}  // namespace photonrail::core
