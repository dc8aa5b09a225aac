// A check of a value that a caller filled in.
#pragma once

#include "core/field.hpp"

namespace photonrail {

inline void require(bool sound, const core::Field& where, const char* what, const char* hint = "") {
  if (!sound) throw core::FieldError(where, what, hint);
}

}  // namespace photonrail
