// The discrete-event core: an ordinary object. Two engines may live in one process, each used by one thread at a time.
#pragma once

#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace photonrail {

/// The order within one instant. An action of a later phase may schedule into an earlier phase of the same instant;
/// that then runs first.
enum class Phase : std::uint8_t { kFinish, kDecide, kStart, kSettle };
inline constexpr int kPhaseCount = 4;

/// What an event does: a plain function, the object it is for, and a word of its own. No allocation, no ownership.
struct Action {
  using Function = void (*)(void* object, std::uint64_t argument);

  Function function = nullptr;
  void* object = nullptr;
  std::uint64_t argument = 0;

  /// Calls `(object.*Method)(argument)`. `object` must outlive the event.
  template <auto Method, class Object>
  [[nodiscard]] static Action to(Object& object, std::uint64_t argument = 0) {
    return {[](void* self, std::uint64_t a) { (static_cast<Object*>(self)->*Method)(a); }, &object, argument};
  }
};

/// Names a scheduled event for cancel(). A handle of an event that ran or was cancelled is stale, never dangerous.
struct EventHandle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  ///< 0: names nothing
};

/// Runs actions in the order (time, phase, sequence of scheduling).
class Engine {
 public:
  [[nodiscard]] Time now() const { return now_; }

  /// REQUIRES: at >= now().
  EventHandle schedule(Time at, Phase phase, const Action& action);

  /// The event will not run. False when it ran already, was cancelled already, or never was.
  bool cancel(EventHandle handle);

  /// Runs the next event. False when there is none.
  bool step();
  /// Runs until no event is left, or until `limit` events ran; returns how many ran.
  std::uint64_t run(std::uint64_t limit = ~std::uint64_t{0});

  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }

 private:
  struct Entry {
    std::int64_t time;
    std::uint64_t order;  // phase in the top 2 bits, then the sequence number
    std::uint32_t slot;
    std::uint32_t generation;
  };
  struct Slot {
    Action action;
    std::uint32_t generation;  // odd: waiting
    std::uint32_t next_free;
  };
  struct Fifo {
    std::vector<Entry> entries;
    std::size_t head = 0;
  };

  std::uint32_t take_slot(const Action& action);
  void free_slot(std::uint32_t slot);
  [[nodiscard]] static bool before(const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
  [[nodiscard]] bool stale(const Entry& e) const { return slots_[e.slot].generation != e.generation; }
  void push_heap(const Entry& entry);
  void pop_heap();
  void sift_down(std::size_t hole, const Entry& entry);
  void drop_stale();
  void compact();
  bool next_entry(Entry& out);

  Time now_{};
  std::uint64_t sequence_ = 0;
  std::uint64_t events_run_ = 0;
  std::size_t pending_ = 0;
  std::size_t cancelled_ = 0;              // at least so many entries of heap_ are stale
  std::vector<Entry> heap_;                // 4-ary, least first
  std::array<Fifo, kPhaseCount> instant_;  // events of the present instant, in order of scheduling
  std::vector<Slot> slots_;
  std::uint32_t free_head_ = ~std::uint32_t{0};
};

}  // namespace photonrail
