// The discrete-event core: an ordinary object. Two engines may live in one process, each used by one thread at a time.
#pragma once

#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace photonrail::engine {

class EventQueue;

/// The order within one instant. An action of a later phase may schedule into an earlier phase of the same instant;
/// that then runs first.
enum class Phase : std::uint8_t { kFinish, kDecide, kStart, kSettle };
inline constexpr int kPhaseCount = 4;

/// Holds what an event does: a plain function, the object it is for, and a word of its own. No allocation, no ownership.
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
  std::uint64_t key = 0;  ///< 0: names nothing

  explicit operator bool() const { return key != 0; }
};

/// Runs actions in the order (time, phase, sequence of scheduling). Limits, checked: 2^36 events in a run, 2^26 pending,
/// kMaxAtOneInstant in an instant.
class Engine {
 public:
  /// More events than any instant needs: what does not end within them repeats for ever.
  static constexpr std::uint64_t kMaxAtOneInstant = std::uint64_t{1} << 28;

  explicit Engine(std::uint64_t most_at_one_instant = kMaxAtOneInstant);
  ~Engine();
  Engine(const Engine&) = delete;  // events name objects that know this engine
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] Time now() const { return now_; }

  /// REQUIRES: at >= now().
  EventHandle schedule(Time at, Phase phase, const Action& action);

  /// The event will not run. False when it ran already, was cancelled already, or never was.
  bool cancel(EventHandle handle);

  /// Returns what a pending event's action gets. REQUIRES: it has not run, and was not cancelled.
  [[nodiscard]] std::uint64_t argument(EventHandle handle) const { return slots_[slot_of(handle)].action.argument; }
  void set_argument(EventHandle handle, std::uint64_t argument) { slots_[slot_of(handle)].action.argument = argument; }

  /// Runs the next event. False when there is none. Throws DeadlockError when time does not pass any more.
  bool step();
  /// Runs until no event is left, or until `limit` events ran; returns how many ran.
  std::uint64_t run(std::uint64_t limit = ~std::uint64_t{0});

  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }

 private:
  struct Slot {
    Action action;
    std::uint64_t key = 0;  // of the event that waits here; else the number of the next free slot
  };
  struct Fifo {
    std::vector<std::uint64_t> keys;
    std::size_t head = 0;
  };

  [[nodiscard]] std::uint64_t take_slot(Phase phase, const Action& action);
  void free_slot(std::uint64_t key);
  [[nodiscard]] bool stale(std::uint64_t key) const;
  [[nodiscard]] std::size_t slot_of(EventHandle handle) const;
  void drop_stale();
  [[nodiscard]] std::uint64_t next_key();
  [[nodiscard]] std::uint64_t next_of_instant();

  std::uint64_t most_at_one_instant_;
  std::uint64_t most_run_;  // events by the end of the present instant
  Time now_{};
  std::uint64_t sequence_ = 0;
  std::uint64_t events_run_ = 0;
  std::size_t pending_ = 0;
  std::size_t cancelled_ = 0;              // at most so many entries of later_ are stale
  std::unique_ptr<EventQueue> later_;      // events after the present instant
  std::size_t in_instant_ = 0;             // entries of instant_, stale ones too
  std::array<Fifo, kPhaseCount> instant_;  // events that the present instant scheduled for itself, in order
  std::vector<Slot> slots_;
  std::uint64_t free_head_;
};

}  // namespace photonrail::engine
