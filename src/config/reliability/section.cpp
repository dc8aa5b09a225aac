// The "reliability" section: the job over months.
#include "config/reliability_parts.hpp"
#include "config/scenario_parts.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace photonrail::config {

namespace {

using reliability::GoodputSpec;
using reliability::IntervalRule;
using reliability::RecoveryAction;
using reliability::RecoveryOption;
using reliability::Rollback;
using reliability::Stage;

void read_shape(const std::optional<JsonReader>& section, const ReliabilityContext& context, reliability::JobShape& job) {
  job.gpus_per_server = context.cluster ? context.cluster->gpus_per_server : 8;
  if (context.ranks > 0) {
    job.servers = static_cast<std::uint32_t>((context.ranks + job.gpus_per_server - 1) / job.gpus_per_server);
  }
  if (!section) return;
  JsonReader at = *section;
  if (context.ranks > 0) {
    for (const char* key : {"servers", "gpus_per_server"}) {
      at.refuse(key, "is that of the simulated job", "remove it, or give \"step_s\" in place of a simulated step");
    }
  } else {
    job.servers = at.child("servers", "servers of the job").count(1, 1'000'000);
    if (const auto v = at.optional("gpus_per_server")) job.gpus_per_server = v->count(1, 1024);
  }
  if (const auto v = at.optional("replicas")) job.replicas = v->count(1, 1'000'000);
  if (const auto v = at.optional("min_replicas")) job.min_replicas = v->count(1, 1'000'000);
  at.finish();
}

void read_spares(JsonReader section, reliability::Spares& spares) {
  if (const auto v = section.optional("servers_per_rack")) spares.servers_per_rack = v->count(0, 1'000'000);
  if (const auto v = section.optional("per_rack")) spares.per_rack = v->count(0, 1000);
  if (const auto v = section.optional("anywhere")) spares.anywhere = v->count(0, 1'000'000);
  section.finish();
}

reliability::FaultTrace read_trace(JsonReader section, const std::filesystem::path& directory) {
  reliability::FaultTrace trace;
  const JsonReader file = section.child("file", "a CSV or JSON file of faults");
  std::set<std::string> without;
  if (const auto v = section.optional("without")) {
    for (const JsonReader& cause : v->elements()) without.insert(cause.string());
  }
  if (const auto v = section.optional("shuffle")) trace.shuffle = v->boolean();
  if (const auto v = read_random_time(section, "detection", directory)) trace.detection = *v;
  section.finish();
  const std::filesystem::path path = read_path(file, directory);
  try {
    trace.faults = reliability::read_faults(path);
  } catch (const ConfigError& e) {
    throw e.inside(file.pointer());
  }
  std::erase_if(trace.faults, [&](const reliability::TraceFault& fault) { return without.contains(fault.cause); });
  return trace;
}

void read_checkpointing(JsonReader section, bool simulated, reliability::Checkpointing& into) {
  for (const char* key : {"stall_s", "copy_s"}) {
    if (simulated) section.refuse(key, "is simulated: /workload/checkpoint says what is saved", "remove one of the two");
  }
  const auto seconds = section.optional("interval_s");
  const auto rule = section.optional("interval");
  if (seconds.has_value() == rule.has_value()) section.fail("needs exactly one of \"interval_s\", \"interval\"");
  if (seconds) into.interval_s = seconds->positive(1e9);
  if (rule) {
    into.rule = rule->choice<IntervalRule>(
        {{"young", IntervalRule::kYoung}, {"daly", IntervalRule::kDaly}, {"optimal", IntervalRule::kOptimal}});
  }
  if (const auto v = section.optional("stall_s")) into.stall_s = v->number(0.0, 1e9);
  if (const auto v = section.optional("copy_s")) into.copy_s = v->number(0.0, 1e9);
  section.finish();
}

std::vector<Stage> read_stages(const JsonReader& list, const std::filesystem::path& directory) {
  std::vector<Stage> stages;
  for (const JsonReader& element : list.elements()) {
    JsonReader at = element;
    Stage stage;
    if (const auto v = at.optional("name")) stage.name = v->string();
    const auto time = read_random_time(at, "time", directory);
    if (!time) at.fail_at("time_s", "missing", "the length of the stage (any of _s, _h, _d)");
    stage.time = *time;
    at.finish();
    stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace

RecoveryOption read_recovery_option(JsonReader section, const std::filesystem::path& directory) {
  RecoveryOption option;
  const JsonReader action = section.child("action");
  option.name = action.string();
  option.action = action.choice<RecoveryAction>({{"restart", RecoveryAction::kRestart},
                                                 {"swap_in_rack", RecoveryAction::kSwapInRack},
                                                 {"swap", RecoveryAction::kSwap},
                                                 {"move_rack", RecoveryAction::kMoveRack},
                                                 {"drop_replica", RecoveryAction::kDropReplica},
                                                 {"wait", RecoveryAction::kWait}});
  if (const auto v = section.optional("name")) option.name = v->string();
  if (const auto v = section.optional("rollback")) {
    option.rollback = v->choice<Rollback>({{"step", Rollback::kStep}, {"checkpoint", Rollback::kCheckpoint}});
  }
  if (const auto v = section.optional("stages")) option.stages = read_stages(*v, directory);
  if (option.action == RecoveryAction::kDropReplica) {
    if (const auto v = section.optional("rejoin")) option.rejoin = read_stages(*v, directory);
  }
  if (const auto v = section.optional("sources")) {
    for (const JsonReader& name : v->elements()) option.sources.push_back(name.string());
  }
  if (const auto v = section.optional("for_slow")) option.for_slow = v->boolean();
  section.finish();
  return option;
}

reliability::GoodputSpec read_reliability(JsonReader section, const ReliabilityContext& context,
                                          std::optional<Duration>& step) {
  GoodputSpec spec;
  step = section.duration("step", "s");
  read_shape(section.optional("job"), context, spec.job);
  if (const auto v = section.optional("days")) spec.days = v->positive(36500.0);
  if (const auto v = section.optional("steps")) spec.steps = static_cast<std::int64_t>(v->integer(1, 1'000'000'000'000));
  if (const auto v = section.optional("seeds")) spec.seeds = v->count(1, 10'000'000);
  if (const auto v = section.optional("first_seed"))
    spec.first_seed = v->integer(0, std::numeric_limits<std::int64_t>::max());
  if (const auto v = section.optional("spares")) read_spares(*v, spec.spares);
  if (const auto v = section.optional("failures")) {
    for (const JsonReader& failure : v->elements()) spec.failures.push_back(read_failure(failure, context, spec.job));
  }
  if (const auto v = section.optional("trace")) spec.trace = read_trace(*v, context.directory);
  if (const auto v = section.optional("server_spread")) spec.server_spread = v->number(0.0, 1e6);
  if (const auto v = section.optional("checkpoint")) read_checkpointing(*v, context.simulated_checkpoint, spec.checkpoint);
  if (const auto v = section.optional("policy")) spec.policy = v->string();
  if (const auto v = section.optional("spare_placement")) spec.spare_placement = v->string();
  const JsonReader recovery = section.child("recovery", "the options of a recovery, at least {\"action\": \"wait\"}");
  for (const JsonReader& option : recovery.elements())
    spec.recovery.push_back(read_recovery_option(option, context.directory));
  if (const auto v = section.optional("maintenance")) {
    JsonReader at = *v;
    spec.maintenance.every_d = at.child("every_d").positive(36500.0);
    const auto lasts = read_random_time(at, "lasts", context.directory);
    if (lasts) spec.maintenance.lasts = *lasts;
    at.finish();
  }
  section.finish();
  in_section(section, reliability_keys(), [&] { spec.validate(); });
  return spec;
}

}  // namespace photonrail::config
