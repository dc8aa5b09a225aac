#include "photonrail/control/waiting.hpp"

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

// Of the first entry of the receiver that waits; the number of entries: none does.
std::size_t WaitingPairs::first_waiting(const Row& row, ServerIndex to) {
  const std::vector<Entry>& entries = row.entries;
  std::size_t i = place(row, to);
  while (i < entries.size() && entries[i].to == to && entries[i].gone) ++i;
  return i < entries.size() && entries[i].to == to ? i : entries.size();
}

// `at` is where the order has it. A marked entry on either side gives its place, and no entry is moved.
void WaitingPairs::insert(Row& row, std::size_t at, const Entry& entry) {
  std::vector<Entry>& entries = row.entries;
  const bool before = at > 0 && entries[at - 1].gone;
  if (before || (at < entries.size() && entries[at].gone)) {
    entries[before ? at - 1 : at] = entry;
    --row.gone;
    return;
  }
  entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(at), entry);
}

void WaitingPairs::add(RequestId request, ServerPair pair, Bytes bytes, Time since) {
  reach(pair);
  Row& row = sends_[pair.from];
  if (first_waiting(row, pair.to) == row.entries.size()) {
    ++row.pairs;
    ++receives_[pair.to];
  }
  std::size_t i = place(row, pair.to);
  while (i < row.entries.size() && row.entries[i].to == pair.to && row.entries[i].request < request) ++i;
  Entry* const known = i < row.entries.size() ? &row.entries[i] : nullptr;
  if (known != nullptr && known->to == pair.to && known->request == request && !known->gone) {
    known->bytes.count += bytes.count;
    known->since = std::min(known->since, since);
    return;
  }
  insert(row, i, {pair.to, request, bytes, since});
}

void WaitingPairs::remove(RequestId request, ServerPair pair, Bytes bytes, bool last) {
  PHOTONRAIL_CHECK(pair.from < positions());
  Row& row = sends_[pair.from];
  std::size_t i = place(row, pair.to);
  while (i < row.entries.size() && row.entries[i].to == pair.to && row.entries[i].request != request) ++i;
  PHOTONRAIL_CHECK(i < row.entries.size() && row.entries[i].to == pair.to && !row.entries[i].gone);
  row.entries[i].bytes.count -= bytes.count;
  if (!last) return;
  row.entries[i].gone = true;
  ++row.gone;
  if (first_waiting(row, pair.to) == row.entries.size()) {
    --row.pairs;
    --receives_[pair.to];
  }
  if (2 * row.gone <= row.entries.size()) return;
  std::erase_if(row.entries, [](const Entry& entry) { return entry.gone; });
  row.gone = 0;
}

bool WaitingPairs::waits(ServerPair pair) const {
  if (pair.from >= positions()) return false;
  const Row& row = sends_[pair.from];
  return first_waiting(row, pair.to) < row.entries.size();
}

std::optional<WaitingPair> WaitingPairs::find(ServerPair pair) const {
  if (pair.from >= positions()) return std::nullopt;
  const Row& row = sends_[pair.from];
  std::size_t i = first_waiting(row, pair.to);
  if (i == row.entries.size()) return std::nullopt;
  return merge(pair.from, i);
}

// The pair of the entry, which waits; `next` becomes the first entry of another receiver.
WaitingPair WaitingPairs::merge(ServerIndex from, std::size_t& next) const {
  const std::vector<Entry>& entries = sends_[from].entries;
  const ServerIndex to = entries[next].to;
  WaitingPair pair{{from, to}, entries[next].bytes, entries[next].since};
  for (++next; next < entries.size() && entries[next].to == to; ++next) {
    if (entries[next].gone) continue;
    pair.bytes.count += entries[next].bytes.count;
    pair.since = std::min(pair.since, entries[next].since);
  }
  return pair;
}

}  // namespace photonrail
