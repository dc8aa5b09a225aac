// Numbers of things in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace photonrail::core {

/// "1 rank", "2 ranks", "1 switch", "2 switches": what is printed for people has the plural where it is one. `ending`: of
/// the plural.
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view thing, std::string_view ending = "s") {
  std::string text = std::to_string(count) + " ";
  text += thing;
  if (count != 1) text += ending;
  return text;
}

}  // namespace photonrail::core
