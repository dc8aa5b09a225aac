// The "workload" section: a Chakra or Kineto trace or a task graph, or elsewhere a training job (scenario_training.cpp), a
// collective (scenario_collective_workload.cpp), the layers of a mixture of experts (scenario_moe_layer.cpp).
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "core/counted.hpp"
#include "core/inside.hpp"

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

template <auto Member>
constexpr Field path(std::string_view key, std::string_view doc) {
  return fields::own(
      key, kPathShape, [](const Reading& at) { fields::member_at<Member>(at.into) = read_path(at.value, folder_of(at)); },
      doc);
}

constexpr Word<SizeUnit> kSizeUnits[] = {{"bytes", SizeUnit::kBytes}, {"elements", SizeUnit::kElements}};
constexpr Word<ComputeTime> kComputeTimes[] = {{"roofline", ComputeTime::kRoofline}, {"trace", ComputeTime::kTrace}};
constexpr Word<Dimension> kDimensions[] = {
    {"tp", Dimension::kTp}, {"cp", Dimension::kCp},       {"ep", Dimension::kEp}, {"dp", Dimension::kDp},
    {"pp", Dimension::kPp}, {"other", Dimension::kOther}, {"kv", Dimension::kKv}, {"refit", Dimension::kRefit}};
constexpr Shape kDimension = fields::text_shape(fields::words_of<kDimensions>);
constexpr Field kChakraFields[] = {
    path<&ChakraOptions::prefix>("prefix", "Files are `PREFIX.RANK.et`, ranks from 0.").must(),
    path<&ChakraOptions::comm_groups>("comm_groups", "JSON of groups: name to ranks.").or_else("none"),
    fields::word<kSizeUnits, &ChakraOptions::size_unit>("size_unit", "Of communication sizes in the trace.")
        .or_else("`\"bytes\"`"),
    fields::own(
        "element_bytes", fields::whole_shape(1, 64),
        [](const Reading& at) {
          auto& options = into<ChakraOptions>(at);
          if (options.size_unit != SizeUnit::kElements)
            at.value.fail("sizes are in bytes already", "set \"size_unit\" to \"elements\"");
          options.element_bytes = static_cast<std::uint32_t>(whole_of(at));
        },
        "With `\"elements\"` only.")
        .or_else("2"),
    fields::word<kComputeTimes, &ChakraOptions::compute_time>("compute_time", "From the GPU model, or as recorded.")
        .or_else("`\"roofline\"`"),
    fields::own(
        "dimensions", fields::map_shape(kDimension),
        [](const Reading& at) {
          for (const auto& [group, dimension] : at.value.members()) {
            into<ChakraOptions>(at).dimensions[group] = fields::meaning<kDimensions>(dimension);
          }
        },
        "Of groups. Inferred from places, strides and operations: inside a server tp, along a rail dp, FSDP over all ranks "
        "dp, "
        "mostly all-to-alls ep; sends are pp.")
        .or_else("inferred"),
};
constexpr Section kChakra{kChakraFields};

TaskGraph read_chakra_workload(const JsonReader& section, const std::filesystem::path& directory) {
  ChakraOptions options;
  const FileContext context(directory);
  fields::read(section, kChakra, &options, &context);
  return core::inside(section.pointer(), [&] { return read_chakra(options); });
}

constexpr Field kKinetoFields[] = {
    path<&KinetoOptions::files>("files",
                                "A folder of `rankN_trace.json` (or `.json.gz`), or a pattern with one `*` for the rank, "
                                "from 0.")
        .must(),
    fields::count<&KinetoOptions::iteration>("iteration", 0, 0x1p53, "Only the kernels that begin in `ProfilerStep#N`.")
        .or_else("all"),
};
constexpr Section kKineto{kKinetoFields};

TaskGraph read_kineto_workload(const JsonReader& section, const std::filesystem::path& directory) {
  KinetoOptions options;
  const FileContext context(directory);
  fields::read(section, kKineto, &options, &context);
  return core::inside(section.pointer(), [&] { return read_kineto(options); });
}

constexpr Shape kGraphShape = fields::either(fields::object_shape(kGraphSection), kPathShape);
constexpr Field kWorkloadFields[] = {
    fields::known("chakra", fields::object_shape(kChakra), "A trace of Chakra."),
    fields::known("kineto", fields::object_shape(kKineto), "Traces of PyTorch's profiler."),
    fields::known("training", fields::object_shape(kTrainingSection), "A training job."),
    fields::known("collective", fields::object_shape(kCollectiveSection), "One collective."),
    fields::known("moe_layer", fields::object_shape(kMoeLayerSection),
                  "Forward passes through layers of a mixture of experts, all ranks one expert-parallel group."),
    fields::known("agent", fields::object_shape(kAgentSection),
                  "Decides while the run goes on; the job beside it, where there is one, is the step that it launches."),
    fields::known("serving", fields::object_shape(kServingSection), "Requests that engines serve."),
    fields::known("rl", fields::object_shape(kRlSection),
                  "Reinforcement learning: engines generate, training ranks train, and weights go back to the engines."),
    fields::known("graph", kGraphShape, "A `photonrail.graph/1` file, or what would be in it."),
    fields::known("checkpoint", fields::object_shape(kCheckpointSection), "Puts a checkpoint into each step of the run.")
        .or_else("none"),
};

TaskGraph read_graph_workload(const JsonReader& value, const std::filesystem::path& directory) {
  return inline_or_file(value, directory, [](const JsonReader& top) { return read_graph(top); });
}

}  // namespace

constexpr Section kWorkloadSection{kWorkloadFields};

void check_fit(const std::string& at, std::uint64_t ranks, const ClusterSpec& cluster) {
  if (ranks > kMaxRanks) throw ConfigError(at, "has " + core::counted(ranks, "rank") + "; at most 2^24 are read");
  if (ranks <= cluster.gpus()) return;
  const std::uint64_t servers = (ranks + cluster.gpus_per_server - 1) / cluster.gpus_per_server;
  throw ConfigError(at,
                    core::counted(ranks, "rank") + " do not fit the cluster: " + core::counted(cluster.servers, "server") +
                        " x " + core::counted(cluster.gpus_per_server, "GPU") + " = " + std::to_string(cluster.gpus()),
                    "set /cluster/servers to " + std::to_string(servers) + ", or use fewer ranks");
}

namespace {

// The keys of the workload that are jobs.
constexpr const char* kJobKeys[] = {"chakra", "kineto", "training", "collective", "moe_layer", "serving", "rl", "graph"};

std::vector<std::string> jobs_of(const JsonReader& section) {
  std::vector<std::string> there;
  for (const char* key : kJobKeys) {
    if (section.json().contains(key)) there.emplace_back(key);
  }
  return there;
}

}  // namespace

Workload read_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                       const Placement& placement, CollectiveSpec& collectives, const Registries& known,
                       GraphCache* graphs) {
  fields::read(section, kWorkloadSection, nullptr);  // the checkpoint is read when the job is placed: read_checkpoint()
  const std::vector<std::string> jobs = jobs_of(section);
  const auto agent = section.optional("agent");
  if (jobs.size() > 1 || (jobs.empty() && !agent)) {
    section.fail(
        "needs exactly one of \"chakra\", \"kineto\", \"training\", \"collective\", \"moe_layer\", \"serving\", \"rl\", "
        "\"graph\"",
        agent ? "" : "or an \"agent\", with or without one of them");
  }
  const std::string kind = jobs.empty() ? "" : jobs.front();
  if (agent && (kind == "serving" || kind == "rl"))
    agent->fail("cannot stand beside \"" + kind + "\", which has an agent of its own", "remove one of them");
  if (agent && section.json().contains("checkpoint"))
    section.fail_at("checkpoint", "is of a job that repeats its step, and an agent launches it", "remove it");
  const auto of_job = [&]() -> Workload {
    const JsonReader job = section.child(kind);
    if (kind == "training") return read_training(job, directory, cluster, placement);
    if (kind == "collective")
      return {read_collective_workload(job, directory, cluster, collectives, known.collectives), false};
    if (kind == "moe_layer") return {read_moe_layer_workload(job, directory, cluster), false};
    if (kind == "serving") return read_serving(job, directory, cluster, known.schedulers);
    if (kind == "rl") return read_rl(job, directory, cluster);
    const auto from_files = [&] {
      return kind == "chakra"   ? read_chakra_workload(job, directory)
             : kind == "kineto" ? read_kineto_workload(job, directory)
                                : read_graph_workload(job, directory);
    };
    Workload read{graphs != nullptr ? graphs->get(kind + job.json().dump(), from_files) : from_files(), false};
    check_fit(job.pointer(), read.graph.ranks(), cluster);
    return read;
  };
  if (!agent) return of_job();
  return read_agent(*agent, cluster, known.agents, kind.empty() ? std::nullopt : std::optional(of_job()));
}

}  // namespace photonrail::config
