// The "workload/checkpoint" section: what the ranks save in a step, and where it goes.
#include "config/scenario_parts.hpp"
#include "photonrail/workload/checkpoint.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::config {

namespace {

Bandwidth read_bandwidth(const JsonReader& value) { return Bandwidth::from_gb_per_s(value.number(1e-9, 1e9)); }

// What the optimizer needs to go on: master weights and moments, each saved once.
std::vector<Bytes> read_bytes(JsonReader& section, const TaskGraph& graph, const std::vector<double>& state) {
  std::vector<Bytes> bytes;
  if (const auto v = section.optional("bytes_per_rank")) {
    constexpr std::uint64_t kMaxBytes = 1'000'000'000'000'000;
    bytes.assign(graph.ranks(), {static_cast<std::int64_t>(v->integer(0, kMaxBytes))});
    return bytes;
  }
  if (state.empty()) {
    section.missing("bytes_per_rank",
                    "it is known of training jobs alone, and where the state is split evenly over the ranks that share it");
  }
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    bytes.push_back({static_cast<std::int64_t>(std::ceil(state[graph.program_of(RankId{r}).index()]))});
  }
  return bytes;
}

void read_own_network(JsonReader& section, CheckpointTraffic& traffic) {
  traffic.own_rate = read_bandwidth(section.child("gb_per_s", "the rate of a rank to storage"));
  section.read_duration("latency", traffic.own_latency, "us");
  if (const auto v = section.optional("total_gb_per_s")) {
    const auto saving = std::count_if(traffic.bytes.begin(), traffic.bytes.end(), [](Bytes b) { return b > Bytes{}; });
    const double share = read_bandwidth(*v).bytes_per_second / static_cast<double>(std::max<std::ptrdiff_t>(saving, 1));
    traffic.own_rate.bytes_per_second = std::min(traffic.own_rate.bytes_per_second, share);
  }
}

CheckpointTraffic read_traffic(JsonReader section, const Scenario& job, const std::vector<double>& state, bool shared) {
  CheckpointTraffic traffic;
  const JsonReader to = section.child("to", R"("peer", "storage" or "own_network")");
  traffic.target = to.choice<CheckpointTarget>({{"peer", CheckpointTarget::kPeer},
                                                {"storage", CheckpointTarget::kStorage},
                                                {"own_network", CheckpointTarget::kOwn}});
  if (const auto v = section.optional("mode")) {
    traffic.asynchronous = v->choice<bool>({{"blocking", false}, {"asynchronous", true}});
  }
  traffic.bytes = read_bytes(section, job.graph, state);
  if (traffic.asynchronous) {
    if (const auto v = section.optional("over_steps")) traffic.over_steps = v->count(1, 1'000'000);
  }
  if (const auto v = section.optional("host_gb_per_s")) traffic.to_host = read_bandwidth(*v);
  if (traffic.target == CheckpointTarget::kPeer) {
    if (const auto v = section.optional("distance")) traffic.distance = v->count(1, 1'000'000);
  } else if (traffic.target == CheckpointTarget::kStorage) {
    if (shared) to.fail("hosts of storage on the rails are for a job that has the cluster to itself", "another place");
    if (const auto v = section.optional("servers")) traffic.servers = v->count(1, 1'000'000);
  } else {
    read_own_network(section, traffic);
  }
  section.finish();
  return traffic;
}

}  // namespace

void read_checkpoint(const JsonReader& workload, const std::vector<double>& state, bool shared, Scenario& job) {
  JsonReader at = workload;
  const auto section = at.optional("checkpoint");
  if (!section) return;
  const CheckpointTraffic traffic = read_traffic(*section, job, state, shared);
  CheckpointedGraph with = in_section(workload, workload_keys(), [&] {
    return with_checkpoint(job.graph, job.gpu_of_rank, job.cluster.gpus_per_server, job.cluster.servers, traffic);
  });
  job.graph = std::move(with.graph);
  job.gpu_of_rank = std::move(with.gpu_of_rank);
  job.storage_ranks = with.storage_ranks;
}

}  // namespace photonrail::config
