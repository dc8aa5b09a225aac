// One engine of a run: its scheduler, whether it is there, and where its time goes.
#pragma once

#include "photonrail/workload/serving.hpp"
#include "serving/engine/scheduler.hpp"
#include "serving/fleet/pools.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

namespace photonrail::serving {

enum class EngineState : std::uint8_t {
  kUp,
  kStopped,  ///< it has failed, and routers do not know
  kFailed,
  kOff,
  kLoading,  ///< its weights come
  kDraining  ///< it stops when it has no more requests
};

class EngineRun {
 public:
  /// `spec` outlives it.
  EngineRun(const ServingSpec& spec, std::uint32_t pool, std::size_t number_in_pool);

  [[nodiscard]] const PoolSpec& pool() const { return spec_->pools[pool_number_]; }
  [[nodiscard]] std::uint32_t pool_number() const { return pool_number_; }
  [[nodiscard]] std::size_t number() const { return number_; }  ///< in its pool
  [[nodiscard]] std::span<const RankId> ranks() const { return pool().engines[number_]; }
  /// The ranks of one of its stages.
  [[nodiscard]] std::span<const RankId> ranks(std::uint32_t stage) const {
    const std::size_t each = ranks().size() / pool().stages;
    return ranks().subspan(stage * each, each);
  }
  [[nodiscard]] EnginePlace place() const { return pool().places.empty() ? EnginePlace{} : pool().places[number_]; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] bool busy() const { return busy_; }

  [[nodiscard]] EngineState state() const { return state_; }
  void set_state(EngineState state, Time now);
  [[nodiscard]] bool takes_requests() const { return state_ == EngineState::kUp || state_ == EngineState::kStopped; }
  [[nodiscard]] bool runs() const { return state_ == EngineState::kUp || state_ == EngineState::kDraining; }
  /// It fails: its step is lost.
  void stop(Time now);
  /// All that it had is gone.
  void forget(Time now);

  /// Decides the next step and begins it; none where nothing can run. REQUIRES: not busy.
  [[nodiscard]] std::optional<Duration> begin_step(Time now);
  const StepEnd& end_step(Time now);
  /// When the step before the last one ended: what gaps of regular tokens count from.
  [[nodiscard]] Time previous_end() const { return previous_end_; }

  /// A request was sent here, or is done here.
  void came(Time now);
  void went(Time now);
  [[nodiscard]] std::uint32_t requests() const { return requests_; }
  [[nodiscard]] EngineSignal signal() const;

  /// At the end of the run.
  [[nodiscard]] ServingResult::Engine result(Time now) const;

  /// Requests whose KV comes or goes, by number.
  struct KvQueues {
    std::deque<std::uint32_t> inbound;       ///< it waits for blocks here
    std::optional<std::size_t> last_target;  ///< where the last one went
    std::deque<std::uint32_t> outbox;        ///< with TransferSpec::Order::kFifo: it goes, or waits for those before it
  };
  KvQueues kv;

 private:
  /// Books the time since the last call.
  void book(Time now);
  [[nodiscard]] Scheduler fresh_scheduler() const;

  const ServingSpec* spec_;
  std::uint32_t pool_number_;
  std::size_t number_;
  std::uint64_t lives_ = 0;  // how often it has lost everything
  Scheduler scheduler_;
  EngineState state_ = EngineState::kUp;
  bool busy_ = false;
  Duration ServingResult::Engine::*kind_ = nullptr;  // while busy
  Time since_{};
  Time previous_end_ = Time::never();
  Time last_end_ = Time::never();
  std::uint32_t requests_ = 0;
  std::uint64_t batch_ = 0;
  ServingResult::Engine result_;
};

}  // namespace photonrail::serving
