#include "photonrail/study/goodput/spec.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "studies/goodput/process/formulas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace photonrail::goodput {

namespace {

using core::field;
using core::require;

// What a file of a few bytes may ask for: memory of a history is in proportion to the parts, its time to the failures.
constexpr std::uint32_t kMaxServers = 1'000'000;
constexpr std::uint64_t kMaxParts = 1U << 24;
constexpr double kMaxDays = 36500.0;
constexpr double kMaxFailures = 1e8;

void check_source(const GoodputSpec& spec, const FailureSource& source, std::size_t i) {
  const int shapes = (source.per_server != 0) + (source.servers_per_part != 0) + (source.parts != 0);
  require(shapes == 1, field("failures[].of", i),
          "the parts are to be counted by server, by group or for the whole cluster", "give one of the three");
  std::uint64_t parts = source.parts;
  if (source.per_server != 0) parts = std::uint64_t{source.per_server} * spec.servers();
  require(parts <= kMaxParts, field("failures[].of", i),
          "there are more than " + std::to_string(kMaxParts) + " such parts");
  core::check_member(field("failures[]", i), [&] {
    source.time_to_failure.validate("time_to_failure");
    source.detection.validate("detection");
    source.repair.validate("repair");
  });
  require(source.time_to_failure.mean() > 0.0, field("failures[].time_to_failure", i), "must not be 0");
  const double failures =
      static_cast<double>(std::max<std::uint64_t>(parts, 1)) * spec.days * 86400.0 / source.time_to_failure.mean();
  require(failures <= kMaxFailures, field("failures[].time_to_failure", i), "a history would have more than 1e8 failures",
          "a longer time to failure, or a shorter history");
  require(std::isfinite(source.factor) && source.factor >= 1.0 && source.factor <= 1e6, field("failures[].factor", i),
          "must be from 1 to 1e6");
  require(source.effect != FailureEffect::kSlow || source.degradation != Degradation::kNone,
          field("failures[].degradation", i), "a failure that slows the job down must say how");
  require(source.effect != FailureEffect::kSilent || source.degradation == Degradation::kNone,
          field("failures[].degradation", i), "wrong results do not change the step");
  const bool cluster_part = source.parts != 0;
  const bool needs_cluster = source.degradation == Degradation::kPlane || source.degradation == Degradation::kUplinks;
  require(source.degradation == Degradation::kNone || source.degradation == Degradation::kNicRate ||
              cluster_part == needs_cluster,
          field("failures[].degradation", i),
          "does not fit the part: planes and uplinks are of the cluster, others of a server");
  require(source.degradation == Degradation::kNone || source.servers_per_part == 0, field("failures[].degradation", i),
          "groups of servers fail as a whole");
}

void check_recovery(const GoodputSpec& spec) {
  for (std::size_t i = 0; i < spec.recovery.size(); ++i) {
    const RecoveryOption& option = spec.recovery[i];
    for (const auto* stages : {&option.stages, &option.rejoin}) {
      for (const Stage& stage : *stages) {
        core::check_member(field("recovery[]", i), [&] { stage.time.validate("stages"); });
      }
    }
    for (const std::string& name : option.sources) {
      const bool known =
          std::any_of(spec.failures.begin(), spec.failures.end(), [&](const FailureSource& s) { return s.name == name; });
      require(known, field("recovery[].sources", i), "there is no failure \"" + name + "\"");
    }
  }
  // Of a failure that no other option fits, so that a history never ends in a state without an answer.
  const bool waits = std::any_of(spec.recovery.begin(), spec.recovery.end(), [](const RecoveryOption& o) {
    return o.action == RecoveryAction::kWait && o.sources.empty();
  });
  require(waits, field("recovery"), "has no option \"wait\" for all failures", "add it as the last");
}

void check_trace(const GoodputSpec& spec) {
  if (!spec.trace) return;
  core::check_member(field("trace"), [&] { spec.trace->detection.validate("detection"); });
  double before = 0.0;
  for (std::size_t i = 0; i < spec.trace->faults.size(); ++i) {
    const TraceFault& fault = spec.trace->faults[i];
    require(std::isfinite(fault.start_d) && fault.start_d >= before && fault.end_d >= fault.start_d && fault.end_d <= 1e6,
            field("trace.faults[]", i),
            "must begin no earlier than the fault before it, and end no earlier than it begins");
    require(
        fault.server < spec.servers(), field("trace.faults[]", i),
        "there is no server " + std::to_string(fault.server) + ": job and spares have " + std::to_string(spec.servers()));
    before = fault.start_d;
  }
}

}  // namespace

std::uint32_t GoodputSpec::racks() const {
  if (spares.servers_per_rack == 0) return 1;
  return (job.servers + spares.servers_per_rack - 1) / spares.servers_per_rack;
}

std::uint32_t GoodputSpec::servers() const { return job.servers + racks() * spares.per_rack + spares.anywhere; }

std::uint32_t GoodputSpec::parts_of(const FailureSource& source) const {
  if (source.per_server != 0) return source.per_server * servers();
  if (source.servers_per_part != 0) return (job.servers + source.servers_per_part - 1) / source.servers_per_part;
  return source.parts;
}

double GoodputSpec::job_mttf_s() const {
  double rate = 0.0;
  for (const FailureSource& source : failures) {
    if (source.effect == FailureEffect::kSlow) continue;
    const std::uint32_t parts = source.per_server != 0 ? source.per_server * job.servers : parts_of(source);
    rate += parts / source.time_to_failure.mean();
  }
  if (trace) {
    const double on_job = static_cast<double>(trace->faults.size()) * job.servers / servers();
    rate += on_job / (days * 86400.0);
  }
  return rate > 0.0 ? 1.0 / rate : std::numeric_limits<double>::infinity();
}

std::int64_t GoodputSpec::steps_between_checkpoints(Duration step) const {
  constexpr double kMaxSteps = 1e15;  // no failure, no checkpoint
  const double m = job_mttf_s();
  double interval = checkpoint.interval_s;
  if (checkpoint.rule != IntervalRule::kFixed && std::isinf(m)) return static_cast<std::int64_t>(kMaxSteps);
  if (checkpoint.rule == IntervalRule::kYoung) interval = young_interval_s(checkpoint.stall_s, m);
  if (checkpoint.rule == IntervalRule::kDaly) interval = daly_interval_s(checkpoint.stall_s, m);
  if (checkpoint.rule == IntervalRule::kOptimal) interval = optimal_interval_s(checkpoint.stall_s, m);
  interval = std::max(interval, checkpoint.copy_s);
  const double whole = step > Duration{} ? std::round(interval / to_seconds(step)) : kMaxSteps;
  return static_cast<std::int64_t>(std::clamp(whole, 1.0, kMaxSteps));
}

void GoodputSpec::validate() const {
  require(job.servers >= 1 && job.servers <= kMaxServers, field("job.servers"), "must be from 1 to 1,000,000");
  require(job.gpus_per_server >= 1 && job.gpus_per_server <= 1024, field("job.gpus_per_server"), "must be from 1 to 1,024");
  require(job.replicas >= 1 && job.servers % std::max(job.replicas, 1U) == 0, field("job.replicas"),
          "must divide the servers of the job: a replica has whole servers");
  require(job.min_replicas >= 1 && job.min_replicas <= job.replicas, field("job.min_replicas"),
          "must be from 1 to the number of replicas");
  require(spares.servers_per_rack <= job.servers, field("spares.servers_per_rack"), "is more than the servers of the job");
  require(spares.per_rack <= 1000 && spares.anywhere <= kMaxServers, field("spares"), "are too many");
  require(std::uint64_t{racks()} * spares.per_rack + job.servers + spares.anywhere <= kMaxServers, field("spares"),
          "job and spares have more than 1,000,000 servers");
  require(days > 0.0 && days <= kMaxDays, field("days"), "must be more than 0 and at most 36,500");
  require(steps >= 0, field("steps"), "must not be negative");
  require(seeds >= 1 && seeds <= 10'000'000, field("seeds"), "must be from 1 to 10,000,000");
  require(failures.size() <= 1000, field("failures"), "has more than 1,000 entries");
  for (std::size_t i = 0; i < failures.size(); ++i) check_source(*this, failures[i], i);
  check_trace(*this);
  require(server_spread == 0.0 || (server_spread >= 0.01 && server_spread <= 1e6), field("server_spread"),
          "must be 0 or from 0.01 to 1e6");
  for (const double s : {checkpoint.interval_s, checkpoint.stall_s, checkpoint.copy_s}) {
    require(std::isfinite(s) && s >= 0.0 && s <= 1e9, field("checkpoint"), "its times must be from 0 to 1e9 s");
  }
  check_recovery(*this);
  require(maintenance.every_d == 0.0 || maintenance.every_d >= 1e-3, field("maintenance.every_d"),
          "must be 0 or at least 0.001");
  core::check_member(field("maintenance"), [&] { maintenance.lasts.validate("lasts"); });
}

}  // namespace photonrail::goodput
