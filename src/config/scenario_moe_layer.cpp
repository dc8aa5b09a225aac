// "moe_layer": forward passes through the layers of a mixture of experts, all ranks one expert-parallel group.
#include "config/scenario_parts.hpp"
#include "photonrail/workload/moe_layer.hpp"

#include <limits>
#include <memory>
#include <utility>

namespace photonrail::config {

namespace {

enum class Execution : std::uint8_t { kBulk, kPipelined };

struct MoeLayerWorkload {
  MoeLayerSpec spec;
  Execution execution = Execution::kPipelined;
};

FencePolicy read_fences(const JsonReader& value) {
  using enum FencePolicy;
  return value.choice<FencePolicy>(
      {{"none", kNone}, {"each_message", kEachMessage}, {"each_destination", kEachDestination}, {"nic", kNic}});
}

// The programs of all ranks are one: what differs between them follows the demand.
TaskGraph build(const MoeLayerWorkload& job) {
  const auto layers = std::make_shared<const MoeLayers>(job.spec);
  const MoeTraffic& traffic = layers->traffic();
  const MoeSpec& moe = job.spec.traffic;
  TaskGraphBuilder builder(moe.members);
  builder.set_demands(layers);
  std::vector<RankId> members;
  for (std::uint32_t r = 0; r < moe.members; ++r) members.emplace_back(r);
  const CommunicatorId group = builder.add_communicator("all", std::move(members), Dimension::kEp);
  const ProgramId p = builder.add_program();
  std::vector<TaskId> after;
  const auto exchange = [&](std::uint32_t layer, MoeExchange which, std::string_view name) {
    after = {builder.add_all_to_all(p, 0, traffic.number(layer, 0, which), traffic.typical_input(which), name, after)};
  };
  const double matrices = job.spec.gated ? 3.0 : 2.0;
  const double flops = 2.0 * matrices * moe.hidden * job.spec.ffn * static_cast<double>(moe.tokens) * moe.top_k;
  for (std::uint32_t layer = 0; layer < moe.layers; ++layer) {
    const std::uint32_t whole = layers->number(layer, 0);
    if (job.execution == Execution::kPipelined) {
      const Bytes size = traffic.typical_input(MoeExchange::kDispatch) + traffic.typical_input(MoeExchange::kCombine);
      after = {builder.add_all_to_all(p, 0, whole, size, "moe_layer", after)};
      continue;
    }
    exchange(layer, MoeExchange::kDispatch, "dispatch");
    after = {builder.add_demand_compute(p, 0, whole, flops, "experts", after)};
    exchange(layer, MoeExchange::kCombine, "combine");
  }
  for (std::uint32_t r = 0; r < moe.members; ++r) builder.assign(RankId{r}, p, {group});
  return std::move(builder).build();
}

}  // namespace

TaskGraph read_moe_layer_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster) {
  MoeLayerWorkload job;
  MoeLayerSpec& spec = job.spec;
  read_moe_layer(section, directory, spec.traffic);
  spec.ffn = section.child("ffn").count(1, 10'000'000);
  if (const auto v = section.optional("gated")) spec.gated = v->boolean();
  job.execution =
      section.child("execution").choice<Execution>({{"bulk", Execution::kBulk}, {"pipelined", Execution::kPipelined}});
  if (const auto v = section.optional("layers")) spec.traffic.layers = v->count(1, 1'000'000);
  if (const auto v = section.optional("tile_rows")) spec.tile_rows = v->count(1, 1'000'000);
  if (const auto v = section.optional("tile_columns")) spec.tile_columns = v->count(1, 1'000'000);
  if (const auto v = section.optional("processors")) spec.processors = v->count(1, 65535);
  if (const auto v = section.optional("fences")) spec.fences = read_fences(*v);
  section.read_duration("fence", spec.fence, "us");
  spec.traffic.members = cluster.gpus();
  if (const auto v = section.optional("ranks")) {
    spec.traffic.members = v->count(2, std::numeric_limits<std::uint32_t>::max() - 1);
    check_fit(v->pointer(), spec.traffic.members, cluster);
  }
  if (spec.traffic.members < 2) section.fail("needs two ranks, but the cluster has one GPU", "raise /cluster/servers");
  section.finish();
  return in_section(section, moe_layer_keys(), [&] { return build(job); });
}

}  // namespace photonrail::config
