// When the next shared flow ends: of each capacity that limits flows, the time of its first end, and one event at the first
// of them all.
#pragma once

#include "engine/engine.hpp"
#include "network/flow.hpp"
#include "network/indexed_heap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::network {

class DepartureAgenda {
 public:
  /// `departure`: what the event does; it calls begin_departure() first. `engine` must outlive the object.
  DepartureAgenda(engine::Engine& engine, const engine::Action& departure) : engine_(engine), departure_(departure) {}

  void resize(std::size_t capacities) { entries_.resize(capacities); }

  /// The capacity's first end may have another time: the next update() asks for it.
  void mark(CapacityId id) {
    if (entries_[id].marked) return;
    entries_[id].marked = true;
    marked_.push_back(id);
  }
  /// `first_end(capacity)`: of each that is marked; Time::never(): none of its flows ends.
  template <class FirstEnd>
  void update(FirstEnd&& first_end);

  /// The scheduled event runs.
  void begin_departure() { event_ = {}; }
  /// The capacity with the first end, if it is now; else kNone.
  [[nodiscard]] CapacityId due() const {
    return due_.empty() || due_.front().at > engine_.now() ? kNone : due_.front().capacity;
  }
  /// The capacity with the first end, or kNone.
  [[nodiscard]] CapacityId first() const { return due_.empty() ? kNone : due_.front().capacity; }
  /// The capacity's first end is at another time; Time::never(): it has none. The event follows with the next update().
  void set(CapacityId id, Time at);
  /// The capacity has no first end until the next update().
  void remove(CapacityId id);

 private:
  struct Due {
    Time at;
    CapacityId capacity;

    bool operator<(const Due& b) const { return at != b.at ? at < b.at : capacity < b.capacity; }
  };
  struct Entry {
    std::uint32_t position = kNone;  // in due_
    bool marked = false;
  };

  void schedule();
  [[nodiscard]] auto placed() {
    return [this](const Due& d, std::uint32_t at) { entries_[d.capacity].position = at; };
  }

  engine::Engine& engine_;
  engine::Action departure_;
  std::vector<Entry> entries_;  // by capacity
  std::vector<CapacityId> marked_;
  std::vector<Due> due_;  // a heap
  engine::EventHandle event_{};
  Time event_at_{};
};

template <class FirstEnd>
void DepartureAgenda::update(FirstEnd&& first_end) {
  for (const CapacityId id : marked_) {
    entries_[id].marked = false;
    set(id, first_end(id));
  }
  marked_.clear();
  schedule();
}

}  // namespace photonrail::network
