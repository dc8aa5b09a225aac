// Two parameters of a point that set the same place of the scenario: one of their columns would say what did not run.
#pragma once

#include "photonrail/config.hpp"

#include <span>
#include <string>

namespace photonrail::sweep {

/// Whether applying `later` loses something of what `earlier` set: `later` names the same place, a place around it, or one
/// that is in its value. A key that `earlier` leaves out may be added.
[[nodiscard]] bool overwrites(const Override& later, const Override& earlier);

/// The first of `set` that `later` overwrites; null: none.
[[nodiscard]] const Override* overwritten(std::span<const Override> set, const Override& later);

/// "/a sets ..., which ... sets too", for the error at the later one.
[[nodiscard]] std::string clash_text(const Override& later, const Override& earlier);

}  // namespace photonrail::sweep
