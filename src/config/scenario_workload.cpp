// The "workload" section: a Chakra or Kineto trace or a task graph, or elsewhere a training job (scenario_training.cpp), a
// collective (scenario_collective_workload.cpp), the layers of a mixture of experts (scenario_moe_layer.cpp).
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "core/counted.hpp"

namespace photonrail::config {

namespace {

TaskGraph read_chakra_workload(JsonReader section, const std::filesystem::path& directory) {
  ChakraOptions options;
  options.prefix = read_path(section.child("prefix"), directory);
  if (const auto v = section.optional("comm_groups")) options.comm_groups = read_path(*v, directory);
  if (const auto v = section.optional("size_unit")) {
    options.size_unit = v->choice<SizeUnit>({{"bytes", SizeUnit::kBytes}, {"elements", SizeUnit::kElements}});
  }
  if (const auto v = section.optional("element_bytes")) {
    if (options.size_unit != SizeUnit::kElements)
      v->fail("sizes are in bytes already", "set \"size_unit\" to \"elements\"");
    options.element_bytes = v->count(1, 64);
  }
  if (const auto v = section.optional("compute_time")) {
    options.compute_time = v->choice<ComputeTime>({{"roofline", ComputeTime::kRoofline}, {"trace", ComputeTime::kTrace}});
  }
  if (const auto v = section.optional("dimensions")) {
    for (const auto& [group, dimension] : v->members()) {
      using enum Dimension;
      options.dimensions[group] =
          dimension.choice<Dimension>({{"tp", kTp}, {"cp", kCp}, {"ep", kEp}, {"dp", kDp}, {"pp", kPp}, {"other", kOther}});
    }
  }
  section.finish();
  try {
    return read_chakra(options);
  } catch (const ConfigError& e) {
    throw e.inside(section.pointer());
  }
}

TaskGraph read_kineto_workload(JsonReader section, const std::filesystem::path& directory) {
  KinetoOptions options;
  options.files = read_path(section.child("files"), directory);
  if (const auto v = section.optional("iteration")) options.iteration = v->integer(0, std::uint64_t{1} << 53);
  section.finish();
  try {
    return read_kineto(options);
  } catch (const ConfigError& e) {
    throw e.inside(section.pointer());
  }
}

TaskGraph read_graph_workload(const JsonReader& value, const std::filesystem::path& directory) {
  return inline_or_file(value, directory, [](const JsonReader& top) { return read_graph(top); });
}

}  // namespace

void check_fit(const std::string& at, std::uint64_t ranks, const ClusterSpec& cluster) {
  if (ranks > kMaxRanks) throw ConfigError(at, "has " + core::counted(ranks, "rank") + "; at most 2^24 are read");
  if (ranks <= cluster.gpus()) return;
  const std::uint64_t servers = (ranks + cluster.gpus_per_server - 1) / cluster.gpus_per_server;
  throw ConfigError(at,
                    core::counted(ranks, "rank") + " do not fit the cluster: " + core::counted(cluster.servers, "server") +
                        " x " + core::counted(cluster.gpus_per_server, "GPU") + " = " + std::to_string(cluster.gpus()),
                    "set /cluster/servers to " + std::to_string(servers) + ", or use fewer ranks");
}

Workload read_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                       const Placement& placement, CollectiveSpec& collectives, const CollectiveRegistry& known,
                       GraphCache* graphs) {
  const auto chakra = section.optional("chakra");
  const auto kineto = section.optional("kineto");
  const auto training = section.optional("training");
  const auto collective = section.optional("collective");
  const auto moe_layer = section.optional("moe_layer");
  const auto graph = section.optional("graph");
  static_cast<void>(section.optional("checkpoint"));  // of the job when it is placed: read_checkpoint()
  section.finish();
  if (chakra.has_value() + kineto.has_value() + training.has_value() + collective.has_value() + moe_layer.has_value() +
          graph.has_value() !=
      1) {
    section.fail("needs exactly one of \"chakra\", \"kineto\", \"training\", \"collective\", \"moe_layer\", \"graph\"");
  }
  if (training) return read_training(*training, directory, cluster, placement);
  if (collective) return {read_collective_workload(*collective, directory, cluster, collectives, known), false};
  if (moe_layer) return {read_moe_layer_workload(*moe_layer, directory, cluster), false};
  const auto from_files = [&] {
    return chakra   ? read_chakra_workload(*chakra, directory)
           : kineto ? read_kineto_workload(*kineto, directory)
                    : read_graph_workload(*graph, directory);
  };
  Workload read{graphs != nullptr ? graphs->get(section.json().dump(), from_files) : from_files(), false};
  check_fit((chakra ? *chakra : kineto ? *kineto : *graph).pointer(), read.graph.ranks(), cluster);
  return read;
}

}  // namespace photonrail::config
