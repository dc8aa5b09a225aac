// Pairs of servers that wait for a circuit: together as one round, or one by one, since when and for how many sends of how
// many bytes.
#pragma once

#include "photonrail/fabric_view.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

/// Pairs that wait one by one are in a row for each sender, because there may be a hundred thousand that come and go: a
/// change costs as much as the row is long. Controllers are shown spans, which list() makes of the rows.
class PairQueue {
 public:
  /// A pair that waits one by one.
  struct Waiting {
    ServerPair pair;
    Time since{};
  };

  /// Of the last list() or assign(); valid until the next.
  [[nodiscard]] std::span<const ServerPair> pairs() const { return pairs_; }
  [[nodiscard]] std::span<const Bytes> bytes() const { return bytes_; }
  /// Brings pairs() and bytes() up to date.
  void list();
  [[nodiscard]] bool listed() const { return listed_; }

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return one_by_one() ? waiting_ : pairs_.size(); }
  /// Calls visit(ServerPair, Bytes) for each pair, ascending.
  template <class Visit>
  void each(Visit&& visit) const {
    if (!one_by_one()) {
      for (std::size_t i = 0; i < pairs_.size(); ++i) visit(pairs_[i], i < bytes_.size() ? bytes_[i] : Bytes{});
      return;
    }
    for (ServerIndex from = 0; from < rows_.size(); ++from) {
      for (const Entry& entry : rows_[from]) visit(ServerPair{from, entry.to}, entry.bytes);
    }
  }

  /// The pairs are in RequestList::waiting(); clear() leaves it as it is.
  [[nodiscard]] bool counted() const { return counted_; }
  void set_counted(bool counted) { counted_ = counted; }

  void clear();
  /// Pairs that wait together as one round. `bytes`: by pair, or empty.
  void assign(std::vector<ServerPair> pairs, std::vector<Bytes> bytes);
  [[nodiscard]] bool has(ServerPair pair) const;
  /// One more send of the pair waits. REQUIRES: only this function added pairs.
  void add(ServerPair pair, Bytes bytes, Time now);
  /// Removes sends of the pair that no longer wait. Returns whether it was the last of them. REQUIRES: they waited.
  bool remove(ServerPair pair, std::uint32_t sends, Bytes bytes);
  /// Returns how many sends of the pair wait.
  [[nodiscard]] std::uint32_t sends(ServerPair pair) const;
  /// Returns true when pairs wait one by one, each with a time, or did since clear().
  [[nodiscard]] bool one_by_one() const { return !rows_.empty(); }
  /// The pair that has waited longest; of a round the first, without a time. REQUIRES: !empty().
  [[nodiscard]] Waiting oldest() const;

 private:
  struct Entry {
    ServerIndex to = 0;
    std::uint32_t sends = 0;
    Bytes bytes{};
    Time since{};
  };
  using Row = std::vector<Entry>;  // ascending by receiver

  [[nodiscard]] static Row::iterator place(Row& row, ServerIndex to);
  [[nodiscard]] const Entry* find(ServerPair pair) const;

  std::vector<ServerPair> pairs_;  // ascending
  std::vector<Bytes> bytes_;
  std::vector<Row> rows_;    // by sender
  std::size_t waiting_ = 0;  // entries
  bool listed_ = true;       // pairs_ and bytes_ have what the rows have
  bool counted_ = false;
};

}  // namespace photonrail::control_plane
