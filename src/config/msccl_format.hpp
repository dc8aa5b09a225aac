// MSCCL XML as the program that it stands for, before anything about it is proven.
#pragma once

#include "collective/msccl_program.hpp"

#include <string_view>

namespace photonrail::config {

/// Throws ConfigError whose `where` is a line.
[[nodiscard]] msccl::Program parse_msccl_program(std::string_view xml);

}  // namespace photonrail::config
