// Which plans of a controller a rail can carry out at all: the switches must be able to join the ports, and the ports must
// be the job's.
#pragma once

#include "fabric/rail_switches.hpp"
#include "photonrail/core/circuit.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail::fabric {

class PlanRules {
 public:
  /// `switches` must outlive the object.
  PlanRules(const RailSwitches& switches, std::uint32_t ports_per_gpu)
      : switches_(switches), ports_per_gpu_(ports_per_gpu) {}

  /// A server stands for several, so that a circuit may join it to itself.
  void set_folded() { folded_ = true; }
  /// Takes, of one of several jobs and by server, whether its port is the job's; empty: all are.
  void set_servers(std::vector<bool> servers) { servers_ = std::move(servers); }
  [[nodiscard]] const std::vector<bool>& servers() const { return servers_; }

  /// Throws ControllerError: a circuit joins a server to itself, or two planes.
  void require_joinable(const CircuitPlan& plan) const;
  /// Throws ControllerError: a port belongs to another job, whose circuits this job's controller must not change. REQUIRES:
  /// the ports exist.
  void require_own(const CircuitPlan& plan) const;

 private:
  [[nodiscard]] std::uint32_t server(PortId port) const { return port.value / ports_per_gpu_; }
  void require_two_ends(const CircuitPlan& plan) const;
  void require_planes(const CircuitPlan& plan) const;

  const RailSwitches& switches_;
  std::uint32_t ports_per_gpu_;
  std::vector<bool> servers_;
  bool folded_ = false;
};

}  // namespace photonrail::fabric
