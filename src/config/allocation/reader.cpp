// `photonrail.allocation/1`: what `photonrail allocate` does.
#include "config/allocation/parts.hpp"
#include "config/scenario_parts.hpp"
#include "core/counted.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "photonrail/allocation/study_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace photonrail::config {

using allocation::AllocationStudy;
using allocation::QueueOrder;
using allocation::Shape;
using allocation::Span;

Shape read_shape(const JsonReader& value) {
  std::vector<std::uint32_t> sides;
  for (const JsonReader& side : value.elements()) sides.push_back(side.count(1, allocation::kMaxAccelerators));
  try {
    return Shape::of(sides);
  } catch (const ConfigError& e) {
    value.fail(e.problem(), e.hint());
  }
}

constexpr fields::Alias kAllocationAliases[] = {
    {"preempt", "preempt"},
    {"reconfiguration", "reconfiguration", "s"},
    {"failures.mean_between", "failures/mean_between", "h"},
    {"failures.mean_repair", "failures/mean_repair", "h"},
    {"failures.checkpoint", "failures/checkpoint", "s"},
    {"failures.restart", "failures/restart", "s"},
};
constexpr fields::Section kAllocationSection{{}, nullptr, kAllocationAliases};

Shape read_shape(const JsonReader& value, const Shape& torus) {
  const Shape shape = read_shape(value);
  if (const std::string problem = too_many_dimensions(shape, torus); !problem.empty()) {
    value.fail(problem, "a shape of " + core::counted(torus.dimensions, "side"));
  }
  return shape;
}

std::string too_many_dimensions(const Shape& shape, const Shape& torus) {
  for (std::uint32_t d = torus.dimensions; d < shape.dimensions; ++d) {
    if (shape[d] != 1) return shape.text() + " has more dimensions than the torus " + torus.text();
  }
  return {};
}

void read_pod_parts(JsonReader& section, allocation::PodSpec& pod) {
  if (const auto v = section.optional("block")) pod.block = v->count(1, 1024);
  if (const auto v = section.optional("server")) pod.server = read_shape(*v);
  if (const auto v = section.optional("fibres")) pod.fibres = v->count(1, 1U << 20);
  if (const auto v = section.optional("reach")) pod.reach = v->count(1, 64);
  if (const auto v = section.optional("domain")) pod.domain = v->count(1, allocation::kMaxAccelerators);
  try {
    pod.check();
  } catch (const ConfigError& e) {
    section.fail(e.where() + ": " + e.problem(), e.hint());
  }
}

allocation::PodSpec read_pod(JsonReader section) {
  allocation::PodSpec pod;
  pod.torus = read_shape(section.child("torus", "its sides, such as [16, 16, 16]"));
  read_pod_parts(section, pod);
  section.finish();
  return pod;
}

std::string read_policy(const JsonReader& value, const allocation::AllocatorRegistry& known,
                        const allocation::PodSpec& pod) {
  const allocation::AllocatorFactory& factory =
      value.lookup([&](const std::string& word) -> const allocation::AllocatorFactory& { return known.find(word); });
  try {
    static_cast<void>(factory.make(pod));
  } catch (const ConfigError& e) {
    value.fail(e.where() + ": " + e.problem(), e.hint());
  }
  return factory.name;
}

Span read_span(JsonReader& section, std::string_view stem, Span otherwise) {
  struct Suffix {
    const char* text;
    double seconds;
  };
  static constexpr Suffix kSuffixes[] = {{"_s", 1.0}, {"_h", 3600.0}, {"_days", 86400.0}};
  std::optional<Span> found;
  for (const Suffix& suffix : kSuffixes) {
    const auto v = section.optional(std::string(stem) + suffix.text);
    if (!v) continue;
    if (found) v->fail("is given twice", "one unit");
    found = Span{std::llround(v->number(0.0, 1e10 / suffix.seconds) * suffix.seconds * 1e6)};
  }
  return found.value_or(otherwise);
}

namespace {

QueueOrder read_order(const JsonReader& value) {
  return value.choice<QueueOrder>({{"fifo", QueueOrder::kFifo},
                                   {"backfill", QueueOrder::kBackfill},
                                   {"srsf", QueueOrder::kShortestService},
                                   {"irs", QueueOrder::kScarcestShape},
                                   {"random", QueueOrder::kRandom}});
}

allocation::ServerFailures read_failures(JsonReader section) {
  allocation::ServerFailures f;
  f.mean_between = read_span(section, "mean_between", Span{});
  f.mean_repair = read_span(section, "mean_repair", Span{});
  f.checkpoint = read_span(section, "checkpoint", Span{});
  f.restart = read_span(section, "restart", Span{});
  if (auto spares = section.optional("spares")) {
    const auto servers = spares->optional("servers_per_rack");
    const auto racks = spares->optional("racks");
    if (servers.has_value() == racks.has_value()) {
      spares->fail("needs one kind of spares", "\"servers_per_rack\" or \"racks\"");
    }
    f.spares = {(servers ? *servers : *racks).count(1, allocation::kMaxAccelerators),
                servers ? allocation::Spares::Kind::kServersOfRack : allocation::Spares::Kind::kRacks};
    spares->finish();
  }
  section.finish();
  if (f.mean_between.count() == 0 || f.mean_repair.count() == 0) section.fail("needs mean_between and mean_repair above 0");
  return f;
}

/// The stream and how it is scheduled.
void read_stream_study(JsonReader& top, const std::filesystem::path& directory, const allocation::AllocatorRegistry& known,
                       AllocationStudy& study) {
  study.schedule.pod = read_pod(top.child("pod"));
  for (const JsonReader& policy : top.child("policies", "a list of names").elements()) {
    study.policies.push_back(read_policy(policy, known, study.schedule.pod));
    if (std::count(study.policies.begin(), study.policies.end(), study.policies.back()) > 1) policy.fail("is named twice");
  }
  if (const auto orders = top.optional("orders")) {
    for (const JsonReader& order : orders->elements()) study.orders.push_back(read_order(order));
  }
  if (const auto v = top.optional("preempt")) study.schedule.preempt = v->boolean();
  if (const auto v = top.optional("impossible")) {
    study.schedule.impossible = v->choice<allocation::ImpossibleJobs>(
        {{"skip", allocation::ImpossibleJobs::kSkip}, {"wait_for_empty", allocation::ImpossibleJobs::kBlockUntilEmpty}});
  }
  if (const auto v = top.optional("shared_links")) study.schedule.shared_links = v->boolean();
  if (const auto v = top.optional("fixed_egress")) study.schedule.fixed_egress = v->boolean();
  if (const auto v = top.optional("step")) {
    study.step = read_path(*v, directory);
    if (!study.schedule.fixed_egress && !study.schedule.shared_links) {
      v->fail("has no meaning: every job has all of its bandwidth", "\"fixed_egress\" or \"shared_links\"");
    }
  }
  study.schedule.reconfiguration = read_span(top, "reconfiguration", Span{});
  if (auto failures = top.optional("failures")) study.schedule.failures = read_failures(*std::move(failures));
  try {
    study.schedule.failures.spares.check(study.schedule.pod);
  } catch (const ConfigError& e) {
    top.child("failures").child("spares").fail(e.problem(), e.hint());
  }
  study.jobs = read_stream(top.child("jobs"), directory, study.schedule);
}

allocation::AvailabilityStudy read_availability(JsonReader section) {
  allocation::AvailabilityStudy study;
  study.pod.cubes = section.child("cubes").count(1, 65'536);
  study.pod.hosts_per_cube = section.child("hosts_per_cube").count(1, 65'536);
  if (const auto v = section.optional("switches_up")) study.pod.switches_up = v->number(0.0, 1.0);
  for (const JsonReader& a : section.child("host_availability").elements())
    study.host_availability.push_back(a.number(0.0, 1.0));
  for (const JsonReader& c : section.child("slice_cubes").elements())
    study.slice_cubes.push_back(c.count(1, study.pod.cubes));
  section.finish();
  return study;
}

allocation::CircuitStudy read_circuits(JsonReader section) {
  allocation::CircuitStudy study;
  const JsonReader collective = section.child("collective");
  const bool all_to_all = collective.choice<bool>({{"direct_all_to_all", true}, {"halving_doubling_all_reduce", false}});
  study.collective = collective.string();
  const JsonReader nodes = section.child("nodes");
  study.fabric.nodes = nodes.count(2, 1024);
  if (!all_to_all && !std::has_single_bit(study.fabric.nodes)) nodes.fail("is no power of 2");
  study.bytes = section.child("bytes").number(0.0, 1e15);
  study.fabric.circuit = section.child("gb_per_s").bandwidth();
  section.read_duration("alpha", study.fabric.alpha);
  section.read_duration("hop", study.fabric.hop);
  section.read_duration("reconfiguration", study.fabric.reconfiguration, "us");
  if (const auto v = section.optional("max_hops")) study.fabric.max_hops = v->count(1, 1024);
  section.finish();
  study.steps = all_to_all ? allocation::direct_all_to_all(study.fabric.nodes, study.bytes)
                           : allocation::halving_doubling_all_reduce(study.fabric.nodes, study.bytes);
  return study;
}

}  // namespace

AllocationStudy read_study_json(const Json& root, const std::filesystem::path& directory,
                                const allocation::AllocatorRegistry& known, json::KeyObserver* observer) {
  JsonReader top(root, {}, observer);
  json::require_schema(top, kAllocationSchema);
  AllocationStudy study;
  if (const auto v = top.optional("name")) study.name = v->string();
  if (const auto v = top.optional("why")) study.why = v->string();
  if (auto run = top.optional("run")) {
    if (const auto v = run->optional("seed")) study.schedule.seed = v->integer(0, UINT64_MAX);
    run->finish();
  }
  if (const auto v = top.optional("decisions")) study.decisions = read_decisions(*v, directory, known);
  if (const auto v = top.optional("availability")) study.availability = read_availability(*v);
  if (const auto v = top.optional("waste")) study.waste = read_waste(*v, directory);
  if (const auto v = top.optional("circuits")) {
    for (const JsonReader& entry : v->elements()) study.circuits.push_back(read_circuits(entry));
  }
  const bool has_stream = top.has("jobs") || top.has("pod") || top.has("policies");
  if (has_stream) read_stream_study(top, directory, known, study);
  top.finish();
  if (!has_stream && study.decisions.empty() && !study.availability && !study.waste && study.circuits.empty()) {
    top.fail("asks for nothing", "\"jobs\", \"decisions\", \"availability\", \"waste\" or \"circuits\"");
  }
  return study;
}

}  // namespace photonrail::config

namespace photonrail::allocation {

AllocationStudy parse_study(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                            std::span<const Override> overrides, const AllocatorRegistry& known) {
  const std::string name(file);
  config::Json root = config::parse_json(json, name);
  try {
    config::apply_overrides(root, overrides);
    return config::read_study_json(root, directory, known);
  } catch (const ConfigError& e) {
    throw e.inside(name);
  }
}

AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides,
                           const AllocatorRegistry& known) {
  return parse_study(json::file_text(file), file.parent_path(), file.string(), overrides, known);
}

AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides) {
  return read_study(file, overrides, AllocatorRegistry::builtin());
}

}  // namespace photonrail::allocation
