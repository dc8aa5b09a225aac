// The sections that say how a job is run: "controller", "executor", "collectives", "run".
#include "config/scenario_parts.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/controller.hpp"

#include <algorithm>
#include <limits>

namespace photonrail::config {

namespace {

constexpr std::uint32_t kMaxGpus = std::numeric_limits<std::uint32_t>::max() - 1;

std::vector<StaticCircuit> read_circuits(const JsonReader& list) {
  std::vector<StaticCircuit> circuits;
  for (JsonReader entry : list.elements()) {
    StaticCircuit circuit;
    circuit.from = GpuId{entry.child("from").count(0, kMaxGpus)};
    circuit.to = GpuId{entry.child("to").count(0, kMaxGpus)};
    if (const auto v = entry.optional("from_port")) circuit.from_port = v->count(0, kMaxGpus);
    if (const auto v = entry.optional("to_port")) circuit.to_port = v->count(0, kMaxGpus);
    entry.finish();
    circuits.push_back(circuit);
  }
  return circuits;
}

// A key that only some controllers know is refused by name elsewhere, rather than called unknown.
void refuse_elsewhere(const JsonReader& section, const ControllerFactory& factory, const ControllerRegistry& known) {
  const auto only_where = [&](PolicyField field, const char* key) {
    const bool own = std::any_of(factory.parameters.begin(), factory.parameters.end(),
                                 [key](const ControllerParameter& parameter) { return parameter.key == key; });
    if (factory.reads(field) || own) return;
    std::string owners;
    for (const ControllerFactory& other : known.all()) {
      if (other.reads(field)) owners += (owners.empty() ? "" : ", ") + other.name;
    }
    section.refuse(key, "the " + factory.name + " controller has no such key",
                   owners.empty() ? "no controller has it" : "only " + owners + " has it");
  };
  only_where(PolicyField::kMode, "mode");
  only_where(PolicyField::kOrder, "order");
  only_where(PolicyField::kCircuits, "circuits");
}

// For a hint: the first that decides something and takes no list of circuits.
std::string example(const ControllerRegistry& known) {
  for (const ControllerFactory& factory : known.all()) {
    if (factory.name != kNoPolicy && !factory.reads(PolicyField::kCircuits))
      return "for example {\"name\": \"" + factory.name + "\"}";
  }
  return "its name";
}

// The keys that the policy has of its own.
void read_parameters(JsonReader& section, const ControllerFactory& factory, ControllerSpec& spec) {
  using enum ControllerParameter::Kind;
  for (const ControllerParameter& parameter : factory.parameters) {
    if (parameter.kind == kDuration) {
      Duration time = std::get<Duration>(parameter.initial);
      section.read_duration(parameter.key, time, "us");
      spec.parameters.set(parameter.key, time);
      continue;
    }
    const auto v = section.optional(parameter.key);
    if (!v) continue;
    ParameterValue value;
    if (parameter.kind == kWord) {
      value = v->string();
    } else if (parameter.kind == kFlag) {
      value = v->boolean() ? 1.0 : 0.0;
    } else {
      value = v->number(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
    }
    if (const std::string problem = parameter.problem(value); !problem.empty()) v->fail(problem, parameter.summary);
    spec.parameters.set(parameter.key, std::move(value));
  }
}

}  // namespace

ControllerSpec read_controller(std::optional<JsonReader> section, RailKind rails, const std::filesystem::path& directory,
                               const ControllerRegistry& known) {
  ControllerSpec spec;
  if (!section) {
    if (rails == RailKind::kElectrical) return spec;
    throw ConfigError("/controller", "missing: optical rails need a controller", example(known));
  }
  const JsonReader name = section->child("name");
  spec.name = name.lookup([&](const std::string& word) { return known.find(word).name; });
  const ControllerFactory& factory = known.find(spec.name);
  refuse_elsewhere(*section, factory, known);
  if (factory.reads(PolicyField::kMode)) {
    if (const auto v = section->optional("mode")) {
      spec.mode = v->choice<OpusMode>({{"on_demand", OpusMode::kOnDemand}, {"provisioned", OpusMode::kProvisioned}});
    }
  }
  if (factory.reads(PolicyField::kOrder)) {
    if (const auto v = section->optional("order")) {
      spec.order = v->choice<OperationOrder>({{"scheduled", OperationOrder::kScheduled}, {"free", OperationOrder::kFree}});
    }
  }
  if (factory.reads(PolicyField::kCircuits)) spec.circuits = read_circuits(section->child("circuits"));
  if (spec.name != kNoPolicy) read_control_plane(*section, directory, factory, spec);
  read_parameters(*section, factory, spec);
  section->finish();
  return spec;
}

ExecutorSpec read_executor(JsonReader section) {
  ExecutorSpec spec;
  if (const auto v = section.optional("comm_lanes")) {
    spec.comm_lanes = v->choice<CommLanes>({{"per_communicator", CommLanes::kPerCommunicator}, {"one", CommLanes::kOne}});
  }
  if (const auto v = section.optional("concurrent_collectives")) {
    using enum ConcurrentCollectives;
    spec.concurrent = v->choice<ConcurrentCollectives>({{"in_turn", kInTurn}, {"together", kTogether}});
  }
  if (const auto v = section.optional("buffered_send_bytes")) {
    spec.buffered_send = Bytes{static_cast<std::int64_t>(v->integer(0, std::uint64_t{1} << 50))};
  }
  section.finish();
  return spec;
}

namespace {

// A rank, or how to find one.
void read_straggler(const JsonReader& value, CollectiveSpec& spec) {
  using enum StragglerChoice;
  if (value.is_string()) {
    spec.straggler = value.choice<StragglerChoice>({{"eager", kEager}, {"predicted", kPredicted}});
    return;
  }
  spec.straggler = kKnown;
  spec.straggler_rank = RankId{value.count(0, std::numeric_limits<std::uint32_t>::max() - 1)};
}

}  // namespace

std::string read_algorithm_name(JsonReader value, const CollectiveRegistry& known) {
  return value.lookup(
      [&](const std::string& word) { return word == kAutoAlgorithm ? word : std::string(known.find(word).name()); });
}

CollectiveSpec read_collectives(JsonReader section, const std::filesystem::path& directory,
                                const CollectiveRegistry& known) {
  CollectiveSpec spec;
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    const auto op = static_cast<CollectiveOp>(i);
    if (op == CollectiveOp::kSend) continue;  // a message has one way to travel
    if (const auto v = section.optional(name(op))) {
      spec.algorithm[static_cast<std::size_t>(i)] =
          v->is_object() ? read_algorithm_file(*v, op, directory, spec) : read_algorithm_name(*v, known);
    }
  }
  if (const auto v = section.optional("chunks")) spec.chunks = v->count(1, 1'000'000);
  if (const auto v = section.optional("straggler")) read_straggler(*v, spec);
  section.finish();
  return spec;
}

std::string read_algorithm_file(JsonReader value, CollectiveOp op, const std::filesystem::path& directory,
                                CollectiveSpec& collectives) {
  const auto msccl = value.optional("msccl");
  const auto taccl = value.optional("taccl");
  const auto chakra = value.optional("chakra");
  const auto bytes = value.optional("bytes");
  value.finish();
  if (msccl.has_value() + taccl.has_value() + chakra.has_value() != 1)
    value.fail(R"(needs exactly one of "msccl", "taccl", "chakra")");
  if (bytes && !chakra) bytes->fail("only a Chakra trace has a size", "remove it");
  if (chakra && !bytes) value.fail_at("bytes", "missing", "the size of the collective that the trace was written for");
  CollectiveFile read;
  try {
    if (msccl) read = read_msccl(read_path(*msccl, directory));
    if (taccl) read = read_taccl(read_path(*taccl, directory));
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
    if (chakra) {
      const Bytes size{static_cast<std::int64_t>(bytes->integer(1, kMaxBytes))};
      read = read_chakra_collective(read_path(*chakra, directory), op, size);
    }
  } catch (const ConfigError& e) {
    if (e.where().starts_with(value.pointer())) throw;
    throw e.inside(value.pointer());
  }
  if (read.op != op) value.fail("the file is an " + std::string(name(read.op)) + ", not an " + std::string(name(op)));
  std::string name(read.algorithm->name());
  if (collectives.find_own(name) == nullptr) collectives.own.push_back(std::move(read.algorithm));
  return name;
}

RunSpec read_run(JsonReader section) {
  RunSpec spec;
  if (const auto v = section.optional("iterations")) spec.iterations = v->count(1, 1'000'000);
  if (const auto v = section.optional("seed")) spec.seed = v->integer(0, std::numeric_limits<std::uint64_t>::max());
  if (const auto v = section.optional("fidelity")) {
    spec.fidelity = v->choice<Fidelity>({{"stream", Fidelity::kStream}, {"exact", Fidelity::kExact}});
  }
  if (const auto v = section.optional("folding")) spec.folding = v->boolean();
  section.refuse("trace", "a timeline is asked for on the command line", "photonrail run --trace");
  section.finish();
  return spec;
}

}  // namespace photonrail::config
