// The "reliability" section: the job over months.
#include "studies/goodput/section/section.hpp"
#include "core/inside.hpp"

#include "fields/places.hpp"
#include "formats/path.hpp"

#include <set>

namespace photonrail::goodput {

namespace {

using fields::context_of;
using fields::Field;
using fields::FileContext;
using fields::folder_of;
using fields::into;
using fields::kPathShape;
using fields::Reading;
using fields::Shape;
using fields::Word;

/// The values that lines of the tables take from the file.
struct SectionContext : FileContext {
  SectionContext(const ReliabilityContext& of, std::optional<Duration>& length)
      : FileContext(of.directory), context(of), step(length) {}
  const ReliabilityContext& context;
  std::optional<Duration>& step;
};

constexpr Field kServerFields[] = {
    fields::count<&JobShape::servers>("servers", 1, 1'000'000, "Servers of the job.")
        .or_else("required with `step_s`; else those of the simulated job"),
    fields::count<&JobShape::gpus_per_server>("gpus_per_server", 1, 1024, "GPUs of a server.").or_else("8"),
};
constexpr Section kServers{kServerFields};

// The size of a simulated job is known.
void read_servers(const Reading& at) {
  if (context_of<SectionContext>(at).context.ranks == 0) {
    static_cast<void>(at.section.child("servers", "servers of the job"));
    fields::read_open(at.section, kServers, at.into, at.context);
    return;
  }
  for (const char* key : {"servers", "gpus_per_server"}) {
    at.section.refuse(key, "is that of the simulated job", "remove it, or give \"step_s\" in place of a simulated step");
  }
}

constexpr Field kJobFields[] = {
    fields::include<kServers>().read_by(read_servers),
    fields::count<&JobShape::replicas>(
        "replicas", 1, 1'000'000, "Data-parallel replicas of whole servers, one after another; a divisor of the servers.")
        .or_else("1"),
    fields::count<&JobShape::min_replicas>("min_replicas", 1, 1'000'000, "With fewer replicas the job cannot go on.")
        .or_else("1"),
};
constexpr Section kJob{kJobFields};

constexpr Field kSpareFields[] = {
    fields::count<&Spares::servers_per_rack>("servers_per_rack", 0, 1'000'000, "Servers of the job in a rack; 0: one rack.")
        .or_else("0"),
    fields::count<&Spares::per_rack>("per_rack", 0, 1000, "Spare servers in each rack.").or_else("0"),
    fields::count<&Spares::anywhere>("anywhere", 0, 1'000'000, "Spare servers in racks of their own.").or_else("0"),
};
constexpr Section kSpares{kSpareFields};

/// A trace and the causes that it leaves out.
struct TraceEntry {
  FaultTrace trace;
  std::optional<JsonReader> file{};
  std::set<std::string> without{};
};

constexpr Shape kText = fields::text_shape();
constexpr Field kTraceFields[] = {
    fields::own(
        "file", kPathShape, [](const Reading& at) { into<TraceEntry>(at).file = at.value; },
        "A CSV or JSON file of faults.")
        .by("")
        .must("a CSV or JSON file of faults"),
    fields::own(
        "without", fields::list_shape(kText),
        [](const Reading& at) {
          for (const JsonReader& cause : at.value.elements()) into<TraceEntry>(at).without.insert(cause.string());
        },
        "Causes that are left out.")
        .or_else("`[]`"),
    fields::flag<&TraceEntry::trace, &FaultTrace::shuffle>("shuffle", "Other places for each seed.").or_else("true"),
    random_time<&TraceEntry::trace, &FaultTrace::detection>("detection", "s", "Until a fault is known.").or_else("0"),
};
constexpr fields::Alias kTraceAliases[] = {{"faults[]", "file"}};
constexpr Section kTrace{kTraceFields, nullptr, kTraceAliases};

void store_trace(const Reading& at) {
  TraceEntry entry;
  fields::read(at.value, kTrace, &entry, at.context);
  const std::filesystem::path path = formats::read_path(*entry.file, folder_of(at));
  core::inside(entry.file->pointer(), [&] { entry.trace.faults = read_faults(path); });
  std::erase_if(entry.trace.faults, [&](const TraceFault& fault) { return entry.without.contains(fault.cause); });
  into<GoodputSpec>(at).trace = std::move(entry.trace);
}

constexpr Word<IntervalRule> kRules[] = {
    {"young", IntervalRule::kYoung}, {"daly", IntervalRule::kDaly}, {"optimal", IntervalRule::kOptimal}};

// Keys whose values the step simulator gives are refused; of the interval and its rule exactly one is.
void refuse_simulated(const Reading& at) {
  const bool simulated = context_of<SectionContext>(at).context.simulated_checkpoint;
  for (const char* key : {"stall_s", "copy_s"}) {
    if (!simulated) break;
    at.section.refuse(key, "is simulated: /workload/checkpoint says what is saved", "remove one of the two");
  }
  if (at.section.has("interval_s") == at.section.has("interval"))
    at.section.fail("needs exactly one of \"interval_s\", \"interval\"");
}

constexpr Field kCheckpointingFields[] = {
    fields::then(refuse_simulated),
    fields::positive<&Checkpointing::interval_s>("interval_s", 1e9, "From checkpoint to checkpoint.")
        .or_else("of `interval_s` and `interval` one is needed; without the section 3600"),
    fields::word<kRules, &Checkpointing::rule>("interval", "The rule of the interval.").by("rule"),
    fields::number<&Checkpointing::stall_s>("stall_s", 0.0, 1e9, "The job stands still for it.").or_else("0"),
    fields::number<&Checkpointing::copy_s>("copy_s", 0.0, 1e9, "Until the checkpoint is of use.").or_else("0"),
};
constexpr Section kCheckpointing{kCheckpointingFields};

constexpr Field kStageFields[] = {
    fields::text<&Stage::name>("name", "Its name in results.").or_else("none"),
    random_time<&Stage::time>("time", "s", "How long it takes.").must("the length of the stage (any of _s, _h, _d)"),
};
constexpr Section kStage{kStageFields};

constexpr Word<RecoveryAction> kActions[] = {{"restart", RecoveryAction::kRestart},
                                             {"swap_in_rack", RecoveryAction::kSwapInRack},
                                             {"swap", RecoveryAction::kSwap},
                                             {"move_rack", RecoveryAction::kMoveRack},
                                             {"drop_replica", RecoveryAction::kDropReplica},
                                             {"wait", RecoveryAction::kWait}};
constexpr Word<Rollback> kRollbacks[] = {{"step", Rollback::kStep}, {"checkpoint", Rollback::kCheckpoint}};
constexpr Field kRecoveryFields[] = {
    fields::own(
        "action", fields::text_shape(fields::words_of<kActions>),
        [](const Reading& at) {
          auto& option = into<RecoveryOption>(at);
          option.name = at.value.string();
          option.action = fields::meaning<kActions>(at.value);
        },
        "What is done about the failure.")
        .must(),
    fields::text<&RecoveryOption::name>("name", "Its name in results.").or_else("`action`"),
    fields::word<kRollbacks, &RecoveryOption::rollback>("rollback", "What is lost: the step, or all since a checkpoint.")
        .or_else("`\"checkpoint\"`"),
    fields::parts<kStage, &RecoveryOption::stages>("stages", "What it takes, one after another.").or_else("`[]`"),
    fields::parts<kStage, &RecoveryOption::rejoin>("rejoin", "What the way back takes.")
        .only_if("action=drop_replica")
        .or_else("`[]`"),
    fields::own(
        "sources", fields::list_shape(kText),
        [](const Reading& at) {
          for (const JsonReader& name : at.value.elements()) into<RecoveryOption>(at).sources.push_back(name.string());
        },
        "Failures that it is for, by their names.")
        .or_else("all"),
    fields::flag<&RecoveryOption::for_slow>("for_slow", "Also for slow parts, once detected.").or_else("false"),
};
constexpr Section kRecovery{kRecoveryFields};

constexpr Field kMaintenanceFields[] = {
    fields::positive<&Maintenance::every_d>("every_d", 36500.0, "From one to the next.").must(),
    random_time<&Maintenance::lasts>("lasts", "h", "How long it takes.").or_else("0"),
};
constexpr Section kMaintenance{kMaintenanceFields};

constexpr Shape kFailures = fields::list_shape(fields::kObjectOf<kFailureSection>);
constexpr Field kReliabilityFields[] = {
    fields::own_time(
        "step", "s", fields::kTimeUnits, fields::time_shape(),
        [](const Reading& at) { context_of<SectionContext>(at).step = duration_of(at); },
        "The length of a step, in place of a simulated one.")
        .by("")
        .or_else("simulated"),
    fields::part<kJob, &GoodputSpec::job>("job", "The size of the job."),
    fields::positive<&GoodputSpec::days>("days", 36500.0, "Length of a history.").or_else("30"),
    fields::count<&GoodputSpec::steps>("steps", 1, 1e12, "A history ends when these are done.").or_else("none"),
    fields::count<&GoodputSpec::seeds>("seeds", 1, 10'000'000, "How many histories.").or_else("100"),
    fields::count<&GoodputSpec::first_seed>("first_seed", 0, 0x1p63, "The seed of the first.").or_else("1"),
    fields::part<kSpares, &GoodputSpec::spares>("spares", "Servers that wait for failures.").or_else("none"),
    fields::own(
        "failures", kFailures,
        [](const Reading& at) {
          auto& spec = into<GoodputSpec>(at);
          for (const JsonReader& failure : at.value.elements()) {
            spec.failures.push_back(read_failure(failure, context_of<SectionContext>(at).context, spec.job));
          }
        },
        "What fails, how often, with what effect.")
        .or_else("none"),
    fields::own("trace", fields::object_shape(kTrace), store_trace, "Faults that were recorded.").or_else("none"),
    fields::number<&GoodputSpec::server_spread>(
        "server_spread", 0.0, 1e6, "Shape of the gamma distribution of servers' rates, 0.01 or more; 0: all alike.")
        .or_else("0"),
    fields::part<kCheckpointing, &GoodputSpec::checkpoint>("checkpoint", "How often the job saves its state."),
    fields::text<&GoodputSpec::policy>("policy", "Which recovery is taken: a name of the page on goodput.")
        .or_else("`in_order`"),
    fields::text<&GoodputSpec::spare_placement>("spare_placement", "Which spare is taken.").or_else("`same_rack_first`"),
    fields::parts<kRecovery, &GoodputSpec::recovery>("recovery",
                                                     "The options of a recovery; one of them is `wait` for all failures.")
        .must("the options of a recovery, at least {\"action\": \"wait\"}"),
    fields::part<kMaintenance, &GoodputSpec::maintenance>("maintenance", "Times when the job stands still.")
        .or_else("none"),
};

}  // namespace

constexpr Section kReliabilitySection{kReliabilityFields};

GoodputSpec read_reliability(JsonReader section, const ReliabilityContext& context, std::optional<Duration>& step) {
  GoodputSpec spec;
  spec.job.gpus_per_server = context.cluster ? context.cluster->gpus_per_server : 8;
  if (context.ranks > 0) {
    spec.job.servers =
        static_cast<std::uint32_t>((context.ranks + spec.job.gpus_per_server - 1) / spec.job.gpus_per_server);
  }
  const SectionContext of_section(context, step);
  fields::read(section, kReliabilitySection, &spec, &of_section);
  in_section(section, kReliabilitySection, [&] { spec.validate(); });
  return spec;
}

}  // namespace photonrail::goodput
