// A GPU and a switch of one's own. A preset is a value with a name: start from one, or write all of it.
#include "photonrail/cluster/device.hpp"

#include <chrono>
#include <iostream>

namespace pr = photonrail;
using namespace std::chrono_literals;

int main() {
  pr::GpuSpec gpu = pr::gpu_preset("h200");
  gpu.name = "h200, half of the peak";
  gpu.compute_efficiency = 0.5;

  pr::OpticalSwitchSpec ocs;
  ocs.name = "prototype";
  ocs.ports = 24;
  ocs.reconfiguration = {pr::DelayDistribution::Kind::kNormal, 71us, 5us, 0.0};  // mean, deviation
  ocs.link_up = 9us;

  // 989e12 x 0.5 operations at 494.5e12 a second.
  const pr::Duration second = gpu.compute_time(494.5e12, pr::Bytes{0});
  std::cout << gpu.name << ": " << second.count() << " ps\n"
            << ocs.name << ": " << (ocs.reconfiguration.typical() + ocs.link_up).count() << " ps\n";
  return second == 1s ? 0 : 1;
}
