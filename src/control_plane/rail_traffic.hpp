// The traffic is what the pairs of a rail exchanged, by iteration, for policies that learn from it.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

class RailTraffic {
 public:
  /// Notes that a pair got hold of its circuits for `bytes`. The first of a later iteration ends the present one.
  void add(std::uint32_t iteration, ServerPair pair, Bytes bytes) {
    if (iteration > iteration_) {
      iteration_ = iteration;
      past_ = std::exchange(now_, {});
    }
    const auto place =
        std::lower_bound(now_.begin(), now_.end(), pair, [](const PairTraffic& t, ServerPair p) { return t.pair < p; });
    if (place == now_.end() || place->pair != pair) {
      now_.insert(place, {pair, bytes});
    } else {
      place->bytes.count += bytes.count;
    }
  }
  [[nodiscard]] std::span<const PairTraffic> past() const { return past_; }
  [[nodiscard]] std::span<const PairTraffic> now() const { return now_; }

 private:
  std::uint32_t iteration_ = 0;
  std::vector<PairTraffic> now_;
  std::vector<PairTraffic> past_;
};

}  // namespace photonrail::control_plane
