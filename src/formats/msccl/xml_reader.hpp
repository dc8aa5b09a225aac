// MSCCL XML as the program that it stands for, before anything about it is proven.
#pragma once

#include "formats/msccl/program.hpp"

#include <string_view>

namespace photonrail::formats::msccl {

/// Throws ConfigError whose `where` is a line.
[[nodiscard]] Program parse_program(std::string_view xml);

}  // namespace photonrail::formats::msccl
