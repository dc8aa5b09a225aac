// ASTRA-sim's inputs as a scenario of the project's own.
#include "astra/files/scenario.hpp"
#include "astra/files/files.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <system_error>

namespace photonrail::astra {

namespace {

using json::Json;

constexpr double kGigabytesPerGibibyte = 1.073741824;

/// The rate of a member, not of a link: of a full connection it has one to every other member, of a ring its algorithms use
/// one.
double member_gb_per_s(const AnalyticalDimension& d) {
  const double links = d.shape == AnalyticalShape::kFullyConnected ? d.members - 1.0 : 1.0;
  return d.gib_per_s * kGigabytesPerGibibyte * links;
}

double path_latency_ns(const AnalyticalDimension& d) {
  return d.shape == AnalyticalShape::kSwitch ? 2.0 * d.latency_ns : d.latency_ns;
}

Json cluster_of(const AnalyticalSystem& system, const std::vector<AnalyticalDimension>& network) {
  const bool has_servers = network.size() > 1;
  std::uint64_t ranks = 1;
  for (const AnalyticalDimension& d : network) ranks *= d.members;
  const std::uint64_t in_server = has_servers ? network.front().members : 1;
  double rate = member_gb_per_s(network.back());
  double latency = 0.0;
  for (std::size_t d = has_servers ? 1 : 0; d < network.size(); ++d) {
    rate = std::min(rate, member_gb_per_s(network[d]));
    latency = std::max(latency, path_latency_ns(network[d]));
  }
  Json cluster = Json::object();
  cluster["servers"] = Json(ranks / in_server);
  cluster["gpus_per_server"] = Json(in_server);
  Json gpu = Json::object();
  gpu["peak_tflops"] = Json(system.peak_tflops > 0.0 ? system.peak_tflops : 1.0);
  gpu["memory_gb_per_s"] = Json(system.memory_gb_per_s > 0.0 ? system.memory_gb_per_s : 1.0);
  cluster["gpu"] = std::move(gpu);
  if (has_servers) {
    Json scale_up = Json::object();
    scale_up["gb_per_s"] = Json(member_gb_per_s(network.front()));
    scale_up["latency_ns"] = Json(path_latency_ns(network.front()));
    cluster["scale_up"] = std::move(scale_up);
  }
  Json nic = Json::object();
  nic["ports"] = Json(1);
  nic["port_gb_per_s"] = Json(rate);
  nic["latency_ns"] = Json(latency);
  nic["message_overhead_ns"] = Json(system.endpoint_delay_ns);
  cluster["nic"] = std::move(nic);
  cluster["rail"] = Json{{"kind", Json("electrical")}};
  return cluster;
}

std::string algorithm_of(CollectiveOp op, const AnalyticalImplementations& how, std::size_t dimensions) {
  if (how.empty()) return op == CollectiveOp::kAllToAll ? "pairwise" : "ring";
  if (dimensions > 1 && !how.front().whole_network) return "hierarchical";
  switch (how.front().algorithm) {
    case AnalyticalAlgorithm::kDirect:
      return "direct";
    case AnalyticalAlgorithm::kHalvingDoubling:
      return "halving_doubling";
    case AnalyticalAlgorithm::kDoubleBinaryTree:
      return op == CollectiveOp::kAllReduce ? "double_binary_tree" : "ring";
    default:
      return op == CollectiveOp::kAllToAll ? "pairwise" : "ring";
  }
}

Json collectives_of(const AnalyticalSystem& system, std::size_t dimensions) {
  Json section = Json::object();
  section["all_reduce"] = Json(algorithm_of(CollectiveOp::kAllReduce, system.all_reduce, dimensions));
  section["all_gather"] = Json(algorithm_of(CollectiveOp::kAllGather, system.all_gather, dimensions));
  section["reduce_scatter"] = Json(algorithm_of(CollectiveOp::kReduceScatter, system.reduce_scatter, dimensions));
  section["all_to_all"] = Json(algorithm_of(CollectiveOp::kAllToAll, system.all_to_all, dimensions));
  section["chunks"] = Json(system.chunks);
  return section;
}

// As the scenario's reader will look for it: from the folder of the scenario.
std::string path_from(const std::filesystem::path& directory, const std::filesystem::path& file) {
  std::error_code problem;
  const auto whole = std::filesystem::absolute(file, problem).lexically_normal();
  if (directory.empty()) return whole.string();
  const auto from = std::filesystem::absolute(directory, problem).lexically_normal();
  const auto relative = whole.lexically_relative(from);
  return relative.empty() ? whole.string() : relative.string();
}

std::string why_of(const std::vector<AnalyticalDimension>& network) {
  std::string why =
      "ASTRA-sim's inputs on electrical rails. Otherwise than there: members of a collective start together, flows share "
      "ports "
      "fairly, reductions take no time, a ring network is a switch, and a full connection a switch as fast as all its "
      "links.";
  if (network.size() > 2) why += " The rails stand for all dimensions but the innermost, with the rate of the slowest.";
  return why +
         " For optical rails, set /cluster/rail to {\"kind\": \"optical\", \"switch\": \"polatis_6000\"} and /controller "
         "to "
         "{\"name\": \"opus\", \"mode\": \"provisioned\"}.";
}

}  // namespace

Json scenario_of(const AstraOptions& options, const std::filesystem::path& directory) {
  std::vector<std::string> ignored;
  const AnalyticalSystem system = read_system(options.system, ignored);
  const auto network = read_network(options.network, ignored);
  if (!options.remote_memory.empty()) check_remote_memory(options.remote_memory);
  Json root = Json::object();
  root["schema"] = Json("photonrail.scenario/1");
  root["name"] = Json(options.workload.filename().string() + " from ASTRA-sim");
  root["why"] = Json(why_of(network));
  root["cluster"] = cluster_of(system, network);
  root["executor"] = Json{{"comm_lanes", Json("one")}};
  root["collectives"] = collectives_of(system, network.size());
  Json chakra = Json::object();
  chakra["prefix"] = Json(path_from(directory, options.workload));
  if (!options.comm_groups.empty() && options.comm_groups.string().find("empty") == std::string::npos)
    chakra["comm_groups"] = Json(path_from(directory, options.comm_groups));
  chakra["compute_time"] = Json(system.roofline ? "roofline" : "trace");
  root["workload"] = Json{{"chakra", std::move(chakra)}};
  return root;
}

}  // namespace photonrail::astra

namespace photonrail {

std::string scenario_from_astra(const AstraOptions& options, const std::filesystem::path& directory) {
  return astra::scenario_of(options, directory).dump(2) + "\n";
}

}  // namespace photonrail
