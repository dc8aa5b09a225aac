#include "control_plane/pair_queue.hpp"

#include <algorithm>

namespace photonrail::control_plane {

void PairQueue::list() {
  listed_ = true;
  if (!one_by_one()) return;
  pairs_.clear();
  bytes_.clear();
  each([this](ServerPair pair, Bytes bytes) {
    pairs_.push_back(pair);
    bytes_.push_back(bytes);
  });
}

void PairQueue::clear() {
  pairs_.clear();
  bytes_.clear();
  rows_.clear();
  waiting_ = 0;
  listed_ = true;
}

void PairQueue::assign(std::vector<ServerPair> pairs, std::vector<Bytes> bytes) {
  clear();
  pairs_ = std::move(pairs);
  bytes_ = std::move(bytes);
}

PairQueue::Row::iterator PairQueue::place(Row& row, ServerIndex to) {
  return std::lower_bound(row.begin(), row.end(), to, [](const Entry& entry, ServerIndex t) { return entry.to < t; });
}

const PairQueue::Entry* PairQueue::find(ServerPair pair) const {
  if (pair.from >= rows_.size()) return nullptr;
  const Row& row = rows_[pair.from];
  const auto found =
      std::lower_bound(row.begin(), row.end(), pair.to, [](const Entry& entry, ServerIndex t) { return entry.to < t; });
  return found != row.end() && found->to == pair.to ? &*found : nullptr;
}

bool PairQueue::has(ServerPair pair) const {
  if (one_by_one()) return find(pair) != nullptr;
  return std::binary_search(pairs_.begin(), pairs_.end(), pair);
}

void PairQueue::add(ServerPair pair, Bytes bytes, Time now) {
  listed_ = false;
  if (pair.from >= rows_.size()) rows_.resize(pair.from + std::size_t{1});
  Row& row = rows_[pair.from];
  const auto at = place(row, pair.to);
  if (at != row.end() && at->to == pair.to) {
    at->bytes.count += bytes.count;
    ++at->sends;
    return;
  }
  row.insert(at, {pair.to, 1, bytes, now});
  ++waiting_;
}

bool PairQueue::remove(ServerPair pair, std::uint32_t sends, Bytes bytes) {
  listed_ = false;
  Row& row = rows_[pair.from];
  const auto at = place(row, pair.to);
  at->bytes.count -= bytes.count;
  if ((at->sends -= sends) > 0) return false;
  row.erase(at);
  --waiting_;
  return true;
}

std::uint32_t PairQueue::sends(ServerPair pair) const {
  const Entry* const entry = find(pair);
  return entry == nullptr ? 0 : entry->sends;
}

// The first in the order of pairs, of equal ones.
PairQueue::Waiting PairQueue::oldest() const {
  if (!one_by_one()) return {pairs_.front()};
  Waiting oldest{{}, Time::never()};
  for (ServerIndex from = 0; from < rows_.size(); ++from) {
    for (const Entry& entry : rows_[from]) {
      if (entry.since < oldest.since) oldest = {{from, entry.to}, entry.since};
    }
  }
  return oldest;
}

}  // namespace photonrail::control_plane
