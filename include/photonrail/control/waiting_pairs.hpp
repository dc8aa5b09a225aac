// The pairs are what waits for circuits on one rail, pair by pair: kept up to date as sends come and go, so that a policy
// looks at the pairs that it can serve and not at all of them.
#pragma once

#include "photonrail/fabric_view.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail {

struct WaitingPair {
  ServerPair pair;
  Bytes bytes{};  ///< of all requests for it
  Time since{};   ///< when the oldest of them was complete
};

/// The pairs of the complete requests that block their members. A removal costs O(log n), n being the number of partners of
/// one position: what no longer waits is marked, and a row is compacted when half of it is. An addition at the end of a
/// row, or beside a marked entry, costs the same; elsewhere it moves the entries behind it.
class WaitingPairs {
 public:
  /// `bytes` more of the pair wait for a request. `since`: when that was complete.
  void add(RequestId request, ServerPair pair, Bytes bytes, Time since);
  /// `bytes` of the pair no longer wait; with `last` nothing of the request does. REQUIRES: they waited.
  void remove(RequestId request, ServerPair pair, Bytes bytes, bool last);

  /// Positions below this number may occur.
  [[nodiscard]] std::uint32_t positions() const { return static_cast<std::uint32_t>(sends_.size()); }
  /// Returns how many positions the position waits to send to, and to receive from.
  [[nodiscard]] std::uint32_t receivers(ServerIndex from) const { return from < positions() ? sends_[from].pairs : 0; }
  [[nodiscard]] std::uint32_t senders(ServerIndex to) const { return to < positions() ? receives_[to] : 0; }
  /// nullopt: the pair does not wait.
  [[nodiscard]] std::optional<WaitingPair> find(ServerPair pair) const;
  [[nodiscard]] bool waits(ServerPair pair) const;

  /// Calls visit(WaitingPair) for the pairs that the position sends in, ascending by the receiver.
  template <class Visit>
  void each_from(ServerIndex from, Visit&& visit) const {
    if (from >= positions()) return;
    const std::vector<Entry>& entries = sends_[from].entries;
    for (std::size_t i = 0; i < entries.size();) {
      if (entries[i].gone) {
        ++i;
      } else {
        visit(merge(from, i));
      }
    }
  }

 private:
  struct Entry {
    ServerIndex to = 0;
    RequestId request;
    Bytes bytes{};
    Time since{};
    bool gone = false;  // no longer waits; only its key is of use, to keep the order
  };
  struct Row {
    std::vector<Entry> entries;  // ascending by receiver, then by request
    std::uint32_t pairs = 0;     // different receivers that wait
    std::size_t gone = 0;        // entries
  };

  [[nodiscard]] static std::size_t place(const Row& row, ServerIndex to);
  [[nodiscard]] static std::size_t first_waiting(const Row& row, ServerIndex to);
  static void insert(Row& row, std::size_t at, const Entry& entry);
  [[nodiscard]] WaitingPair merge(ServerIndex from, std::size_t& next) const;
  void reach(ServerPair pair);

  std::vector<Row> sends_;               // by position
  std::vector<std::uint32_t> receives_;  // by position
};

}  // namespace photonrail
