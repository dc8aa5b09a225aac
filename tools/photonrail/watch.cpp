#include "watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <list>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace photonrail::command {

namespace {

constexpr double kWallFactor = 10.0;  // for decisions that wait instead of computing, and for busy machines

double processor_seconds(clockid_t clock) {
  timespec time{};
  return ::clock_gettime(clock, &time) == 0 ? static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)
                                            : -1.0;
}

/// Looks every now and then which call is still the one that it was before.
class Watch {
 public:
  static Watch& the() {
    static Watch watch;
    return watch;
  }
  void set_limit(double seconds) { limit_ = seconds; }

  std::list<WatchedCalls::Calls>::iterator add(const std::string& who, const char* method) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    calls_.emplace_front();
    calls_.front().who = who;
    calls_.front().method = method;
    return calls_.begin();
  }
  void remove(std::list<WatchedCalls::Calls>::iterator of) {
    const std::lock_guard lock(mutex_);
    calls_.erase(of);
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto pause = std::chrono::duration<double>(std::min(1.0, limit_ / 10.0));
      changed_.wait_for(lock, stop, pause, [] { return false; });
      for (WatchedCalls::Calls& one : calls_) look(one);
    }
  }

  void look(WatchedCalls::Calls& one) const {
    const std::uint64_t count = one.count.load(std::memory_order_acquire);
    if (count % 2 == 0) return;
    const double processor = processor_seconds(one.clock.load(std::memory_order_relaxed));
    const auto now = std::chrono::steady_clock::now();
    if (count != one.seen) {
      one.seen = count;
      one.processor_from = processor;
      one.wall_from = now;
      return;
    }
    const double wall = std::chrono::duration<double>(now - one.wall_from).count();
    if (processor - one.processor_from > limit_) end(one, "of the processor", limit_);
    if (wall > kWallFactor * limit_) end(one, "by the clock on the wall", kWallFactor * limit_);
  }

  [[noreturn]] static void end(const WatchedCalls::Calls& one, const char* what, double seconds) {
    std::fprintf(stderr,
                 "photonrail: error: %s: one decision takes more than %g s %s; %s must end (--decision-limit S allows "
                 "more)\n",
                 one.who.c_str(), seconds, what, one.method);
    std::_Exit(2);
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<WatchedCalls::Calls> calls_;
  double limit_ = 60.0;
  std::jthread thread_;  // the last member, so that it ends first
};

}  // namespace

WatchedCalls::WatchedCalls(const std::string& who, const char* method) : calls_(Watch::the().add(who, method)) {}
WatchedCalls::~WatchedCalls() { Watch::the().remove(calls_); }

void WatchedCalls::begin() {
  if (calls_->count.load(std::memory_order_relaxed) == 0) {  // the calls of one object are made in one thread
    clockid_t clock{};
    if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) calls_->clock.store(clock, std::memory_order_relaxed);
  }
  calls_->count.fetch_add(1, std::memory_order_release);
}

void set_decision_limit(double seconds) { Watch::the().set_limit(seconds); }

}  // namespace photonrail::command
