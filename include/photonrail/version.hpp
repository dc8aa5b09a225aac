// Which photonrail this is.
#pragma once

#include <string_view>

namespace photonrail {

/// "major.minor.patch" of the library that runs.
[[nodiscard]] std::string_view version();

}  // namespace photonrail
