// Ctrl-C and its like as a flag that the work looks at.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace photonrail::command {

/// From now on SIGINT, SIGTERM and SIGHUP end the process with status 128 + signal, unless they were ignored.
void exit_on_stop_signals();

/// While it lives, they set the flag instead. The verb then has kGrace to end by itself; a part of its work that does not
/// look at the flag is cut off after that, and a second signal does so at once. Make it before other threads.
class StopSignals {
 public:
  static constexpr std::chrono::milliseconds kGrace{700};  // every verb is to end within a second

  /// `kept`: what the user is told where the work is cut off.
  explicit StopSignals(std::string kept);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }
  [[nodiscard]] int received() const { return received_; }  ///< the signal; 0: none

 private:
  void wait(const std::stop_token& over);
  [[noreturn]] void cut_off(int signal) const;

  std::string kept_;
  sigset_t signals_{};
  sigset_t before_{};
  std::atomic<bool> stop_{false};
  std::atomic<int> received_{0};
  std::jthread waiter_;
};

}  // namespace photonrail::command
