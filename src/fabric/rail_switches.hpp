// The circuit switches of one rail: one for each plane of each pod. Passive: it says which switch a port is on, when a
// switch begins a command that reaches it, and how long its circuits then stay dark.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/ids.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::fabric {

class RailSwitches {
 public:
  /// `spec` must outlive the object.
  RailSwitches(const RailSpec& spec, std::uint32_t servers, std::uint32_t ports_per_gpu, RailId rail, std::uint64_t seed);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(switches_.size()); }
  [[nodiscard]] std::uint32_t pods() const { return count() / spec_.planes; }
  [[nodiscard]] std::uint32_t pod(std::uint32_t server) const {
    return spec_.pods.servers == 0 ? 0 : server / spec_.pods.servers;
  }
  [[nodiscard]] std::uint32_t plane(PortId port) const { return port.value % ports_per_gpu_ % spec_.planes; }
  /// The switch that both fibres of a port end on.
  [[nodiscard]] std::uint32_t of(PortId port) const {
    return pod(port.value / ports_per_gpu_) * spec_.planes + plane(port);
  }

  /// Returns true when commands may have to wait at a switch.
  [[nodiscard]] bool queue() const { return spec_.optical.batching > Duration{} || spec_.optical.command_gap > Duration{}; }
  /// A command reaches a switch: when it is carried out. Those that wait are carried out in order, with a batching window
  /// all together. `reached`: not after `now`, and before it for a turn of a timetable that nobody watched, whose beginning
  /// may lie in the past. REQUIRES: `now` never decreases.
  [[nodiscard]] Time arrive(std::uint32_t which, Time reached, Time now);
  /// Returns how long what is carried out at `now` takes: switching, settling, link bring-up. One draw for a batch.
  [[nodiscard]] Duration draw(std::uint32_t which, Time now);

  /// With Darkness::kSwitch: commands under way.
  void go_dark(std::uint32_t which) { ++switches_[which].dark; }
  void come_back(std::uint32_t which) { --switches_[which].dark; }
  [[nodiscard]] bool is_dark(std::uint32_t which) const { return switches_[which].dark > 0; }

 private:
  struct Switch {
    RandomStream random;
    Time begins{};  // of the last command or batch that was given a time
    Time drawn_at{};
    Duration drawn{};
    bool any = false;  // whether `begins` is of a command
    bool drew = false;
    std::uint32_t dark = 0;
  };

  const RailSpec& spec_;
  std::uint32_t ports_per_gpu_;
  std::vector<Switch> switches_;
};

}  // namespace photonrail::fabric
