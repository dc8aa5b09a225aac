// The bytes that wait on a rail, pair by pair, for policies that look at bytes and not at operations. An operation that
// asked and still waits for something else, such as its lane, would keep ports from those that it waits for: it is left
// out.
#pragma once

#include "control/places.hpp"
#include "photonrail/control/waiting.hpp"
#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::control {

/// The pairs between positions of the job. REQUIRES: the view shows bytes (ViewPart::kBytes).
class Waiting {
 public:
  /// To be called with every view. `view` and `places` must outlive what is asked afterwards. It costs something only for
  /// views without FabricView::waiting, whose requests are read.
  void learn(const FabricView& view, const Places& places);

  /// All of them, ascending by their places.
  [[nodiscard]] std::vector<WaitingPair> all() const;
  /// Those that a plan could have a use for, ascending by their places: they have a circuit, be it on its way, or each of
  /// the two has a fibre that may be re-pointed.
  [[nodiscard]] std::vector<WaitingPair> servable() const;
  [[nodiscard]] std::optional<WaitingPair> find(ServerPair pair) const;
  [[nodiscard]] bool waits(ServerPair pair) const { return places_->has(pair) && pairs_->waits(pair); }
  /// even_share() of all of them.
  [[nodiscard]] std::uint32_t even_share() const;

 private:
  void sort(std::vector<WaitingPair>& pairs) const;
  void add_servable(ServerIndex from, std::span<const std::uint8_t> receives, std::span<const ServerIndex> receivers,
                    std::vector<WaitingPair>& pairs) const;

  const FabricView* view_ = nullptr;
  const Places* places_ = nullptr;
  const WaitingPairs* pairs_ = nullptr;  // FabricView::waiting, or read_
  WaitingPairs read_;
};

}  // namespace photonrail::control
