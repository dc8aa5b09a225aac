// The sections "stragglers", ranks that are late or slow, and "server_faults", servers that stop.
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "run/served_workload.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

constexpr Word<StragglerSpec::Whom> kWhom[] = {{"all", StragglerSpec::Whom::kAll},
                                               {"random", StragglerSpec::Whom::kOneAtRandom}};

void store_whom(const Reading& at) {
  auto& spec = into<StragglerSpec>(at);
  if (at.value.is_string()) {
    spec.whom = fields::meaning<kWhom>(at.value);
    return;
  }
  spec.whom = StragglerSpec::Whom::kListed;
  for (const JsonReader& rank : at.value.elements()) spec.ranks.push_back(RankId{whole_of(rank, kRankShape)});
  if (spec.ranks.empty()) at.value.fail("names no rank", "list rank numbers, or write \"all\" or \"random\"");
}

void store_delays(const Reading& at) {
  auto& spec = into<StragglerSpec>(at);
  if (!at.value.is_array()) {
    spec.delay = read_delay(at.value, at.picoseconds, folder_of(at));
    return;
  }
  for (const JsonReader& step : at.value.elements()) spec.trace.push_back(step.in_picoseconds(at.picoseconds));
  if (spec.trace.empty()) at.value.fail("has no entry", "give one delay for each step; they repeat");
}

constexpr Shape kAllOrRandom = fields::text_shape(fields::words_of<kWhom>);
constexpr Shape kDelays = fields::either(fields::list_shape(kDelayNumber), kDelayNumber);
constexpr Field kStragglerFields[] = {
    fields::own("ranks", fields::either(fields::list_shape(kRankShape), kAllOrRandom), store_whom,
                "The ranks, all of them, or one a step, drawn anew.")
        .must("a list of rank numbers, \"all\" or \"random\""),
    fields::number<&StragglerSpec::slowdown>("slowdown", 1.0, 1e6, "GPU computations take this many times as long.")
        .or_else("1"),
    fields::own_time("delay", "us", fields::kTimeUnits, fields::either(fields::object_shape(kDelaySection), kDelays),
                     store_delays,
                     "Before the rank's first task of a step; an array has one for each step and begins again; a "
                     "distribution is drawn for each rank and step.")
        .or_else("none"),
    fields::time<&StragglerSpec::at>("at", "ms",
                                     "A failure of these GPUs, listed or all, at that time; computations in progress feel "
                                     "it. No delay beside it.")
        .or_else("of all steps"),
    fields::time<&StragglerSpec::lasts>("lasts", "ms", "With `at`: until the repair.").or_else("for good"),
    fields::flag<&StragglerSpec::stops>("stops", "With `at`, in place of `slowdown`: the GPUs compute nothing.")
        .or_else("false"),
    fields::time<&StragglerSpec::detection>("detection", "ms",
                                            "For this time nothing knows it; at most `lasts`. It changes the accounts of "
                                            "the ranks alone.")
        .only_if("stops=true")
        .or_else("0"),
};

void check_straggler(const Reading& at) {
  const JsonReader& section = at.section;
  if (section.has("slowdown") || fields::has_time(section, "delay") || into<StragglerSpec>(at).stops) return;
  section.fail("is neither late nor slow",
               "give it a \"delay_us\" or a \"slowdown\", or an \"at_ms\" from which it \"stops\"");
}

}  // namespace

constexpr Section kStragglerSection{kStragglerFields, check_straggler};

std::vector<StragglerSpec> read_stragglers(const JsonReader& section, const std::filesystem::path& directory) {
  std::vector<StragglerSpec> stragglers;
  const FileContext context(directory);
  for (const JsonReader& straggler : section.elements()) {
    fields::read(straggler, kStragglerSection, &stragglers.emplace_back(), &context);
  }
  return stragglers;
}

namespace {

struct ServersContext : fields::Context {
  explicit ServersContext(std::uint32_t count) : servers(count) {}
  std::uint32_t servers;
};

constexpr Field kServerFaultFields[] = {
    fields::own(
        "server", fields::whole_shape(0, 4294967294.0),
        [](const Reading& at) {
          into<ServerFault>(at).server = read_index(at.value, context_of<ServersContext>(at).servers);
        },
        "All its GPUs stop, and all its NICs fail.")
        .must("the number of a server, from 0"),
    fields::time<&ServerFault::at>("at", "ms", "When it begins.").or_else("0"),
    fields::time<&ServerFault::lasts>("lasts", "ms", "Until the repair.").or_else("for good"),
    fields::time<&ServerFault::detection>("detection", "ms",
                                          "Until it is known, at most `lasts`; of the NICs on optical rails.")
        .or_else("0"),
};

void check_server_fault(const Reading& at) {
  const auto& fault = into<ServerFault>(at);
  if (fault.lasts && fault.detection > *fault.lasts) {
    at.section.fail("is over before it is detected", "a \"detection\" of at most the length of the fault");
  }
}

}  // namespace

constexpr Section kServerFaultSection{kServerFaultFields, check_server_fault};

std::vector<ServerFault> read_server_faults(const JsonReader& section, std::uint32_t servers) {
  std::vector<ServerFault> faults;
  const ServersContext context(servers);
  for (const JsonReader& fault : section.elements()) {
    fields::read(fault, kServerFaultSection, &faults.emplace_back(), &context);
  }
  return faults;
}

void fail_nics(const std::vector<ServerFault>& faults, ClusterSpec& cluster) {
  const bool optical = cluster.rail.kind == RailKind::kOptical;
  for (const ServerFault& fault : faults) {
    PortFault nics;
    nics.server = fault.server;
    nics.at = fault.at;
    nics.lasts = fault.lasts;
    if (optical) nics.detection = fault.detection;
    cluster.rail.faults.push_back(nics);
  }
}

void stop_gpus(const std::vector<ServerFault>& faults, std::uint32_t gpus_per_server, JobSpec& job) {
  for (const ServerFault& fault : faults) {
    StragglerSpec gpus;
    gpus.whom = StragglerSpec::Whom::kListed;
    for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r) {
      if (job.gpu_of_rank[r].value / gpus_per_server == fault.server) gpus.ranks.push_back(RankId{r});
    }
    if (gpus.ranks.empty()) continue;
    gpus.at = fault.at;
    gpus.lasts = fault.lasts;
    gpus.stops = true;
    gpus.detection = fault.detection;
    job.stragglers.push_back(std::move(gpus));
  }
}

void give_failures_to_agent(const std::vector<ServerFault>& faults, Scenario& job) {
  stop_gpus(faults, job.cluster.gpus_per_server, job);
  std::vector<StragglerSpec> others;
  for (StragglerSpec& of : job.stragglers) {
    if (!of.stops || !of.at) {
      others.push_back(std::move(of));
      continue;
    }
    std::vector<RankId> ranks = of.ranks;
    for (std::size_t r = 0; of.whom == StragglerSpec::Whom::kAll && r < job.gpu_of_rank.size(); ++r) ranks.emplace_back(r);
    const auto& served = dynamic_cast<const run::ServedWorkload&>(*job.workload);
    const Duration detection = of.lasts ? std::min(of.detection, *of.lasts) : of.detection;
    job.workload = served.with_failure(ranks, *of.at, of.lasts, detection);
  }
  job.stragglers = std::move(others);
}

}  // namespace photonrail::config
