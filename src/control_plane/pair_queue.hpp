// Pairs of servers that wait for a circuit: since when, for how many sends of how many bytes.
#pragma once

#include "photonrail/fabric_view.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

/// Parallel arrays, because a controller is shown spans of them.
class PairQueue {
 public:
  [[nodiscard]] std::span<const ServerPair> pairs() const { return pairs_; }
  [[nodiscard]] std::span<const Bytes> bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }

  /// The pairs are in RequestList::waiting(); clear() leaves it as it is.
  [[nodiscard]] bool counted() const { return counted_; }
  void set_counted(bool counted) { counted_ = counted; }

  void clear() {
    pairs_.clear();
    bytes_.clear();
    since_.clear();
    sends_.clear();
  }
  /// Pairs that wait together as one round. `bytes`: by pair, or empty.
  void assign(std::vector<ServerPair> pairs, std::vector<Bytes> bytes) {
    clear();
    pairs_ = std::move(pairs);
    bytes_ = std::move(bytes);
  }
  [[nodiscard]] bool has(ServerPair pair) const { return std::binary_search(pairs_.begin(), pairs_.end(), pair); }
  /// One more send of the pair waits. REQUIRES: only this function added pairs.
  void add(ServerPair pair, Bytes bytes, Time now) {
    const std::ptrdiff_t i = place(pair);
    if (has(pair)) {
      bytes_[static_cast<std::size_t>(i)].count += bytes.count;
      ++sends_[static_cast<std::size_t>(i)];
      return;
    }
    pairs_.insert(pairs_.begin() + i, pair);
    bytes_.insert(bytes_.begin() + i, bytes);
    since_.insert(since_.begin() + i, now);
    sends_.insert(sends_.begin() + i, 1);
  }
  /// Removes sends of the pair that no longer wait. Returns whether it was the last of them. REQUIRES: they waited.
  bool remove(ServerPair pair, std::uint32_t sends, Bytes bytes) {
    const std::ptrdiff_t i = place(pair);
    bytes_[static_cast<std::size_t>(i)].count -= bytes.count;
    if ((sends_[static_cast<std::size_t>(i)] -= sends) > 0) return false;
    pairs_.erase(pairs_.begin() + i);
    bytes_.erase(bytes_.begin() + i);
    since_.erase(since_.begin() + i);
    sends_.erase(sends_.begin() + i);
    return true;
  }
  /// Returns how many sends of the pair wait.
  [[nodiscard]] std::uint32_t sends(ServerPair pair) const {
    return has(pair) ? sends_[static_cast<std::size_t>(place(pair))] : 0;
  }
  /// Returns true when pairs wait one by one, each with a time.
  [[nodiscard]] bool timed() const { return !since_.empty(); }
  /// The number of the pair that has waited longest. REQUIRES: !empty().
  [[nodiscard]] std::size_t oldest() const {
    return since_.empty() ? 0 : static_cast<std::size_t>(std::min_element(since_.begin(), since_.end()) - since_.begin());
  }
  /// REQUIRES: timed().
  [[nodiscard]] Time since(std::size_t i) const { return since_[i]; }

 private:
  [[nodiscard]] std::ptrdiff_t place(ServerPair pair) const {
    return std::lower_bound(pairs_.begin(), pairs_.end(), pair) - pairs_.begin();
  }

  std::vector<ServerPair> pairs_;  // ascending
  std::vector<Bytes> bytes_;
  std::vector<Time> since_;
  std::vector<std::uint32_t> sends_;
  bool counted_ = false;
};

}  // namespace photonrail::control_plane
