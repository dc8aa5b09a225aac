// The renewal process of one history: failures, detections, decisions, recoveries, repairs.
#pragma once

#include "studies/goodput/process/failure_clock.hpp"
#include "studies/goodput/process/history.hpp"
#include "studies/goodput/process/server_pool.hpp"
#include "studies/goodput/process/work_ledger.hpp"

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace photonrail::goodput {

/// What a history is made of. All must outlive it.
struct ProcessParts {
  const GoodputSpec& spec;
  StepTimes& steps;
  const RecoveryPolicy& recovery;
  const SparePlacement& placement;
  HistoryObserver* observer = nullptr;
};

class Process {
 public:
  Process(const ProcessParts& parts, std::uint64_t seed);

  [[nodiscard]] History run();

 private:
  enum class State : std::uint8_t { kRunning, kDetecting, kWaiting, kRecovering, kPlanned };
  /// A failure that the job has to recover from.
  struct Pending {
    std::uint32_t source = 0;
    std::uint32_t part = 0;
    std::uint32_t server = ServerPool::kNoPlace;  ///< kNoPlace: of the whole cluster
    double repair_s = 0.0;
    bool slow = false;
    std::optional<std::size_t> option{};  ///< carried out; none: not resolved yet
  };
  struct Timed {
    enum class Kind : std::uint8_t { kRepaired, kSilentFound, kSlowNoticed, kMaintenance };
    LongTime at{};
    std::uint64_t sequence = 0;
    Kind kind = Kind::kRepaired;
    Failure failure{};
    std::size_t mark = 0;                                     ///< kSilentFound: of marks_
    [[nodiscard]] bool operator<(const Timed& other) const {  // std::priority_queue: the earliest is on top
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };

  // Time.
  void pass_until(LongTime t);
  void act_at_boundary();
  void state_over();
  void enter(State state, LongTime until, std::uint32_t source);
  void report_period();
  void push(LongTime at, Timed::Kind kind, const Failure& failure, std::size_t mark = 0);
  void record(LongTime at, std::uint64_t what, std::uint64_t a, std::uint64_t b);

  // Failures and repairs.
  void fail(const Failure& failure);
  void stop_job(const Failure& failure, std::uint32_t server, LongTime detection, bool slow);
  void on_timed(const Timed& timed);
  void repaired(const Failure& failure);
  void silent_found(const Timed& timed);
  void slow_noticed(const Failure& failure);
  void fill_dropped();
  [[nodiscard]] std::vector<std::uint32_t> servers_of(std::uint32_t source, std::uint32_t part) const;
  /// The first server of the part that takes part in the job; kNoPlace: none does.
  [[nodiscard]] std::uint32_t active_server(std::uint32_t source, std::uint32_t part) const;
  [[nodiscard]] const FailureSource* kind_of(std::uint32_t source) const;
  [[nodiscard]] bool degrades(std::uint32_t source) const;

  // Recovery.
  void decide_all();
  [[nodiscard]] std::optional<std::size_t> choose(const Pending& pending) const;
  void carry_out(Pending& pending, std::size_t option);
  [[nodiscard]] bool is_possible(const RecoveryOption& option, const Pending& pending) const;
  [[nodiscard]] bool is_blocked(const Pending& pending) const;
  [[nodiscard]] LongTime draw_stages(const std::vector<Stage>& stages);
  void resume();
  /// False: the job cannot go on like this.
  bool update_speed();
  [[nodiscard]] Configuration configuration() const;

  const ProcessParts parts_;
  FailureClock clock_;
  ServerPool pool_;
  WorkLedger ledger_;
  RandomStream stages_;
  LongTime healthy_{};
  LongTime end_{};
  History result_;
  struct Now {
    LongTime at{};
    State state = State::kRunning;
    LongTime until{};          ///< of kDetecting, kRecovering, kPlanned
    std::uint32_t source = 0;  ///< of the failure that the state comes from
    LongTime since{};          ///< when the period that the observer is told of began
    bool slow = false;         ///< running slower than healthy
    bool maintenance = false;  ///< due at the next boundary
    bool degraded_seen = false;
    std::uint64_t sequence = 0;
  } now_;
  std::vector<Pending> pending_;
  std::vector<std::vector<std::uint8_t>> down_;                    // by source, by part
  std::vector<std::pair<std::uint32_t, std::uint32_t>> degraded_;  // (source, part) that degrade the step, ascending
  std::priority_queue<Timed> timed_;
  std::vector<WorkLedger::Mark> marks_;  // of wrong results that are not found yet
};

}  // namespace photonrail::goodput
