// Which faults there are now, of those that leave a port or a NIC a share of its rate.
#pragma once

#include "engine/engine.hpp"
#include "photonrail/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::fabric {

class ActiveFaults {
 public:
  /// `faults` must outlive the object.
  explicit ActiveFaults(const std::vector<PortFault>& faults) : faults_(faults) {}

  /// Schedules Begin(i) and End(i) of the owner for each fault that is the owner's. REQUIRES: time 0.
  template <auto Begin, auto End, class Owner, class IsOwn>
  void schedule(engine::Engine& engine, Owner& owner, IsOwn&& is_own) const {
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      const PortFault& fault = faults_[f];
      if (!is_own(fault)) continue;
      engine.schedule(fault.at, engine::Phase::kFinish, engine::Action::to<Begin>(owner, f));
      if (!fault.lasts) continue;
      engine.schedule(fault.at + *fault.lasts, engine::Phase::kFinish, engine::Action::to<End>(owner, f));
    }
  }

  void begin(std::uint64_t index) { now_.insert(std::upper_bound(now_.begin(), now_.end(), index), index); }
  /// REQUIRES: it has begun.
  void end(std::uint64_t index) { now_.erase(std::find(now_.begin(), now_.end(), index)); }

  /// The share that those for which `concerns(fault)` leave together, 0 to 1: anew each time, in the order of the list, so
  /// that a rate comes back exactly.
  template <class Concerns>
  [[nodiscard]] double share(Concerns&& concerns) const {
    double share = 1.0;
    for (const std::uint64_t index : now_) {
      const PortFault& fault = faults_[index];
      if (concerns(fault)) share *= fault.kind == PortFault::Kind::kFailed ? 0.0 : fault.rate;
    }
    return share;
  }

 private:
  const std::vector<PortFault>& faults_;
  std::vector<std::uint64_t> now_;  // ascending
};

}  // namespace photonrail::fabric
