// `photonrail.allocation/1`: the table of its keys, and what relates them.
#include "studies/slices/reader.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "json/in_file.hpp"
#include "studies/slices/study.hpp"

#include <algorithm>
#include <bit>

namespace photonrail::slices {

namespace {

using fields::Field;
using fields::Reading;
using fields::Word;

// The run, the pod and how its jobs are scheduled.

constexpr Field kStudyRunFields[] = {
    fields::count<&AllocationStudy::schedule, &ScheduleSpec::seed>("seed", 0, 0x1p64, "What is drawn depends on it.")
        .or_else("1"),
};
constexpr Section kStudyRun{kStudyRunFields};

constexpr Field kPodFileFields[] = {
    fields::own(
        "torus", kBoxShape, [](const Reading& at) { into<PodSpec>(at).torus = read_shape(at.value); },
        "Its sides, one to three, at most 2^20 accelerators.")
        .must("its sides, such as [16, 16, 16]"),
    fields::include<kPodSection>(),
};
constexpr Section kPodFile{kPodFileFields};

std::vector<std::string> order_words(const Registries& /*known*/) { return {"fifo", "backfill", "srsf", "irs", "random"}; }

QueueOrder read_order(const JsonReader& value) {
  return value.choice<QueueOrder>({{"fifo", QueueOrder::kFifo},
                                   {"backfill", QueueOrder::kBackfill},
                                   {"srsf", QueueOrder::kShortestService},
                                   {"irs", QueueOrder::kScarcestShape},
                                   {"random", QueueOrder::kRandom}});
}

constexpr double kNoSpares = kMaxAccelerators;
template <Spares::Kind Kind>
constexpr Field spares_of(std::string_view key, std::string_view doc) {
  return fields::own(
      key, fields::whole_shape(1, kNoSpares),
      [](const Reading& at) {
        into<Spares>(at) = {static_cast<std::uint32_t>(whole_of(at)), Kind};
      },
      doc);
}
constexpr Field kSparesFields[] = {
    fields::then([](const Reading& at) {
      if (at.section.has("servers_per_rack") == at.section.has("racks"))
        at.section.fail("needs one kind of spares", "\"servers_per_rack\" or \"racks\"");
    }),
    spares_of<Spares::Kind::kServersOfRack>("servers_per_rack", "Servers of each rack, a cube of the pod.")
        .or_else("of `servers_per_rack` and `racks` one is needed"),
    spares_of<Spares::Kind::kRacks>("racks", "Whole racks of the pod."),
};
constexpr Section kSpares{kSparesFields};

void check_failures(const Reading& at) {
  const auto& failures = into<ServerFailures>(at);
  if (failures.mean_between.count() == 0 || failures.mean_repair.count() == 0)
    at.section.fail("needs mean_between and mean_repair above 0");
}

constexpr Field kFailuresFields[] = {
    span<&ServerFailures::mean_between>("mean_between", "h", "Mean time between failures of one server.").must_later(),
    span<&ServerFailures::mean_repair>("mean_repair", "h", "Mean time of a repair.").must_later(),
    span<&ServerFailures::checkpoint>("checkpoint", "s",
                                      "A job that is stopped loses what it did since a multiple of this.")
        .or_else("0: nothing is lost"),
    span<&ServerFailures::restart>("restart", "s", "Added to each start after the first.").or_else("0"),
    fields::part<kSpares, &ServerFailures::spares>("spares", "Servers that wait for jobs that a failure stops.")
        .or_else("none"),
};
constexpr Section kFailures{kFailuresFields, check_failures};

constexpr Word<ImpossibleJobs> kImpossible[] = {{"skip", ImpossibleJobs::kSkip},
                                                {"wait_for_empty", ImpossibleJobs::kBlockUntilEmpty}};

constexpr fields::Shape kPolicy = fields::text_shape(allocator_words);
constexpr fields::Shape kOrder = fields::text_shape(order_words);

void store_policies(const Reading& at) {
  auto& study = into<AllocationStudy>(at);
  for (const JsonReader& policy : at.value.elements()) {
    study.policies.push_back(read_policy(policy, study_context(at).known, study.schedule.pod));
    if (std::count(study.policies.begin(), study.policies.end(), study.policies.back()) > 1) policy.fail("is named twice");
  }
}

void store_step(const Reading& at) {
  auto& study = into<AllocationStudy>(at);
  study.step = formats::read_path(at.value, folder_of(at));
  if (!study.schedule.fixed_egress && !study.schedule.shared_links) {
    at.value.fail("has no meaning: every job has all of its bandwidth", "\"fixed_egress\" or \"shared_links\"");
  }
}

// Spares are a part of the pod, which the section of failures does not know.
void store_jobs(const Reading& at) {
  auto& study = into<AllocationStudy>(at);
  try {
    study.schedule.failures.spares.check(study.schedule.pod);
  } catch (const ConfigError& e) {
    at.section.child("failures").child("spares").fail(e.problem(), e.hint());
  }
  study.jobs = read_stream(at.value, study_context(at), study.schedule);
}

constexpr Field kStreamFields[] = {
    fields::part<kPodFile, &AllocationStudy::schedule, &ScheduleSpec::pod>("pod", "The accelerators that jobs share.")
        .must_later("jobs"),
    fields::own("policies", fields::list_shape(kPolicy), store_policies, "Allocators, each of which runs the stream.")
        .must_later("jobs"),
    fields::own(
        "orders", fields::list_shape(kOrder),
        [](const Reading& at) {
          for (const JsonReader& order : at.value.elements()) into<AllocationStudy>(at).orders.push_back(read_order(order));
        },
        "Orders of the queue, with each of which the stream is run.")
        .or_else("no queue: what does not fit is lost"),
    fields::flag<&AllocationStudy::schedule, &ScheduleSpec::preempt>(
        "preempt", "A job may stop jobs that have more service left; with the order `srsf`.")
        .or_else("false"),
    fields::word<kImpossible, &AllocationStudy::schedule, &ScheduleSpec::impossible>(
        "impossible",
        "A job that an empty pod refuses is skipped, or blocks a `fifo` queue until the pod is empty, as in RFold's "
        "scheduler.")
        .or_else("`\"skip\"`"),
    fields::flag<&AllocationStudy::schedule, &ScheduleSpec::shared_links>(
        "shared_links", "Jobs share the links of the torus, by what is seen at their start.")
        .or_else("false"),
    fields::flag<&AllocationStudy::schedule, &ScheduleSpec::fixed_egress>(
        "fixed_egress", "A job has the bandwidth of the dimensions that its shape extends over.")
        .or_else("false"),
    fields::own("step", kPathShape, store_step,
                "The path of a scenario, whose step says how a job slows down on a part of its bandwidth.")
        .or_else("1 / share"),
    span<&AllocationStudy::schedule, &ScheduleSpec::reconfiguration>("reconfiguration", "s", "Added to each start.")
        .or_else("0"),
    fields::part<kFailures, &AllocationStudy::schedule, &ScheduleSpec::failures>("failures", "Servers fail independently.")
        .or_else("none"),
    fields::own("jobs", fields::object_shape(kJobsSection), store_jobs, "The stream of jobs.").must_later("pod"),
};
constexpr Section kStream{kStreamFields};

// The keys of a stream are those of the file where it has any of the three that a stream needs.
void read_stream_keys(const Reading& at) {
  if (!at.section.has("jobs") && !at.section.has("pod") && !at.section.has("policies")) return;
  static_cast<void>(at.section.child("pod"));
  static_cast<void>(at.section.child("policies", "a list of names"));
  static_cast<void>(at.section.child("jobs"));
  fields::read_open(at.section, kStream, at.into, at.context);
}

// Availability of slices.

constexpr double kMaxCubes = 65'536;
constexpr fields::Shape kAvailabilityShare = fields::number_shape(0.0, 1.0);
constexpr fields::Shape kCubes = fields::whole_shape(1, kMaxCubes);
constexpr Field kAvailabilityFields[] = {
    fields::count<&AvailabilityStudy::pod, &CubePod::cubes>("cubes", 1, kMaxCubes, "Cubes of the pod.").must(),
    fields::count<&AvailabilityStudy::pod, &CubePod::hosts_per_cube>("hosts_per_cube", 1, kMaxCubes, "Hosts of a cube.")
        .must(),
    fields::number<&AvailabilityStudy::pod, &CubePod::switches_up>("switches_up", 0.0, 1.0,
                                                                   "Probability that no optical switch is down.")
        .or_else("1"),
    fields::own(
        "host_availability", fields::list_shape(kAvailabilityShare),
        [](const Reading& at) {
          for (const JsonReader& a : at.value.elements())
            into<AvailabilityStudy>(at).host_availability.push_back(a.number(0.0, 1.0));
        },
        "Shares of the time that a host is up.")
        .must(),
    fields::own(
        "slice_cubes", fields::list_shape(kCubes),
        [](const Reading& at) {
          auto& study = into<AvailabilityStudy>(at);
          for (const JsonReader& c : at.value.elements()) study.slice_cubes.push_back(c.count(1, study.pod.cubes));
        },
        "Cubes of a slice, of each slice that is looked at.")
        .must(),
};
constexpr Section kAvailability{kAvailabilityFields};

// Circuits inside one collective.

constexpr Word<bool> kRotations[] = {{"direct_all_to_all", true}, {"halving_doubling_all_reduce", false}};

constexpr Field kCircuitsFields[] = {
    fields::own(
        "collective", fields::text_shape(fields::words_of<kRotations>),
        [](const Reading& at) {
          static_cast<void>(fields::meaning<kRotations>(at.value));
          into<CircuitStudy>(at).collective = at.value.string();
        },
        "The collective.")
        .must(),
    fields::own(
        "nodes", fields::whole_shape(2, 1024),
        [](const Reading& at) {
          auto& study = into<CircuitStudy>(at);
          study.fabric.nodes = static_cast<std::uint32_t>(whole_of(at));
          const bool halving = study.collective == kRotations[1].name;
          if (halving && !std::has_single_bit(study.fabric.nodes)) at.value.fail("is no power of 2");
        },
        "Its members; for halving and doubling a power of 2.")
        .must(),
    fields::number<&CircuitStudy::bytes>("bytes", 0.0, 1e15, "Bytes of a member.").must(),
    fields::rate<&CircuitStudy::fabric, &RotationFabric::circuit>("gb_per_s", "Rate of a circuit.").must(),
    fields::time<&CircuitStudy::fabric, &RotationFabric::alpha>("alpha", "ns", "Of a step.").or_else("0"),
    fields::time<&CircuitStudy::fabric, &RotationFabric::hop>("hop", "ns", "Of a circuit that a byte passes.").or_else("0"),
    fields::time<&CircuitStudy::fabric, &RotationFabric::reconfiguration>("reconfiguration", "us",
                                                                          "Of all circuits together.")
        .or_else("0"),
    fields::count<&CircuitStudy::fabric, &RotationFabric::max_hops>("max_hops", 1, 1024,
                                                                    "A step that needs more cannot use the ring.")
        .or_else("64"),
};
constexpr Section kCircuits{kCircuitsFields, [](const Reading& at) {
                              auto& study = into<CircuitStudy>(at);
                              study.steps = study.collective == kRotations[0].name
                                                ? direct_all_to_all(study.fabric.nodes, study.bytes)
                                                : halving_doubling_all_reduce(study.fabric.nodes, study.bytes);
                            }};

// The file.

constexpr Field kStudyFields[] = {
    fields::known("schema", fields::text_shape(), "`\"photonrail.allocation/1\"`.").must(),
    fields::text<&AllocationStudy::name>("name", "Its name.").or_else("none"),
    fields::text<&AllocationStudy::why>("why", "What it shows.").or_else("none"),
    fields::group<kStudyRun>("run", "What is drawn."),
    fields::own(
        "decisions", fields::either(fields::list_shape(fields::kObjectOf<kDecisionSection>), kDecisionFile),
        [](const Reading& at) { into<AllocationStudy>(at).decisions = read_decisions(at.value, study_context(at)); },
        "Questions to allocators, or a file that has them as `cases`.")
        .or_else("none"),
    fields::part<kAvailability, &AllocationStudy::availability>("availability", "Slices of a pod whose hosts fail.")
        .or_else("none"),
    fields::own(
        "waste", fields::object_shape(kWasteSection),
        [](const Reading& at) { into<AllocationStudy>(at).waste = read_waste(at.value, study_context(at)); },
        "Healthy servers that fit no group.")
        .or_else("none"),
    fields::parts<kCircuits, &AllocationStudy::circuits>("circuits", "When circuits are re-pointed inside a collective.")
        .or_else("none"),
    fields::include<kStream>().read_by(read_stream_keys),
};

void check_study(const Reading& at) {
  const auto& study = into<AllocationStudy>(at);
  if (study.decisions.empty() && study.jobs.empty() && !study.availability && !study.waste && study.circuits.empty()) {
    at.section.fail("asks for nothing", "\"jobs\", \"decisions\", \"availability\", \"waste\" or \"circuits\"");
  }
}

}  // namespace

constexpr Section kAllocationSection{kStudyFields, check_study};

AllocationStudy read_study_json(const Json& root, const std::filesystem::path& directory, const AllocatorRegistry& known) {
  JsonReader top(root);
  json::require_schema(top, kAllocationSchema);
  AllocationStudy study;
  const StudyContext context(directory, known);
  fields::read(top, kAllocationSection, &study, &context);
  return study;
}

AllocationStudy parse_study(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                            std::span<const Override> overrides, const AllocatorRegistry& known) {
  const std::string name(file);
  return json::in_file(json, name, [&](Json& root) {
    config::apply_overrides(root, overrides);
    return read_study_json(root, directory, known);
  });
}

AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides,
                           const AllocatorRegistry& known) {
  return parse_study(json::file_text(file), file.parent_path(), file.string(), overrides, known);
}

}  // namespace photonrail::slices
