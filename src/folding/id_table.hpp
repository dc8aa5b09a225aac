// Numbers for keys: equal keys get equal numbers, in the order of their first coming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::folding {

class IdTable {
 public:
  IdTable() : slots_(64, 0) {}

  [[nodiscard]] std::uint32_t number(std::span<const std::uint32_t> key);
  [[nodiscard]] std::size_t size() const { return offsets_.size() - 1; }

 private:
  [[nodiscard]] static std::uint64_t hash(std::span<const std::uint32_t> key);
  [[nodiscard]] std::span<const std::uint32_t> key(std::uint32_t number) const {
    return {words_.data() + offsets_[number], words_.data() + offsets_[number + 1]};
  }
  void grow();

  std::vector<std::uint32_t> words_;
  std::vector<std::size_t> offsets_{0};
  std::vector<std::uint32_t> slots_;  // open addressing: number + 1, or 0; the size is a power of two
};

}  // namespace photonrail::folding
