// One stream of jobs in one pod: what runs, what waits, what failed.
#pragma once

#include "photonrail/core/random.hpp"
#include "studies/slices/pods/allocator_memo.hpp"
#include "studies/slices/pods/job_queue.hpp"
#include "studies/slices/pods/scheduling.hpp"
#include "studies/slices/pods/spare_pool.hpp"
#include "studies/slices/pods/wiring.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace photonrail::slices {

/// When which server fails, and when it is repaired.
class FailureProcess {
 public:
  /// `spec` must outlive the process.
  explicit FailureProcess(const ScheduleSpec& spec);

  [[nodiscard]] Instant next_failure() const { return next_; }
  [[nodiscard]] Instant next_repair() const { return repairs_.empty() ? Instant::max() : repairs_.begin()->first; }
  /// The failure at next_failure(): the first accelerator of a server that was up; none when it was down already.
  std::optional<std::uint32_t> fail(Instant now);
  /// The repair at next_repair(): the first accelerator of the server.
  std::uint32_t repair();
  [[nodiscard]] const std::vector<Outage>& outages() const { return outages_; }

 private:
  void draw_next(Instant now);

  const ScheduleSpec& spec_;
  RandomStream random_;
  std::vector<std::uint32_t> servers_;  // first accelerators
  std::vector<bool> down_;              // by first accelerator
  std::set<std::pair<Instant, std::uint32_t>> repairs_;
  Instant next_ = Instant::max();
  std::vector<Outage> outages_;
};

class PodSchedule {
 public:
  /// The arguments must outlive the schedule.
  PodSchedule(const std::vector<SliceJob>& jobs, const ScheduleSpec& spec, const AllocatorFactory& factory);

  [[nodiscard]] ScheduleResult run();

 private:
  struct Progress {
    Span remaining{};  // of the job on its full bandwidth
    double key = 0.0;  // in the queue
    Instant queued{};
    Instant started{};
    Instant end{};    // planned
    Span overhead{};  // of this start
    double share = 1.0;
    double stretch = 1.0;
    Placement slice{};
  };

  // schedule.cpp: events
  void advance(Instant now);
  void enqueue(std::uint32_t job);
  void start(std::uint32_t job, Placement slice);
  void finish(std::uint32_t job);
  void leave(std::uint32_t job, RunEnd how);
  void stop(std::uint32_t job, RunEnd how);
  void fail_server(std::uint32_t server);
  void restart_on_spares(std::uint32_t job);
  [[nodiscard]] Span left_if_stopped(std::uint32_t job) const;  // of the job on its full bandwidth: what it did not save
  [[nodiscard]] double share_of(std::uint32_t job) const;
  [[nodiscard]] double stretch_of(double share) const;
  [[noreturn]] void fail_stuck() const;
  [[nodiscard]] ScheduleResult account();

  // schedule_order.cpp: which job is next
  void fill();
  void fill_in_order();
  void backfill(std::uint32_t head);
  void fill_by_group();
  void fill_scarcest();
  /// Starts the job, or skips it when it can never run; false: it is refused.
  bool serve(std::uint32_t job);
  bool preempt_for(std::uint32_t job);
  [[nodiscard]] double key_of(std::uint32_t job);
  [[nodiscard]] std::optional<std::uint32_t> first_of_queue(bool with_refused) const;
  [[nodiscard]] Instant head_start(std::uint32_t head) const;
  [[nodiscard]] double supply_of(const RequestKey& request) const;

  const std::vector<SliceJob>& jobs_;
  const ScheduleSpec& spec_;
  Pod pod_;
  AllocatorMemo allocator_;
  FailureProcess failures_;
  SparePool spares_;
  RandomStream random_;
  JobQueue queue_;
  std::set<std::pair<Instant, std::uint32_t>> ends_;  // running jobs by planned end
  std::vector<Progress> progress_;
  std::optional<RefusalReason> blocked_;  // why the first job of the queue waits
  std::optional<Instant> head_start_;     // backfill: kept until something is released
  double busy_ = 0.0;                     // accelerators x microseconds
  Instant now_{};
  ScheduleResult result_;
};

}  // namespace photonrail::slices
