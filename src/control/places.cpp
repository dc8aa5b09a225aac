#include "control/places.hpp"

#include <algorithm>

namespace photonrail::control {

void Places::learn(const FabricView& view) {
  if (view.own.empty()) {
    own_.clear();
    place_.clear();
    count_ = view.positions;
    return;
  }
  if (place_.size() == view.positions && std::equal(own_.begin(), own_.end(), view.own.begin(), view.own.end())) return;
  own_.assign(view.own.begin(), view.own.end());
  count_ = static_cast<std::uint32_t>(own_.size());
  place_.resize(view.positions);
  for (ServerIndex p = 0; p < view.positions; ++p) place_[p] = count_ + p;
  for (std::uint32_t place = 0; place < count_; ++place) place_[own_[place]] = place;
}

}  // namespace photonrail::control
