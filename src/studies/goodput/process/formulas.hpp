// Closed forms for exponential failures, which the simulation of histories is tested against.
#pragma once

#include <cstdint>

namespace photonrail::goodput {

/// sqrt(2 C M): work between checkpoints of length `c_s` with a mean time between failures `m_s` (Young, CACM 1974).
/// All times here are seconds.
[[nodiscard]] double young_interval_s(double c_s, double m_s);
/// sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18M) - C for C < 2 M, else M (Daly, FGCS 2006, equation 37).
[[nodiscard]] double daly_interval_s(double c_s, double m_s);
/// The work between checkpoints that minimises expected_segment_s() / work: where e^((t + C) / M) (1 - t / M) = 1.
[[nodiscard]] double optimal_interval_s(double c_s, double m_s);
/// Expected wall time of `work_s` and a blocking checkpoint when each failure costs a restart that may fail too:
/// M e^(R/M) (e^((t + C) / M) - 1).
[[nodiscard]] double expected_segment_s(double m_s, double work_s, double c_s, double restart_s);
/// Probability that more than k of n parts are down, each with probability `p` independently of the others.
[[nodiscard]] double more_than_k_down(std::uint32_t n, std::uint32_t k, double p);

}  // namespace photonrail::goodput
