// Sums and products of bytes and of times that are refused where 64 bits do not hold them.
#pragma once

#include "photonrail/units.hpp"

#include <algorithm>
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

/// Rounds down to whole bytes, at most 1e18: sums of such weights fit into 64 bits.
[[nodiscard]] inline Bytes clamped_bytes(double bytes) { return {static_cast<std::int64_t>(std::min(bytes, 1e18))}; }

/// Throws ConfigError: more than kLongest. REQUIRES: neither `a` nor `b` is.
[[nodiscard]] inline Duration checked_sum(Duration a, Duration b) {
  const Duration sum = a + b;
  if (sum > kLongest) fail_too_long(static_cast<double>(sum.count()));
  return sum;
}

[[nodiscard]] inline Duration checked_product(Duration time, std::uint64_t times) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(time.count(), times, &product) || product > kLongest.count()) {
    fail_too_long(static_cast<double>(time.count()) * static_cast<double>(times));
  }
  return Duration{product};
}

}  // namespace photonrail::core
