// Events of single ranks. Those of a rank at the same instant run one after another, as one event that was scheduled with
// the first of them: the order of ASTRA-sim's system layer, which is visible where instants are equal.
#pragma once

#include "astra/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::astra {

template <class Event, class Owner, void (Owner::*Run)(std::uint32_t rank, const Event&)>
class RankEvents {
 public:
  RankEvents(std::size_t ranks, Clock& clock, Owner& owner) : clock_(clock), owner_(owner), open_(ranks) {}

  void after(std::uint32_t rank, std::uint64_t nanoseconds, const Event& event) {
    const std::uint64_t at = clock_.now() + nanoseconds;
    const std::uint32_t entry = take(event);
    for (auto instant = open_[rank].rbegin(); instant != open_[rank].rend(); ++instant) {
      if (instant->at != at) continue;
      pool_[instant->last].next = entry;
      instant->last = entry;
      return;
    }
    open_[rank].push_back({at, entry, entry});
    clock_.after(nanoseconds, engine::Action::to<&RankEvents::run>(*this, rank));
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Entry {
    Event event;
    std::uint32_t next = kNone;
  };
  struct Instant {
    std::uint64_t at = 0;
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  std::uint32_t take(const Event& event) {
    if (free_ == kNone) {
      pool_.push_back({event, kNone});
      return static_cast<std::uint32_t>(pool_.size() - 1);
    }
    const std::uint32_t entry = free_;
    free_ = pool_[entry].next;
    pool_[entry] = {event, kNone};
    return entry;
  }

  // Events for this same instant may be added while it runs: they run too.
  void run(std::uint64_t argument) {
    const auto rank = static_cast<std::uint32_t>(argument);
    const std::uint64_t now = clock_.now();
    const auto find = [&] {
      std::size_t i = 0;
      while (open_[rank][i].at != now) ++i;
      return i;
    };
    for (std::uint32_t entry = open_[rank][find()].first; entry != kNone;) {
      const Event event = pool_[entry].event;
      (owner_.*Run)(rank, event);
      const std::uint32_t next = pool_[entry].next;
      if (next == kNone) open_[rank].erase(open_[rank].begin() + static_cast<std::ptrdiff_t>(find()));
      pool_[entry].next = free_;
      free_ = entry;
      entry = next;
    }
  }

  Clock& clock_;
  Owner& owner_;
  std::vector<std::vector<Instant>> open_;  // by rank
  std::vector<Entry> pool_;
  std::uint32_t free_ = kNone;
};

}  // namespace photonrail::astra
