// A check of a value that a caller filled in.
#pragma once

#include "photonrail/error.hpp"

namespace photonrail {

inline void require(bool sound, const char* where, const char* what, const char* hint = "") {
  if (!sound) throw ConfigError(where, what, hint);
}

}  // namespace photonrail
