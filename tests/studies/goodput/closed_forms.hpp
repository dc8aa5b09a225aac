// Closed forms for exponential failures, which the simulation of histories is tested against. All times are seconds.
#pragma once

#include <cmath>
#include <cstdint>

namespace photonrail::test {

/// Expected wall time of `work_s` and a blocking checkpoint when each failure costs a restart that may fail too:
/// M e^(R/M) (e^((t + C) / M) - 1).
inline double expected_segment_s(double m_s, double work_s, double c_s, double restart_s) {
  return m_s * std::exp(restart_s / m_s) * std::expm1((work_s + c_s) / m_s);
}

/// Probability that more than k of n parts are down, each with probability `p` independently of the others.
inline double more_than_k_down(std::uint32_t n, std::uint32_t k, double p) {
  if (k >= n || p <= 0.0) return 0.0;
  // Terms of the binomial distribution by their logarithms, from k + 1 on.
  double sum = 0.0;
  for (std::uint32_t i = k + 1; i <= n; ++i) {
    const double choose = std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0);
    sum += std::exp(choose + i * std::log(p) + (n - i) * std::log1p(-p));
  }
  return sum;
}

}  // namespace photonrail::test
