// The work between checkpoints by closed forms for exponential failures.
#pragma once

namespace photonrail::goodput {

/// sqrt(2 C M): work between checkpoints of length `c_s` with a mean time between failures `m_s` (Young, CACM 1974).
/// All times here are seconds.
[[nodiscard]] double young_interval_s(double c_s, double m_s);
/// sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18M) - C for C < 2 M, else M (Daly, FGCS 2006, equation 37).
[[nodiscard]] double daly_interval_s(double c_s, double m_s);
/// The work between checkpoints that minimises the expected wall time of it and its checkpoint, M e^(R/M) (e^((t + C) / M)
/// - 1) with restarts of R, over the work t: where e^((t + C) / M) (1 - t / M) = 1.
[[nodiscard]] double optimal_interval_s(double c_s, double m_s);

}  // namespace photonrail::goodput
