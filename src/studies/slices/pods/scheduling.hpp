// Jobs that come, wait for a slice of a pod, run and go; servers that fail and are repaired. Times are microseconds since
// the start of the stream: a stream may be longer than the 106 days of photonrail::Time.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::slices {

using Instant = std::chrono::microseconds;  ///< since the start of the stream
using Span = std::chrono::microseconds;     ///< a length of time

/// Upper bound on every time of a stream: 3,000 years, so that sums of two cannot overflow.
inline constexpr Span kLongestSpan{100'000'000'000'000'000};

struct SliceJob {
  Instant arrival{};
  Span duration{};  ///< on the full bandwidth of its shape; more than 0
  SliceRequest request{};
};

/// A share of the jobs of a drawn stream asks for this shape.
struct SliceShare {
  Shape shape{};
  double share = 1.0;  ///< in proportion to the others, more than 0
};

/// Slices of TPU v4, one day of November 2022 (ISCA 2023, arXiv 2304.01433, table 2), percent; they sum to 97.5. Twisted
/// and plain tori of a shape are one row here.
[[nodiscard]] std::vector<SliceShare> tpu_v4_slices();

struct StreamSpec {
  std::uint32_t jobs = 1000;                           ///< 1 to 1,000,000
  std::vector<SliceShare> slices{};                    ///< not empty
  Span mean_interarrival = std::chrono::seconds{600};  ///< exponential
  Span mean_duration = std::chrono::seconds{3600};     ///< exponential, at least a second
  std::uint64_t seed = 1;
};
/// Throws ConfigError for fields out of range, or a stream longer than kLongestSpan.
[[nodiscard]] std::vector<SliceJob> draw_jobs(const StreamSpec& spec);

enum class QueueOrder : std::uint8_t {
  kFifo,             ///< in order of arrival; the head blocks the others
  kBackfill,         ///< the same, but a job may overtake that ends before the head can start (EASY)
  kShortestService,  ///< least accelerators x remaining time first; a refused job blocks only its own shape
  kScarcestShape,    ///< shapes by the supply that is left of them, the scarcest first (IRS of Venn, arXiv 2312.08298)
  kRandom,           ///< a random order, drawn at arrival
};

/// The fate of a job that even an empty pod refuses. On a torus without switches, one that has a side longer than
/// the torus is skipped when it is refused, in both cases.
enum class ImpossibleJobs : std::uint8_t {
  kSkip,             ///< skipped when it is refused
  kBlockUntilEmpty,  ///< waits until the pod is empty, as in the public scheduler of RFold: a fifo queue drains for it
};

/// Servers that wait idle for jobs that a failure stops. Such a job goes on at once, from what it saved, where the policy
/// places it among idle accelerators and spares; used ones are replaced as soon as servers are idle. Those nearest to the
/// end of a rack (of the pod) are spares first.
struct Spares {
  enum class Kind : std::uint8_t {
    kServersOfRack,  ///< so many servers of each rack, which is a cube of PodSpec::block
    kRacks,          ///< so many whole racks of the pod
  };

  std::uint32_t count = 0;  ///< 0: none
  Kind kind = Kind::kServersOfRack;

  /// Throws ConfigError when racks do not fill the torus, or nothing is left to the jobs.
  void check(const PodSpec& pod) const;
};

/// Servers (PodSpec::server) fail independently.
struct ServerFailures {
  Span mean_between{};  ///< exponential, of one server; 0: servers do not fail
  Span mean_repair{};   ///< exponential
  Span checkpoint{};    ///< a job that is stopped loses what it did since a multiple of this; 0: nothing is lost
  Span restart{};       ///< added to each start after the first
  Spares spares{};
};

struct ScheduleSpec {
  PodSpec pod{};
  QueueOrder order = QueueOrder::kFifo;
  /// A job that is refused may stop jobs that would have more service (accelerators x time) left than itself in the queue,
  /// the smallest slices that make room, and only those it needs. REQUIRES (else ConfigError): kShortestService.
  bool preempt = false;
  ImpossibleJobs impossible = ImpossibleJobs::kSkip;
  ServerFailures failures{};
  Span reconfiguration{};     ///< added to each start: circuits of the slice
  bool shared_links = false;  ///< torus: a job has torus_shares() of its bandwidth, as seen at its start
  bool fixed_egress =
      false;  ///< torus and cubes: a job has egress_of() its shape of its bandwidth; photonic servers give all
  /// Returns the factor by which a job takes longer on this share of its bandwidth, in (0, 1]; none: 1 / share, as if it
  /// only communicated.
  std::function<double(double share)> stretch{};
  /// Told how many jobs have ended, whenever one has; may be empty.
  std::function<void(std::size_t ended)> progress{};
  std::uint64_t seed = 1;
};

enum class RunEnd : std::uint8_t { kDone, kFailure, kPreemption };

/// Runs of a stream whose slices are kept for maps: more would take the memory.
inline constexpr std::size_t kKeptSlices = 20'000;

/// One stay of a job in the pod.
struct SliceRun {
  std::uint32_t job = 0;
  Instant start{};
  Instant end{};
  RunEnd how = RunEnd::kDone;
  double share = 1.0;              ///< of its bandwidth that the slice had; see ScheduleSpec::shared_links and fixed_egress
  std::uint32_t accelerators = 0;  ///< of the slice
  Placement slice{};               ///< of the first kKeptSlices runs; of the others it is empty
};

struct Outage {
  std::uint32_t server = 0;  ///< its first accelerator
  Instant start{};
  Instant end{};
};

struct JobOutcome {
  std::optional<Instant> start{};  ///< the first; none: skipped
  std::optional<Instant> end{};    ///< none: skipped
  Span waiting{};                  ///< in the queue, in all
  std::uint32_t stops = 0;         ///< by failures and preemption
};

/// Of jobs that ran, in seconds.
struct JobTimes {
  double mean_waiting = 0.0;     ///< in the queue
  double mean_completion = 0.0;  ///< from arrival to end
  double median_completion = 0.0;
};

struct ScheduleResult {
  std::vector<JobOutcome> jobs{};  ///< as in the stream
  std::vector<SliceRun> runs{};    ///< in order of their ends
  std::vector<Outage> outages{};
  Span makespan{};              ///< until the last job is done
  double utilisation = 0.0;     ///< accelerators in slices, of all, mean over the makespan
  double goodput = 0.0;         ///< the same of nominal durations of jobs: without lost work, restarts and shared links
  Span blocked_for_resource{};  ///< the first job of the queue was refused: too few idle accelerators
  Span blocked_for_shape{};     ///< enough, but not in its shape
  double stranded = 0.0;        ///< idle accelerators while blocked_for_shape, of all, mean over the makespan
  double mean_share = 1.0;      ///< SliceRun::share, mean over runs
  double blast_radius = 0.0;    ///< accelerators that a failure of a server idled, mean over outages
  std::uint32_t skipped = 0;    ///< jobs that even an empty pod refuses
  std::uint32_t restarts_at_once = 0;  ///< of jobs that a failure stopped, ahead of the queue; 0 without Spares
  std::uint64_t decisions = 0;         ///< questions to the allocator

  JobTimes times{};
};

/// Requests of one shape in a pod without a queue.
struct LossRow {
  Shape shape{};
  std::uint64_t asked = 0;
  std::uint64_t refused_for_resource = 0;
  std::uint64_t refused_for_shape = 0;
};
struct LossResult {
  std::vector<LossRow> rows{};  ///< by shape, ascending accelerators
  double utilisation = 0.0;     ///< accelerators in slices, of all, mean from the first arrival to the last
  /// 1 - largest request of the stream that the pod would place / idle accelerators, mean over arrivals with idle
  /// accelerators; see stranded_share().
  double stranded = 0.0;
};
/// Each job is placed when it comes or is lost. Throws as schedule_jobs(), and ConfigError for a request without a shape.
[[nodiscard]] LossResult run_without_queue(const std::vector<SliceJob>& jobs, const PodSpec& pod,
                                           const AllocatorFactory& factory);

/// Runs the stream. The first job in the order is tried at each arrival and whenever something is released; at an instant,
/// ends come before repairs, these before failures, these before arrivals. Throws ConfigError for fields out of range, and
/// DeadlockError when a job can never end because servers fail too often.
[[nodiscard]] ScheduleResult schedule_jobs(const std::vector<SliceJob>& jobs, const ScheduleSpec& spec,
                                           const AllocatorFactory& factory);

}  // namespace photonrail::slices
