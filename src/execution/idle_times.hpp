// How long ranks were without a launch: of the time in which they would wait for peers.
#pragma once

#include "photonrail/accounting.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::execution {

class IdleTimes {
 public:
  /// Ranks are idle from the beginning.
  explicit IdleTimes(std::size_t ranks) : ranks_(ranks) {}

  /// A launch is on the rank, or no more. `peer_wait`: what the rank has waited for peers so far, idle or not.
  void work_began(RankId rank, Duration peer_wait) {
    Rank& of = ranks_[rank.index()];
    if (of.launches++ == 0) of.idle += peer_wait - of.before;
  }
  void work_ended(RankId rank, Duration peer_wait) {
    Rank& of = ranks_[rank.index()];
    if (--of.launches == 0) of.before = peer_wait;
  }
  /// Takes it out of what the ranks waited for peers in the whole run.
  void divide(std::span<RankTime> times) const {
    for (std::size_t r = 0; r < times.size(); ++r) {
      const Rank& of = ranks_[r];
      times[r].idle = of.idle + (of.launches == 0 ? times[r].peer_wait - of.before : Duration{});
      times[r].peer_wait -= times[r].idle;
    }
  }

 private:
  struct Rank {
    std::uint32_t launches = 0;
    Duration before{};  // waited for peers when the last launch ended
    Duration idle{};
  };
  std::vector<Rank> ranks_;
};

}  // namespace photonrail::execution
