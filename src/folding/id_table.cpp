#include "folding/id_table.hpp"

#include <algorithm>

namespace photonrail::folding {

// Multiply and fold (the finalizer of splitmix64 on each word); keys are compared in full, so that this decides speed only.
std::uint64_t IdTable::hash(std::span<const std::uint32_t> key) {
  std::uint64_t h = key.size();
  for (const std::uint32_t word : key) {
    h = (h ^ word) * 0xbf58476d1ce4e5b9ULL;
    h ^= h >> 29;
  }
  return h * 0x94d049bb133111ebULL >> 20;
}

std::uint32_t IdTable::number(std::span<const std::uint32_t> wanted) {
  if (2 * (size() + 1) > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash(wanted) & mask;; at = (at + 1) & mask) {
    if (slots_[at] == 0) {
      words_.insert(words_.end(), wanted.begin(), wanted.end());
      offsets_.push_back(words_.size());
      slots_[at] = static_cast<std::uint32_t>(size());
      return slots_[at] - 1;
    }
    const std::span<const std::uint32_t> found = key(slots_[at] - 1);
    if (std::equal(found.begin(), found.end(), wanted.begin(), wanted.end())) return slots_[at] - 1;
  }
}

void IdTable::grow() {
  slots_.assign(2 * slots_.size(), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t n = 0; n < size(); ++n) {
    std::size_t at = hash(key(n)) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = n + 1;
  }
}

}  // namespace photonrail::folding
