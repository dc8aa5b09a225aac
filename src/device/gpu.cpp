#include "photonrail/cluster/device.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <sstream>

namespace photonrail {

// bytes / bandwidth is flops / (bandwidth x flops / bytes), the slanted part of the roof, and is right for 0 flops too.
Duration GpuSpec::compute_time(double flops, Bytes memory_bytes) const {
  // 1e12 flop/s is one flop a picosecond; 1e9 byte/s is a thousandth of a byte a picosecond.
  const double arithmetic = flops / (compute_efficiency * peak_tflops);
  const double memory = static_cast<double>(memory_bytes.count) * 1000.0 / memory_gb_per_s;
  const double picoseconds = std::max(arithmetic, memory);
  constexpr double kEndOfTime = 0x1.0p63;
  if (!(flops >= 0.0) || memory_bytes.count < 0 || !(picoseconds < kEndOfTime)) {
    std::ostringstream what;
    what << "cannot compute the duration of " << flops << " operations on " << memory_bytes.count << " bytes";
    throw ConfigError("gpu", what.str(), "neither may be negative, and simulated time ends after 106 days");
  }
  return round_up_picoseconds(picoseconds);
}

}  // namespace photonrail
