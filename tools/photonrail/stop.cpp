#include "stop.hpp"

#include <cstdlib>
#include <ctime>

namespace photonrail::command {

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    const bool ignored = sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;  // by nohup, or a shell's &
    if (!ignored) sigaddset(&signals_, signal);
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
  while (!over.stop_requested()) {
    const timespec patience{0, 50'000'000};
    const int signal = sigtimedwait(&signals_, nullptr, &patience);
    if (signal <= 0) continue;
    if (stop_) std::_Exit(128 + signal);
    received_ = signal;
    stop_ = true;
  }
}

}  // namespace photonrail::command
