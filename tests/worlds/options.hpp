// Keys that need no more than the object that they are in, drawn from tables.
#pragma once

#include "worlds/world.hpp"

#include <cstdint>
#include <string>

namespace photonrail::worlds {

struct Option {
  const char* name;  ///< of its dice, too: no two alike
  const char* at;    ///< of the object; elements of arrays have no part in it; "": of the file, not of its jobs
  const char* key;
  const char* values;  ///< a JSON array, one of which is drawn
  std::uint32_t one_in = 8;
  const char* beside = "";  ///< "key" or "key=word" that the object must have
  bool replaces = false;    ///< also where the key is there
};

/// Draws the option for each object at the place `at` of `into`.
void draw_option(std::uint64_t seed, const Option& option, const std::string& at, Json& into);

}  // namespace photonrail::worlds
