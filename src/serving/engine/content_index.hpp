// Finds the block that has a content: a hash table without nodes, since every token of a block is looked up in it and a
// node costs a miss of the cache each time. Entries lie in the first free place after their own (linear probing); keys are
// well mixed where the engine makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail::serving {

class ContentIndex {
 public:
  static constexpr std::uint32_t kNone = 0;  ///< no block has this number

  /// The block of the key, or kNone.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    if (entries_.empty()) return kNone;
    for (std::size_t at = home(key);; at = next(at)) {
      if (entries_[at].block == kNone || entries_[at].key == key) return entries_[at].block;
    }
  }

  /// The key is `block`'s from now on. REQUIRES: it is not kNone.
  void set(std::uint64_t key, std::uint32_t block) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    std::size_t at = home(key);
    while (entries_[at].block != kNone && entries_[at].key != key) at = next(at);
    count_ += entries_[at].block == kNone ? 1 : 0;
    entries_[at] = {key, block};
  }

  /// No block has the key any more.
  void erase(std::uint64_t key) {
    if (find(key) == kNone) return;
    std::size_t hole = home(key);
    while (entries_[hole].key != key) hole = next(hole);
    // Those behind it that would not be found beyond a hole move up (Knuth, volume 3, algorithm 6.4R).
    for (std::size_t at = next(hole); entries_[at].block != kNone; at = next(at)) {
      const std::size_t from = home(entries_[at].key);
      const bool reaches = hole <= at ? from <= hole || from > at : from <= hole && from > at;
      if (reaches) entries_[std::exchange(hole, at)] = entries_[at];
    }
    entries_[hole] = {};
    --count_;
  }

  void clear() {
    entries_.clear();
    count_ = 0;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t block = kNone;
  };
  static constexpr std::size_t kFewest = 64;

  // Keys of a trace are as it has them: their upper bits decide after a multiplication by 2^64 over the golden ratio.
  [[nodiscard]] std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15U) >> shift_; }
  [[nodiscard]] std::size_t next(std::size_t at) const { return at + 1 == entries_.size() ? 0 : at + 1; }
  void grow() {
    const std::vector<Entry> before =
        std::exchange(entries_, std::vector<Entry>(entries_.empty() ? kFewest : 2 * entries_.size()));
    shift_ = 64;
    for (std::size_t size = entries_.size(); size > 1; size /= 2) --shift_;
    count_ = 0;
    for (const Entry& entry : before) {
      if (entry.block != kNone) set(entry.key, entry.block);
    }
  }

  std::vector<Entry> entries_;  // a power of two of them, at most half of which are taken
  std::size_t count_ = 0;
  unsigned shift_ = 0;
};

}  // namespace photonrail::serving
