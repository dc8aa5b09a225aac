#include "fabric/rail_switches.hpp"

#include <algorithm>
#include <string>

namespace photonrail::fabric {

RailSwitches::RailSwitches(const RailSpec& spec, std::uint32_t servers, std::uint32_t ports_per_gpu, RailId rail,
                           std::uint64_t seed)
    : spec_(spec), ports_per_gpu_(ports_per_gpu) {
  const std::uint32_t pods = spec.pods.servers == 0 ? 1 : (servers + spec.pods.servers - 1) / spec.pods.servers;
  const std::string name = "reconfiguration of rail " + std::to_string(rail.value);
  for (std::uint32_t s = 0; s < pods * spec.planes; ++s) {
    switches_.push_back({RandomStream(seed, s == 0 ? name : name + ", switch " + std::to_string(s))});
  }
}

Time RailSwitches::arrive(std::uint32_t which, Time reached, Time now) {
  const OpticalSwitchSpec& optical = spec_.optical;
  Switch& s = switches_[which];
  const bool waits = s.any && s.begins >= now;
  if (optical.batching > Duration{} && waits) return s.begins;  // one of a batch that has yet to begin
  Time begins = reached + optical.batching;
  if (s.any) begins = std::max(begins, s.begins + optical.command_gap);
  s.begins = begins;
  s.any = true;
  return begins;
}

Duration RailSwitches::draw(std::uint32_t which, Time now) {
  const OpticalSwitchSpec& optical = spec_.optical;
  Switch& s = switches_[which];
  if (optical.batching > Duration{} && s.drew && s.drawn_at == now) return s.drawn;
  s.drawn = optical.delays(optical.reconfiguration.draw(s.random)).total();
  s.drawn_at = now;
  s.drew = true;
  return s.drawn;
}

}  // namespace photonrail::fabric
