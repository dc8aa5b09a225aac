// The timers of an agent. Of all of them only the next is an event of the engine.
#pragma once

#include "engine/engine.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace photonrail::execution {

class LaunchTimers {
 public:
  struct Timer {
    Time at{};
    std::uint64_t sequence = 0;
    std::uint64_t token = 0;
    std::uint32_t reconfigurations = 0;  ///< of what set it (CriticalPathTag)

    [[nodiscard]] friend bool operator>(const Timer& a, const Timer& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  /// `engine` must outlive the object. `due`: scheduled for the time of the next timer.
  LaunchTimers(engine::Engine& engine, const engine::Action& due) : engine_(engine), due_(due) {}

  void add(Time at, std::uint64_t token, std::uint32_t reconfigurations) {
    timers_.push({at, next_++, token, reconfigurations});
    set();
  }
  /// The action runs: takes a timer of this instant; none: the next one is scheduled.
  [[nodiscard]] std::optional<Timer> take() {
    event_ = {};
    if (timers_.empty() || timers_.top().at > engine_.now()) {
      set();
      return std::nullopt;
    }
    const Timer timer = timers_.top();
    timers_.pop();
    return timer;
  }
  void cancel() { engine_.cancel(event_); }

 private:
  void set() {
    if (timers_.empty()) return;
    const Time next = timers_.top().at;
    if (event_ && event_at_ <= next) return;
    if (event_) engine_.cancel(event_);
    event_at_ = next;
    event_ = engine_.schedule(next, engine::Phase::kFinish, due_);
  }

  engine::Engine& engine_;
  engine::Action due_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t next_ = 0;
  engine::EventHandle event_{};
  Time event_at_{};
};

}  // namespace photonrail::execution
