#include "stop.hpp"

#include <unistd.h>

#include <ctime>
#include <utility>

namespace photonrail::command {

namespace {

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

// By nohup, or a shell's &.
bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void exit_on_stop_signals() {
  struct sigaction exit_now {};
  exit_now.sa_handler = [](int signal) { ::_exit(128 + signal); };
  for (const int signal : kStopSignals) {
    if (!is_ignored(signal)) sigaction(signal, &exit_now, nullptr);
  }
}

StopSignals::StopSignals(std::string kept) : kept_(std::move(kept)) {
  sigemptyset(&signals_);
  for (const int signal : kStopSignals) {
    if (!is_ignored(signal)) sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  waiter_ = std::jthread([this](const std::stop_token& over) { wait(over); });
}

StopSignals::~StopSignals() {
  waiter_.request_stop();
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::wait(const std::stop_token& over) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::time_point::max();
  while (!over.stop_requested()) {
    const timespec patience{0, 50'000'000};
    const int signal = sigtimedwait(&signals_, nullptr, &patience);
    if (Clock::now() >= end) cut_off(received_);
    if (signal <= 0) continue;
    if (stop_) cut_off(signal);
    received_ = signal;
    end = Clock::now() + kGrace;
    stop_ = true;
  }
}

// Without destructors: other threads are at work, and all that is to be kept is in files already.
void StopSignals::cut_off(int signal) const {
  const std::string text = "photonrail: error: " + kept_ + "\n";
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));  // where nothing reads it, nothing is lost
  ::_exit(128 + signal);
}

}  // namespace photonrail::command
