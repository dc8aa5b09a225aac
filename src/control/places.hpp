// The job's positions in the order of its ranks. Policies that break ties by it, and not by the numbers of positions, give
// the same result however the servers are numbered.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::control {

class Places {
 public:
  /// Reads FabricView::own. To be called with every view; it costs something only when those change.
  void learn(const FabricView& view);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// REQUIRES: place < count().
  [[nodiscard]] ServerIndex position(std::uint32_t place) const { return own_.empty() ? place : own_[place]; }
  /// Places of positions that are not the job's come after all others.
  [[nodiscard]] std::uint32_t place(ServerIndex position) const { return place_.empty() ? position : place_[position]; }
  [[nodiscard]] bool has(ServerIndex position) const { return place(position) < count_; }
  [[nodiscard]] bool has(ServerPair pair) const { return has(pair.from) && has(pair.to); }
  /// To compare pairs by.
  [[nodiscard]] ServerPair places(ServerPair pair) const { return {place(pair.from), place(pair.to)}; }
  [[nodiscard]] ServerPair positions(ServerPair places) const { return {position(places.from), position(places.to)}; }

 private:
  std::vector<ServerIndex> own_;      // empty: all, ascending
  std::vector<std::uint32_t> place_;  // by position
  std::uint32_t count_ = 0;
};

}  // namespace photonrail::control
