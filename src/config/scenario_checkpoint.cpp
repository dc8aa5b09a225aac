// The "workload/checkpoint" section: what the ranks save in a step, and where it goes.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "workload/checkpoint.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;
using workload::CheckpointedGraph;
using workload::CheckpointTarget;
using workload::CheckpointTraffic;
using workload::with_checkpoint;

/// The values that lines of the table take from the job.
struct JobContext : fields::Context {
  JobContext(const JobSpec& of, const std::vector<double>& saved, bool has_others)
      : job(of), state(saved), shared(has_others) {}
  const JobSpec& job;
  const std::vector<double>& state;
  bool shared;
};

constexpr Shape kRate = fields::number_shape(1e-9, 1e9);

template <Bandwidth CheckpointTraffic::*Member>
constexpr Field rate(std::string_view key, std::string_view doc) {
  return fields::own(
      key, kRate, [](const Reading& at) { into<CheckpointTraffic>(at).*Member = Bandwidth::from_gb_per_s(number_of(at)); },
      doc);
}

// Adds the state that the optimizer needs to go on: master weights and moments, each saved once.
void add_state(const Reading& at) {
  if (at.section.has("bytes_per_rank")) return;
  const auto& [job, state, shared] = context_of<JobContext>(at);
  if (state.empty()) {
    at.section.missing(
        "bytes_per_rank",
        "it is known of training jobs alone, and where the state is split evenly over the ranks that share it");
  }
  for (std::size_t r = 0; r < job.graph.ranks(); ++r) {
    into<CheckpointTraffic>(at).bytes.push_back(
        {static_cast<std::int64_t>(std::ceil(state[job.graph.program_of(RankId{r}).index()]))});
  }
}

void store_total(const Reading& at) {
  auto& traffic = into<CheckpointTraffic>(at);
  const auto saving = std::count_if(traffic.bytes.begin(), traffic.bytes.end(), [](Bytes b) { return b > Bytes{}; });
  const double share =
      Bandwidth::from_gb_per_s(number_of(at)).bytes_per_second / static_cast<double>(std::max<std::ptrdiff_t>(saving, 1));
  traffic.own_rate.bytes_per_second = std::min(traffic.own_rate.bytes_per_second, share);
}

constexpr Word<CheckpointTarget> kTargets[] = {
    {"peer", CheckpointTarget::kPeer}, {"storage", CheckpointTarget::kStorage}, {"own_network", CheckpointTarget::kOwn}};
constexpr Word<bool> kCheckpointModes[] = {{"blocking", false}, {"asynchronous", true}};
constexpr Field kCheckpointFields[] = {
    fields::word<kTargets, &CheckpointTraffic::target>("to",
                                                       "Into the memory of the GPU at the same place in another server of "
                                                       "the job, or to hosts of storage, both through the "
                                                       "NIC and its rail; or over a network of its own.")
        .must(R"("peer", "storage" or "own_network")"),
    fields::word<kCheckpointModes, &CheckpointTraffic::asynchronous>("mode", "After the step's work, or beside it.")
        .or_else("`\"blocking\"`"),
    fields::own(
        "bytes_per_rank", fields::whole_shape(0, 1e15),
        [](const Reading& at) {
          into<CheckpointTraffic>(at).bytes.assign(context_of<JobContext>(at).job.graph.ranks(),
                                                   {static_cast<std::int64_t>(whole_of(at))});
        },
        "What each rank saves.")
        .by("bytes")
        .or_else("of a training job the state of its optimizer, of which ranks that have the same save equal parts"),
    fields::then(add_state),
    fields::count<&CheckpointTraffic::over_steps>("over_steps", 1, 1'000'000, "Each step sends such a part.")
        .only_if("mode=asynchronous")
        .or_else("1"),
    rate<&CheckpointTraffic::to_host>("host_gb_per_s", "First a copy to the host's memory, for which the GPU stops.")
        .by("to_host")
        .or_else("no such copy"),
    fields::count<&CheckpointTraffic::distance>("distance", 1, 1'000'000,
                                                "How many servers of the job further, in a circle.")
        .only_if("to=peer")
        .or_else("1"),
    fields::then([](const Reading& at) {
      if (into<CheckpointTraffic>(at).target == CheckpointTarget::kStorage && context_of<JobContext>(at).shared) {
        at.section.fail_at("to", "hosts of storage on the rails are for a job that has the cluster to itself",
                           "another place");
      }
    }),
    fields::count<&CheckpointTraffic::servers>("servers", 1, 1'000'000,
                                               "The last servers of the cluster, which run no ranks, are the hosts.")
        .only_if("to=storage")
        .or_else("1"),
    rate<&CheckpointTraffic::own_rate>("gb_per_s", "Of each rank.")
        .by("own_rate")
        .only_if("to=own_network")
        .must("the rate of a rank to storage"),
    fields::time<&CheckpointTraffic::own_latency>("latency", "us", "Of each rank.")
        .by("own_latency")
        .only_if("to=own_network")
        .or_else("0"),
    fields::own("total_gb_per_s", kRate, store_total, "Of all ranks, of which each has an equal part.")
        .by("")
        .only_if("to=own_network")
        .or_else("no bound"),
};

}  // namespace

constexpr Section kCheckpointSection{kCheckpointFields};

void read_checkpoint(const JsonReader& workload, const std::vector<double>& state, bool shared, const ClusterSpec& cluster,
                     JobSpec& job) {
  JsonReader at = workload;
  const auto section = at.optional("checkpoint");
  if (!section) return;
  CheckpointTraffic traffic;
  const JobContext context(job, state, shared);
  fields::read(*section, kCheckpointSection, &traffic, &context);
  CheckpointedGraph with = in_section(workload, kWorkloadSection, [&] {
    return with_checkpoint(job.graph, job.gpu_of_rank, cluster.gpus_per_server, cluster.servers, traffic);
  });
  job.graph = std::move(with.graph);
  job.gpu_of_rank = std::move(with.gpu_of_rank);
  job.storage_ranks = with.storage_ranks;
}

}  // namespace photonrail::config
