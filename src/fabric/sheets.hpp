// The sheets of circuits in a folded run (core/circuit.hpp): which of the GPUs that one port stands for a message is for.
#pragma once

#include "photonrail/ids.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::fabric {

/// By GPU whose port a message leaves and GPU that it is for, both of the cluster. Open addressing: it is asked for each
/// circuit of each round.
class Sheets {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// 0 for pairs that were not set.
  [[nodiscard]] std::uint32_t of(GpuId from, GpuId to) const {
    if (entries_.empty()) return 0;
    return entries_[place(key(from, to))].sheet;
  }
  void set(GpuId from, GpuId to, std::uint32_t sheet) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[place(key(from, to))];
    size_ += entry.key == kFree ? 1 : 0;
    entry = {key(from, to), sheet};
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t key = kFree;
    std::uint32_t sheet = 0;
  };

  [[nodiscard]] static std::uint64_t key(GpuId from, GpuId to) { return (std::uint64_t{from.value} << 32) | to.value; }
  // Where the key is, or where it would be.
  [[nodiscard]] std::size_t place(std::uint64_t wanted) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = (wanted * 0x9e3779b97f4a7c15ULL >> 32) & mask;
    while (entries_[at].key != wanted && entries_[at].key != kFree) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Entry> before(entries_.empty() ? 16 : 2 * entries_.size());
    before.swap(entries_);
    for (const Entry& entry : before) {
      if (entry.key != kFree) entries_[place(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace photonrail::fabric
