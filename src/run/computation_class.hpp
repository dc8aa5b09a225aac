// The class of a computation, by its name, where nothing else says what it is made of.
#pragma once

#include <string>
#include <string_view>

namespace photonrail::run {

inline constexpr std::string_view kOptimizer = "optimizer";

/// "attention" of "bwd.3.layer12.attention.output"; "products", "attention", "memory" or "optimizer" of kernels by words of
/// their names; else the common beginning of like names, up to the first digit.
[[nodiscard]] std::string computation_class(std::string_view name);

}  // namespace photonrail::run
