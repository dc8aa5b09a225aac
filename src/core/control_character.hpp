// Characters that mean something to a terminal or a shell in place of being shown.
#pragma once

namespace photonrail::core {

[[nodiscard]] constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace photonrail::core
