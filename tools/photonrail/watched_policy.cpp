#include "watched_policy.hpp"

#include "photonrail/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <list>
#include <memory>
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

/// The decisions of one controller. The thread of the controller writes `count` and `clock`, the watch reads them.
struct Decisions {
  std::string controller;               ///< with its plug-in
  std::atomic<std::uint64_t> count{0};  ///< odd during a decision
  std::atomic<clockid_t> clock{0};      ///< of the processor time of the thread
  std::uint64_t seen = 0;               ///< of `count`, by the watch
  double processor_from = 0.0;          ///< when it was seen
  std::chrono::steady_clock::time_point wall_from{};
};

/// Looks every now and then which decision is still the one that it was before.
class Watch {
 public:
  static Watch& the() {
    static Watch watch;
    return watch;
  }
  void set_limit(double seconds) { limit_ = seconds; }

  std::list<Decisions>::iterator add(std::string controller) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    decisions_.emplace_front();
    decisions_.front().controller = std::move(controller);
    return decisions_.begin();
  }
  void remove(std::list<Decisions>::iterator of) {
    const std::lock_guard lock(mutex_);
    decisions_.erase(of);
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto pause = std::chrono::duration<double>(std::min(1.0, limit_ / 10.0));
      changed_.wait_for(lock, stop, pause, [] { return false; });
      for (Decisions& one : decisions_) look(one);
    }
  }

  void look(Decisions& one) const {
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

  [[noreturn]] static void end(const Decisions& one, const char* what, double seconds) {
    std::fprintf(
        stderr,
        "photonrail: error: %s: one decision takes more than %g s %s; decide() must end (--decision-limit S allows "
        "more)\n",
        one.controller.c_str(), seconds, what);
    std::_Exit(2);
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Decisions> decisions_;
  double limit_ = 60.0;
  std::jthread thread_;  // the last member, so that it ends first
};

class WatchedController : public Controller {
 public:
  WatchedController(std::unique_ptr<Controller> inner, const std::string& name)
      : inner_(std::move(inner)), name_(name), decisions_(Watch::the().add(name)) {}
  ~WatchedController() override { Watch::the().remove(decisions_); }
  WatchedController(const WatchedController&) = delete;
  WatchedController& operator=(const WatchedController&) = delete;

  Decision decide(const FabricView& view) override {
    const DuringDecision during(*decisions_);
    try {
      return inner_->decide(view);
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      throw ControllerError(name_ + ": decide() threw something that is no std::exception");
    }
  }
  std::string remark(Duration makespan) const override { return inner_->remark(makespan); }

 private:
  struct DuringDecision {
    explicit DuringDecision(Decisions& decisions) : of(decisions) {
      if (of.count.load(std::memory_order_relaxed) == 0) {  // a controller decides in one thread
        clockid_t clock{};
        if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) of.clock.store(clock, std::memory_order_relaxed);
      }
      of.count.fetch_add(1, std::memory_order_release);
    }
    ~DuringDecision() { of.count.fetch_add(1, std::memory_order_release); }
    Decisions& of;
  };

  std::unique_ptr<Controller> inner_;
  std::string name_;
  std::list<Decisions>::iterator decisions_;
};

}  // namespace

ControllerFactory watched(ControllerFactory factory, const std::string& plugin) {
  if (!factory.make) return factory;  // a bound
  const std::string name = plugin + ": controller \"" + factory.name + "\"";
  factory.make = [make = std::move(factory.make), name](const ControllerSpec& spec, RailId rail, std::uint32_t gpus,
                                                        std::uint32_t ports) -> std::unique_ptr<Controller> {
    std::unique_ptr<Controller> inner;
    try {
      inner = make(spec, rail, gpus, ports);
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      throw ControllerError(name + ": ControllerFactory::make threw something that is no std::exception");
    }
    if (inner == nullptr) throw ControllerError(name + ": ControllerFactory::make returned no controller");
    return std::make_unique<WatchedController>(std::move(inner), name);
  };
  return factory;
}

void set_decision_limit(double seconds) { Watch::the().set_limit(seconds); }

}  // namespace photonrail::command
