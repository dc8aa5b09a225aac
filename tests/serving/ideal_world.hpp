// Runs an agent without a cluster: computations take their time, messages that of a link of their own.
#pragma once

#include "photonrail/error.hpp"
#include "photonrail/workload/agent.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

namespace photonrail::serving {

class IdealWorld final : public WorkSink {
 public:
  explicit IdealWorld(Bandwidth link = {50e9}, std::size_t ranks = 64) : link_(link), ranks_(ranks) {}

  /// Returns when the last thing ended; throws where nothing is left to come and the agent is not finished.
  Time run(WorkloadAgent& agent) {
    agent.on({WorkEvent::Kind::kBegin, now_, LaunchId::none(), RankId::none(), 0, {}}, *this);
    while (!agent.finished() || open_ > 0) {
      if (coming_.empty()) throw DeadlockError(agent.waiting());
      const auto [at, is_timer, order, token] = coming_.top();
      coming_.pop();
      if (agent.finished() && is_timer) continue;
      now_ = at;
      if (now_ > Time{from_seconds(1e5)}) throw DeadlockError(agent.waiting());  // it goes round in circles
      if (!is_timer) --open_;
      agent.on({is_timer ? WorkEvent::Kind::kTimer : WorkEvent::Kind::kLaunchDone,
                now_,
                LaunchId::none(),
                RankId::none(),
                token,
                {}},
               *this);
    }
    return now_;
  }

  LaunchId compute(std::span<const RankId> /*ranks*/, Duration time, LaunchLabel label, Stream /*stream*/) override {
    return end(now_ + time, label);
  }
  LaunchId send(RankId /*from*/, RankId /*to*/, Bytes size, LaunchLabel label, Dimension /*dimension*/) override {
    return end(now_ + transfer_time(size, link_), label);
  }
  LaunchId collective(std::span<const RankId> /*ranks*/, CollectiveOp /*op*/, Bytes size, Dimension /*dimension*/,
                      LaunchLabel label) override {
    return end(now_ + transfer_time(size, link_), label);
  }
  void wake_at(Time at, std::uint64_t token) override { coming_.push({at, true, order_++, token}); }
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] std::size_t ranks() const override { return ranks_; }

  LaunchId launch(const Fragment&, LaunchLabel) override { return none(); }
  LaunchId open(const Fragment&, LaunchLabel) override { return none(); }
  void enter(LaunchId, RankId) override { none(); }

 private:
  using Coming = std::tuple<Time, bool, std::uint64_t, std::uint64_t>;  // what ended comes before timers

  LaunchId end(Time at, LaunchLabel label) {
    ++open_;
    coming_.push({at, false, order_++, label.token});
    return LaunchId{};
  }
  static LaunchId none() { throw InternalError("no serving agent launches this"); }

  Bandwidth link_;
  std::size_t ranks_;
  Time now_{};
  std::uint64_t order_ = 0;
  std::uint64_t open_ = 0;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
};

}  // namespace photonrail::serving
