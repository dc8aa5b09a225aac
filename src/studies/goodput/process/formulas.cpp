#include "studies/goodput/process/formulas.hpp"

#include <cmath>

namespace photonrail::goodput {

double young_interval_s(double c_s, double m_s) { return std::sqrt(2.0 * c_s * m_s); }

double daly_interval_s(double c_s, double m_s) {
  if (c_s >= 2.0 * m_s) return m_s;
  const double ratio = c_s / (2.0 * m_s);
  return std::sqrt(2.0 * c_s * m_s) * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - c_s;
}

double optimal_interval_s(double c_s, double m_s) {
  // The left side falls from e^(C/M) >= 1 at t = 0 to 0 at t = M.
  double low = 0.0;
  double high = m_s;
  for (int i = 0; i < 200; ++i) {
    const double t = (low + high) / 2.0;
    (std::exp((t + c_s) / m_s) * (1.0 - t / m_s) > 1.0 ? low : high) = t;
  }
  return (low + high) / 2.0;
}

}  // namespace photonrail::goodput
