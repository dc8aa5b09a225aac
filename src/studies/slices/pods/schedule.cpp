// The stream in time: events in a total order, and accounts of what they leave idle.
#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "studies/slices/pods/pod_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::slices {

namespace {

constexpr std::uint64_t kMaxEvents = 5'000'000;
constexpr std::uint32_t kMaxStops = 10'000;        // of one job
constexpr std::uint64_t kMaxIdleEvents = 100'000;  // in a row while jobs wait and none runs

using core::field;
using core::FieldError;

void check_span(Span span, const core::Field& where) {
  if (span.count() < 0 || span > kLongestSpan) throw FieldError(where, "is negative, or more than 3000 years");
}

void check_schedule(const std::vector<SliceJob>& jobs, const ScheduleSpec& spec) {
  if (spec.preempt && spec.order != QueueOrder::kShortestService) {
    throw FieldError(field("preempt"), "is for the order of the shortest service", "order srsf, or no preemption");
  }
  const ServerFailures& f = spec.failures;
  check_span(f.mean_between, field("failures.mean_between"));
  check_span(f.mean_repair, field("failures.mean_repair"));
  check_span(f.checkpoint, field("failures.checkpoint"));
  check_span(f.restart, field("failures.restart"));
  check_span(spec.reconfiguration, field("reconfiguration"));
  if (f.mean_between.count() > 0 && f.mean_repair.count() == 0) {
    throw FieldError(field("failures.mean_repair"), "is 0", "the mean time of a repair");
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const SliceJob& job = jobs[j];
    const core::Field where = field("jobs[]", j);
    if (job.duration.count() <= 0) throw FieldError(where, "has no duration");
    check_span(job.duration, where);
    check_span(job.arrival, where);
    if (job.request.accelerators == 0) throw FieldError(where, "asks for nothing");
    if (job.request.shape && job.request.shape->size() != job.request.accelerators) {
      throw FieldError(where, "has a shape of another number of accelerators");
    }
  }
}

Span exponential(RandomStream& random, double mean) {
  const double drawn = random.exponential() * mean;
  return Span{std::llround(std::min(drawn, static_cast<double>(kLongestSpan.count())))};
}

std::vector<double> completions(const ScheduleResult& result, const std::vector<SliceJob>& jobs) {
  std::vector<double> seconds;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (result.jobs[j].end) seconds.push_back(static_cast<double>((*result.jobs[j].end - jobs[j].arrival).count()) / 1e6);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

FailureProcess::FailureProcess(const ScheduleSpec& spec)
    : spec_(spec), random_(spec.seed, "failures of servers"), down_(spec.pod.torus.size(), false) {
  std::vector<bool> seen(spec.pod.torus.size(), false);
  for (std::uint32_t a = 0; a < spec.pod.torus.size(); ++a) {
    if (seen[a]) continue;
    servers_.push_back(a);
    for (const std::uint32_t member : server_of(spec.pod, a)) seen[member] = true;
  }
  if (spec.failures.mean_between.count() > 0) draw_next(Instant{});
}

void FailureProcess::draw_next(Instant now) {
  const double mean = static_cast<double>(spec_.failures.mean_between.count()) / static_cast<double>(servers_.size());
  next_ = now + exponential(random_, mean);
}

std::optional<std::uint32_t> FailureProcess::fail(Instant now) {
  const std::uint32_t server = servers_[random_.below(servers_.size())];
  draw_next(now);
  // Failures of servers that are down are dropped, so that each server that is up has its own rate.
  if (down_[server]) return std::nullopt;
  down_[server] = true;
  const Span repair = exponential(random_, static_cast<double>(spec_.failures.mean_repair.count()));
  repairs_.insert({now + repair, server});
  outages_.push_back({server, now, now + repair});
  return server;
}

std::uint32_t FailureProcess::repair() {
  const std::uint32_t server = repairs_.begin()->second;
  repairs_.erase(repairs_.begin());
  down_[server] = false;
  return server;
}

PodSchedule::PodSchedule(const std::vector<SliceJob>& jobs, const ScheduleSpec& spec, const AllocatorFactory& factory)
    : jobs_(jobs),
      spec_(spec),
      pod_(spec.pod),
      allocator_(factory, without_spares(spec.pod, spec.failures.spares)),
      failures_(spec),
      spares_(spec.pod, spec.failures.spares),
      random_(spec.seed, "order of the queue"),
      progress_(jobs.size()) {
  spares_.top_up(pod_);
  result_.jobs.resize(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) progress_[j].remaining = jobs[j].duration;
}

ScheduleResult PodSchedule::run() {
  std::size_t arrived = 0;
  std::vector<std::uint32_t> by_arrival(jobs_.size());
  for (std::uint32_t j = 0; j < jobs_.size(); ++j) by_arrival[j] = j;
  std::stable_sort(by_arrival.begin(), by_arrival.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return jobs_[a].arrival < jobs_[b].arrival; });
  std::uint64_t idle_events = 0;
  std::size_t ended = 0;
  for (std::uint64_t event = 0; arrived < by_arrival.size() || !ends_.empty() || !queue_.empty(); ++event) {
    idle_events = ends_.empty() && !queue_.empty() ? idle_events + 1 : 0;
    if (event > kMaxEvents || idle_events > kMaxIdleEvents) fail_stuck();
    constexpr Instant kNever = Instant::max();
    const Instant end = ends_.empty() ? kNever : ends_.begin()->first;
    const Instant repair = failures_.next_repair();
    const Instant failure = failures_.next_failure();
    const Instant arrival = arrived < by_arrival.size() ? jobs_[by_arrival[arrived]].arrival : kNever;
    const Instant now = std::min({end, repair, failure, arrival});
    PHOTONRAIL_CHECK(now != kNever);
    advance(now);
    if (now == end) {
      finish(ends_.begin()->second);
      if (spec_.progress) spec_.progress(++ended);
    } else if (now == repair) {
      pod_.release(server_of(spec_.pod, failures_.repair()));
      allocator_.forget();
      head_start_.reset();
    } else if (now == failure) {
      const auto server = failures_.fail(now);
      // Nothing has changed, and nothing that was refused starts because time passes, unless a running job has less left.
      if (!server && (!spec_.preempt || ends_.empty())) continue;
      if (server) fail_server(*server);
    } else {
      enqueue(by_arrival[arrived++]);
    }
    spares_.top_up(pod_);
    fill();
  }
  return account();
}

void PodSchedule::advance(Instant now) {
  const Span passed = now - now_;
  now_ = now;
  if (!blocked_) return;
  if (*blocked_ == RefusalReason::kResource) {
    result_.blocked_for_resource += passed;
    return;
  }
  result_.blocked_for_shape += passed;
  result_.stranded += static_cast<double>(passed.count()) * pod_.idle_count();
}

void PodSchedule::enqueue(std::uint32_t job) {
  Progress& progress = progress_[job];
  progress.queued = now_;
  progress.key = key_of(job);
  queue_.add(job, RequestKey(jobs_[job].request), progress.key);
}

void PodSchedule::start(std::uint32_t job, Placement slice) {
  Progress& progress = progress_[job];
  JobOutcome& outcome = result_.jobs[job];
  queue_.remove(job, RequestKey(jobs_[job].request), progress.key);
  outcome.waiting += now_ - progress.queued;
  pod_.take(slice);
  progress.overhead = spec_.reconfiguration + (outcome.start ? spec_.failures.restart : Span{});
  if (!outcome.start) outcome.start = now_;
  progress.started = now_;
  progress.slice = std::move(slice);
  progress.share = share_of(job);
  progress.stretch = stretch_of(progress.share);
  const auto stretched = Span{std::llround(std::ceil(static_cast<double>(progress.remaining.count()) * progress.stretch))};
  progress.end = now_ + progress.overhead + (progress.stretch == 1.0 ? progress.remaining : stretched);
  ends_.insert({progress.end, job});
}

double PodSchedule::share_of(std::uint32_t job) const {
  const SliceFabric fabric = allocator_.fabric();
  const bool torus = fabric == SliceFabric::kTorus;
  const Placement& slice = progress_[job].slice;
  double share = 1.0;
  if (spec_.fixed_egress && (torus || fabric == SliceFabric::kCubes) && slice.shape.size() > 1) {
    share = egress_of(slice.shape, spec_.pod.block);
  }
  if (spec_.shared_links && torus) {
    std::vector<Placement> slices{slice};
    for (const auto& [end, other] : ends_) slices.push_back(progress_[other].slice);
    share *= torus_shares(spec_.pod, slices).front();
  }
  return share;
}

double PodSchedule::stretch_of(double share) const {
  if (share == 1.0) return 1.0;
  const double stretch = spec_.stretch ? spec_.stretch(share) : 1.0 / share;
  if (!(stretch >= 1.0) || !std::isfinite(stretch))
    throw ConfigError("stretch", "a share of the bandwidth makes a job shorter");
  return stretch;
}

void PodSchedule::leave(std::uint32_t job, RunEnd how) {
  Progress& progress = progress_[job];
  ends_.erase({progress.end, job});
  pod_.release(progress.slice);
  allocator_.forget();
  head_start_.reset();
  const std::uint32_t accelerators = progress.slice.shape.size();
  busy_ += static_cast<double>((now_ - progress.started).count()) * accelerators;
  result_.runs.push_back({job, progress.started, now_, how, progress.share, accelerators, {}});
  if (result_.runs.size() <= kKeptSlices) result_.runs.back().slice = std::move(progress.slice);
  progress.slice = {};
}

void PodSchedule::finish(std::uint32_t job) {
  leave(job, RunEnd::kDone);
  result_.jobs[job].end = now_;
  result_.makespan = now_;
}

Span PodSchedule::left_if_stopped(std::uint32_t job) const {
  const Progress& progress = progress_[job];
  const Span ran = std::max(Span{}, now_ - progress.started - progress.overhead);
  Span done{static_cast<std::int64_t>(static_cast<double>(ran.count()) / progress.stretch)};
  if (const Span every = spec_.failures.checkpoint; every.count() > 0) done -= done % every;
  return std::max(Span{1}, progress.remaining - done);
}

void PodSchedule::stop(std::uint32_t job, RunEnd how) {
  progress_[job].remaining = left_if_stopped(job);
  leave(job, how);
  if (++result_.jobs[job].stops > kMaxStops) fail_stuck();
  enqueue(job);
}

void PodSchedule::fail_stuck() const {
  std::vector<std::string> stuck;
  for (std::uint32_t j = 0; j < jobs_.size() && stuck.size() < 10; ++j) {
    const JobOutcome& job = result_.jobs[j];
    const SliceRequest& request = jobs_[j].request;
    const auto group = queue_.groups().find(RequestKey(request));
    const bool waits = group != queue_.groups().end() && group->second.contains({progress_[j].key, j});
    if (!waits && job.stops <= kMaxStops) continue;
    const std::string wants =
        request.shape ? request.shape->text() : std::to_string(request.accelerators) + " accelerators";
    stuck.push_back("job " + std::to_string(j) + " (" + wants + ") " +
                    (job.stops > kMaxStops
                         ? "was stopped " + core::counted(job.stops, "time") + ": failures come faster than its checkpoints"
                         : "waits for a slice that failed servers never leave whole"));
  }
  if (stuck.empty())
    stuck.push_back("the stream has more than " + std::to_string(kMaxEvents) + " events: servers fail too often");
  throw DeadlockError(stuck);
}

void PodSchedule::fail_server(std::uint32_t server) {
  const std::vector<std::uint32_t> members = server_of(spec_.pod, server);
  std::vector<std::uint32_t> hit;
  for (const auto& [end, job] : ends_) {
    const std::vector<std::uint32_t>& own = progress_[job].slice.accelerators;
    const bool touched = std::any_of(
        own.begin(), own.end(), [&](std::uint32_t a) { return std::binary_search(members.begin(), members.end(), a); });
    if (touched) hit.push_back(job);
  }
  std::size_t idled = 0;
  for (const std::uint32_t job : hit) {
    idled += progress_[job].slice.accelerators.size();
    stop(job, RunEnd::kFailure);
  }
  result_.blast_radius += static_cast<double>(std::max(idled, members.size()));
  spares_.give_up(pod_, members);
  pod_.take(members);
  if (spares_.empty()) return;
  allocator_.forget();
  head_start_.reset();
  for (const std::uint32_t job : hit) restart_on_spares(job);
}

void PodSchedule::restart_on_spares(std::uint32_t job) {
  const SliceRequest& request = jobs_[job].request;
  auto slice = allocator_.try_in(pod_, request);
  if (!slice) {
    Pod with = pod_;
    spares_.lend(with);
    slice = allocator_.try_in(with, request);
    if (!slice) return;
    spares_.give_up(pod_, slice->accelerators);
  }
  ++result_.restarts_at_once;
  start(job, *std::move(slice));
}

ScheduleResult PodSchedule::account() {
  const double all = static_cast<double>(std::max<std::int64_t>(1, result_.makespan.count())) * pod_.size();
  double useful = 0.0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    if (!result_.jobs[j].end) continue;
    useful += static_cast<double>(jobs_[j].duration.count()) * jobs_[j].request.accelerators;
  }
  result_.utilisation = busy_ / all;
  result_.goodput = useful / all;
  result_.stranded /= all;
  result_.outages = failures_.outages();
  result_.decisions = allocator_.decisions();
  if (!result_.outages.empty()) result_.blast_radius /= static_cast<double>(result_.outages.size());
  if (!result_.runs.empty()) {
    double shares = 0.0;
    for (const SliceRun& run : result_.runs) shares += run.share;
    result_.mean_share = shares / static_cast<double>(result_.runs.size());
  }
  const std::vector<double> seconds = completions(result_, jobs_);
  for (const JobOutcome& job : result_.jobs) {
    if (job.end)
      result_.times.mean_waiting += static_cast<double>(job.waiting.count()) / 1e6 / static_cast<double>(seconds.size());
  }
  for (const double s : seconds) result_.times.mean_completion += s / static_cast<double>(seconds.size());
  if (const std::size_t n = seconds.size(); n > 0) {
    result_.times.median_completion = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
  }
  return std::move(result_);
}

ScheduleResult schedule_jobs(const std::vector<SliceJob>& jobs, const ScheduleSpec& spec, const AllocatorFactory& factory) {
  spec.pod.check();
  check_schedule(jobs, spec);
  return PodSchedule(jobs, spec, factory).run();
}

}  // namespace photonrail::slices
