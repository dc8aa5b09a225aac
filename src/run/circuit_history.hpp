// The history has what is known of the circuits that a GPU has used: enough to say when the next one can be there at the
// earliest.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::run {

/// The fibres of one direction of a GPU: until when it needed circuits to which peers. Of all peers the ports + 1 latest.
class CircuitHistory {
 public:
  void used(ServerIndex peer, Time until, std::uint32_t ports) {
    const auto same = std::find_if(latest_.begin(), latest_.end(), [peer](const Use& use) { return use.peer == peer; });
    if (same != latest_.end()) {
      if (same->until >= until) return;
      latest_.erase(same);
    }
    const auto place = std::find_if(latest_.begin(), latest_.end(), [until](const Use& use) { return use.until < until; });
    latest_.insert(place, {peer, until});
    if (latest_.size() > std::size_t{ports} + 1) latest_.pop_back();
  }

  void merge(const CircuitHistory& other, std::uint32_t ports) {
    for (const Use& use : other.latest_) used(use.peer, use.until, ports);
  }

  /// When the first of `ports` fibres can have turned to `peer`: all of them were needed for other peers until then. None:
  /// one of them may have been free from the beginning.
  [[nodiscard]] std::optional<Time> turns(ServerIndex peer, std::uint32_t ports) const {
    std::uint32_t others = 0;
    for (const Use& use : latest_) {
      if (use.peer != peer && ++others == ports) return use.until;
    }
    return std::nullopt;
  }

 private:
  struct Use {
    ServerIndex peer = 0;
    Time until{};
  };
  std::vector<Use> latest_;  // peers once each, the latest first
};

/// Keeps the history of a GPU's NIC.
struct NicHistory {
  CircuitHistory transmit;
  CircuitHistory receive;

  void merge(const NicHistory& other, std::uint32_t ports) {
    transmit.merge(other.transmit, ports);
    receive.merge(other.receive, ports);
  }
};

}  // namespace photonrail::run
