// One engine of a run: its scheduler, and where its time goes.
#pragma once

#include "photonrail/workload/serving.hpp"
#include "serving/pools.hpp"
#include "serving/scheduler.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

namespace photonrail::serving {

class EngineRun {
 public:
  EngineRun(const PoolSpec& pool, std::size_t number_in_pool, std::uint64_t seed);

  [[nodiscard]] const PoolSpec& pool() const { return *pool_; }
  [[nodiscard]] std::span<const RankId> ranks() const { return pool_->engines[number_]; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] bool busy() const { return busy_; }

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

  std::deque<std::uint32_t> inbound;       ///< requests whose KV waits for blocks here
  std::optional<std::size_t> last_target;  ///< where its last KV went
  std::deque<std::uint32_t> outbox;        ///< requests whose KV waits for those before it
  bool sending = false;                    ///< ... with TransferSpec::Order::kFifo

 private:
  /// Books the time since the last call.
  void book(Time now);

  const PoolSpec* pool_;
  std::size_t number_;
  Scheduler scheduler_;
  bool busy_ = false;
  Duration* kind_ = nullptr;  // of result_, while busy
  Time since_{};
  Time previous_end_ = Time::never();
  Time last_end_ = Time::never();
  std::uint32_t requests_ = 0;
  std::uint64_t batch_ = 0;
  ServingResult::Engine result_;
};

}  // namespace photonrail::serving
