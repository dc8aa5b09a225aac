// A limit of time for calls of a user's code, which nothing in the process could interrupt.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <list>
#include <string>

namespace photonrail::command {

/// Calls of one object, which are made one after another in one thread.
class WatchedCalls {
 public:
  /// The thread of the calls writes `count` and `clock`, the watch reads them.
  struct Calls {
    std::string who;                      ///< with its plug-in
    const char* method = "";              ///< "decide()"
    std::atomic<std::uint64_t> count{0};  ///< odd during a call
    std::atomic<clockid_t> clock{0};      ///< of the processor time of the thread
    std::uint64_t seen = 0;               ///< of `count`, by the watch
    double processor_from = 0.0;          ///< when it was seen
    std::chrono::steady_clock::time_point wall_from{};
  };

  WatchedCalls(const std::string& who, const char* method);
  ~WatchedCalls();
  WatchedCalls(const WatchedCalls&) = delete;
  WatchedCalls& operator=(const WatchedCalls&) = delete;

  /// Makes a call under the watch.
  template <class Call>
  decltype(auto) during(Call&& call) {
    begin();
    const End end{*this};
    return call();
  }

 private:
  struct End {
    WatchedCalls& of;
    ~End() { of.calls_->count.fetch_add(1, std::memory_order_release); }
  };
  void begin();

  std::list<Calls>::iterator calls_;
};

/// The time of the processor that one call may take, 60 s unless it is set; ten times as much by the clock on the
/// wall. Beyond it the process ends with exit status 2. REQUIRES: before the first call.
void set_decision_limit(double seconds);

}  // namespace photonrail::command
