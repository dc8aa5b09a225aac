// The sends of a plan that is a list, in little memory: what many sends have in common is kept once.
#pragma once

#include "photonrail/collective/send_plan.hpp"

#include <array>
#include <span>
#include <vector>

namespace photonrail::collective {

class SendList {
 public:
  [[nodiscard]] std::size_t size() const { return sends_.size(); }
  [[nodiscard]] Member from(std::size_t i) const { return sends_[i].from; }
  [[nodiscard]] Member to(std::size_t i) const { return sends_[i].to; }
  [[nodiscard]] std::uint32_t round(std::size_t i) const { return kinds_[sends_[i].kind].round; }
  [[nodiscard]] Send operator[](std::size_t i) const;

  void push_back(const Send& send);
  /// Send i becomes send place[i].
  void reorder(std::span<const SendIndex> place);

 private:
  struct Kind {
    Bytes bytes{};
    std::uint32_t chunks = 1;
    std::uint32_t round = 0;
    bool reduce = false;
    bool ordered = false;

    friend bool operator==(const Kind&, const Kind&) = default;
  };
  struct Entry {
    Member from = 0;
    Member to = 0;
    std::uint32_t first_chunk = 0;
    std::uint32_t kind = 0;
  };

  std::vector<Entry> sends_;
  std::vector<Kind> kinds_;                ///< in the order of their first sends; one may be there twice
  std::array<std::uint32_t, 64> known_{};  ///< by hash: a kind that may be the next one too
};

/// Lists of indices by send, one behind another.
class SendLists {
 public:
  void push_back(std::span<const SendIndex> list);
  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const SendIndex> operator[](std::size_t i) const {
    return std::span(flat_).subspan(first_[i], first_[i + 1] - first_[i]);
  }
  /// The lists turned round: j is in list i where i is in list j of the result; place[i] stands for i in both.
  [[nodiscard]] SendLists inverse(std::span<const SendIndex> place) const;

 private:
  std::vector<SendIndex> flat_;
  std::vector<std::uint32_t> first_{0};  ///< by send, and the end
};

/// The numbers 0 .. count - 1 by key, which is below `keys`; of one key in the order of `order`, or ascending where it is
/// empty.
template <class Key>
void sort_by(std::vector<std::uint32_t>& order, std::size_t count, std::size_t keys, const Key& key) {
  std::vector<std::uint32_t> next(keys + 1);
  for (std::size_t i = 0; i < count; ++i) ++next[key(i) + 1];
  for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
  std::vector<std::uint32_t> sorted(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t at = order.empty() ? static_cast<std::uint32_t>(i) : order[i];
    sorted[next[key(at)]++] = at;
  }
  order = std::move(sorted);
}

}  // namespace photonrail::collective
