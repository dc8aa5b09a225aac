#include "photonrail/control/waiting_pairs.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

// Returns the place of the first entry of the receiver.
std::size_t WaitingPairs::place(const Row& row, ServerIndex to) {
  const auto found = std::lower_bound(row.entries.begin(), row.entries.end(), to,
                                      [](const Entry& entry, ServerIndex t) { return entry.to < t; });
  return static_cast<std::size_t>(found - row.entries.begin());
}

void WaitingPairs::reach(ServerPair pair) {
  const std::size_t positions = std::max(pair.from, pair.to) + std::size_t{1};
  if (sends_.size() >= positions) return;
  sends_.resize(positions);
  receives_.resize(positions, 0);
}

void WaitingPairs::add(RequestId request, ServerPair pair, Bytes bytes, Time since) {
  reach(pair);
  Row& row = sends_[pair.from];
  std::size_t i = place(row, pair.to);
  if (i == row.entries.size() || row.entries[i].to != pair.to) {
    ++row.pairs;
    ++receives_[pair.to];
  }
  while (i < row.entries.size() && row.entries[i].to == pair.to && row.entries[i].request < request) ++i;
  if (i < row.entries.size() && row.entries[i].to == pair.to && row.entries[i].request == request) {
    row.entries[i].bytes.count += bytes.count;
    row.entries[i].since = std::min(row.entries[i].since, since);
    return;
  }
  row.entries.insert(row.entries.begin() + static_cast<std::ptrdiff_t>(i), {pair.to, request, bytes, since});
}

void WaitingPairs::remove(RequestId request, ServerPair pair, Bytes bytes, bool last) {
  PHOTONRAIL_CHECK(pair.from < positions());
  Row& row = sends_[pair.from];
  std::size_t i = place(row, pair.to);
  while (i < row.entries.size() && row.entries[i].to == pair.to && row.entries[i].request != request) ++i;
  PHOTONRAIL_CHECK(i < row.entries.size() && row.entries[i].to == pair.to);
  row.entries[i].bytes.count -= bytes.count;
  if (!last) return;
  row.entries.erase(row.entries.begin() + static_cast<std::ptrdiff_t>(i));
  if (waits(pair)) return;
  --row.pairs;
  --receives_[pair.to];
}

bool WaitingPairs::waits(ServerPair pair) const {
  if (pair.from >= positions()) return false;
  const Row& row = sends_[pair.from];
  const std::size_t i = place(row, pair.to);
  return i < row.entries.size() && row.entries[i].to == pair.to;
}

std::optional<WaitingPair> WaitingPairs::find(ServerPair pair) const {
  if (pair.from >= positions()) return std::nullopt;
  const Row& row = sends_[pair.from];
  std::size_t i = place(row, pair.to);
  if (i == row.entries.size() || row.entries[i].to != pair.to) return std::nullopt;
  return merge(pair.from, i);
}

// The pair of the entry; `next` becomes the first entry behind it.
WaitingPair WaitingPairs::merge(ServerIndex from, std::size_t& next) const {
  const std::vector<Entry>& entries = sends_[from].entries;
  const ServerIndex to = entries[next].to;
  WaitingPair pair{{from, to}, entries[next].bytes, entries[next].since};
  for (++next; next < entries.size() && entries[next].to == to; ++next) {
    pair.bytes.count += entries[next].bytes.count;
    pair.since = std::min(pair.since, entries[next].since);
  }
  return pair;
}

}  // namespace photonrail
