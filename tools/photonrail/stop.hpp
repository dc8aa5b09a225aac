// Ctrl-C and its like as a flag that the work looks at.
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace photonrail::command {

/// While it lives, SIGINT, SIGTERM and SIGHUP set the flag, unless they were ignored; a second one ends the process at
/// once. Make it before other threads.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }
  [[nodiscard]] int received() const { return received_; }  ///< the signal; 0: none

 private:
  void wait(const std::stop_token& over);

  sigset_t signals_{};
  sigset_t before_{};
  std::atomic<bool> stop_{false};
  std::atomic<int> received_{0};
  std::jthread waiter_;
};

}  // namespace photonrail::command
