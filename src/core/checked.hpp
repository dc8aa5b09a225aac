// Sums and products of bytes that are refused where 64 bits do not hold them.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>

namespace photonrail::core {

/// Throws ConfigError: more than 2^63 - 1 bytes.
[[noreturn]] void fail_too_many_bytes();

[[nodiscard]] inline Bytes checked_sum(Bytes a, Bytes b) {
  Bytes sum{};
  if (__builtin_add_overflow(a.count, b.count, &sum.count)) fail_too_many_bytes();
  return sum;
}

[[nodiscard]] inline Bytes checked_product(Bytes bytes, std::uint64_t times) {
  Bytes product{};
  if (__builtin_mul_overflow(bytes.count, times, &product.count)) fail_too_many_bytes();
  return product;
}

}  // namespace photonrail::core
