#include "collective/send_list.hpp"

#include "core/mix64.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace photonrail::collective {

Send SendList::operator[](std::size_t i) const {
  const Entry& entry = sends_[i];
  const Kind& kind = kinds_[entry.kind];
  return {.from = entry.from,
          .to = entry.to,
          .bytes = kind.bytes,
          .first_chunk = entry.first_chunk,
          .chunks = kind.chunks,
          .round = kind.round,
          .reduce = kind.reduce,
          .ordered = kind.ordered};
}

void SendList::push_back(const Send& send) {
  const Kind kind{send.bytes, send.chunks, send.round, send.reduce, send.ordered};
  const std::uint64_t hash = core::mix64(static_cast<std::uint64_t>(send.bytes.count) ^ (std::uint64_t{send.round} << 32));
  std::uint32_t& known = known_[(hash + send.chunks + (send.reduce ? 1 : 0)) % known_.size()];
  if (known >= kinds_.size() || !(kinds_[known] == kind)) {
    known = static_cast<std::uint32_t>(kinds_.size());
    kinds_.push_back(kind);
  }
  sends_.push_back({send.from, send.to, send.first_chunk, known});
}

void SendList::reorder(std::span<const SendIndex> place) {
  if (std::ranges::is_sorted(place)) return;
  std::vector<Entry> placed(sends_.size());
  for (std::size_t i = 0; i < sends_.size(); ++i) placed[place[i]] = sends_[i];
  sends_ = std::move(placed);
}

void SendLists::push_back(std::span<const SendIndex> list) {
  PHOTONRAIL_CHECK(flat_.size() + list.size() <= std::numeric_limits<std::uint32_t>::max());
  flat_.insert(flat_.end(), list.begin(), list.end());
  first_.push_back(static_cast<std::uint32_t>(flat_.size()));
}

SendLists SendLists::inverse(std::span<const SendIndex> place) const {
  SendLists turned;
  turned.flat_.resize(flat_.size());
  turned.first_.assign(size() + 1, 0);
  for (const SendIndex j : flat_) ++turned.first_[place[j]];
  std::partial_sum(turned.first_.begin(), turned.first_.end(), turned.first_.begin());
  // From the last send on, each list fills from its end, which then is its begin.
  for (std::size_t i = size(); i-- > 0;) {
    for (const SendIndex j : (*this)[i]) turned.flat_[--turned.first_[place[j]]] = place[i];
  }
  return turned;
}

}  // namespace photonrail::collective
