// Damage to an input, by a seeded stream, so that a failure can be repeated.
#pragma once

#include "photonrail/core/random.hpp"

#include <string>

namespace photonrail::fuzz {

/// One change: a byte, a cut, a piece of `other` put elsewhere, or another number, word or key in place of one that is
/// there.
void mutate(std::string& data, const std::string& other, RandomStream& random);

}  // namespace photonrail::fuzz
