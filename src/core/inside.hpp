// Errors of what is read name what they were read from.
#pragma once

#include "photonrail/error.hpp"

#include <string_view>
#include <utility>

namespace photonrail::core {

/// Returns what `read` returns. Its ConfigErrors become errors inside `where`: a file, or a JSON pointer.
template <class Read>
decltype(auto) inside(std::string_view where, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const ConfigError& error) {
    throw error.inside(where);
  }
}

}  // namespace photonrail::core
