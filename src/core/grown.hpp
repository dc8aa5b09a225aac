// Lists by identifiers that come up while the program runs.
#pragma once

#include <cstddef>

namespace photonrail::core {

/// The element `at` of the list, which grows until it has one.
template <class List>
[[nodiscard]] auto& grown(List& list, std::size_t at) {
  if (list.size() <= at) list.resize(at + 1);
  return list[at];
}

}  // namespace photonrail::core
