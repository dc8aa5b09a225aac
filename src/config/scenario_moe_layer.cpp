// "moe_layer": forward passes through the layers of a mixture of experts, all ranks one expert-parallel group.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "photonrail/workload/moe.hpp"

#include <memory>
#include <utility>

namespace photonrail::config {

namespace {

enum class Execution : std::uint8_t { kBulk, kPipelined };

struct MoeLayerWorkload {
  MoeLayerSpec spec;
  Execution execution = Execution::kPipelined;
};

/// The values that lines of the table take from the caller.
struct LayerContext : FileContext {
  LayerContext(const std::filesystem::path& folder, const ClusterSpec& of_job) : FileContext(folder), cluster(of_job) {}
  const ClusterSpec& cluster;
};

using fields::Field;
using fields::Word;

constexpr Word<FencePolicy> kFences[] = {{"none", FencePolicy::kNone},
                                         {"each_message", FencePolicy::kEachMessage},
                                         {"each_destination", FencePolicy::kEachDestination},
                                         {"nic", FencePolicy::kNic}};
constexpr Word<Execution> kExecutions[] = {{"bulk", Execution::kBulk}, {"pipelined", Execution::kPipelined}};

constexpr Field kSpecFields[] = {
    fields::include<kMoeSection, &MoeLayerSpec::traffic>("traffic"),
    fields::count<&MoeLayerSpec::ffn>("ffn", 1, 10'000'000, "Width of an expert's hidden layer.").must(),
    fields::flag<&MoeLayerSpec::gated>("gated", "Two matrices up instead of one.").or_else("false"),
};
constexpr Section kSpec{kSpecFields};
constexpr Field kTileFields[] = {
    fields::count<&MoeLayerSpec::traffic, &MoeSpec::layers>("layers", 1, 1'000'000, "One after another.")
        .by("traffic.layers")
        .or_else("1"),
    fields::count<&MoeLayerSpec::tile_rows>("tile_rows", 1, 1'000'000, "Tokens of a tile.").or_else("128"),
    fields::count<&MoeLayerSpec::tile_columns>("tile_columns", 1, 1'000'000, "Elements of a tile.").or_else("64"),
    fields::count<&MoeLayerSpec::processors>("processors", 1, 65535, "Of a GPU that compute tiles.").or_else("131"),
    fields::word<kFences, &MoeLayerSpec::fences>("fences",
                                                 "`pipelined`: how signals stay behind messages to other servers.")
        .or_else("`\"none\"`"),
    fields::time<&MoeLayerSpec::fence>("fence", "us", "What a fence takes.").or_else("0"),
};
constexpr Section kTiles{kTileFields};
constexpr Field kLayerFields[] = {
    fields::include<kSpec, &MoeLayerWorkload::spec>("."),
    fields::word<kExecutions, &MoeLayerWorkload::execution>(
        "execution", "Dispatch, experts, combine one after another, or as one pipeline.")
        .must(),
    fields::include<kTiles, &MoeLayerWorkload::spec>("."),
    fields::own(
        "ranks", fields::whole_shape(2, 4294967294.0),
        [](const fields::Reading& at) {
          const ClusterSpec& cluster = context_of<LayerContext>(at).cluster;
          auto& members = into<MoeLayerWorkload>(at).spec.traffic.members;
          members = static_cast<Member>(whole_of(at));
          check_fit(at.value.pointer(), members, cluster);
        },
        "How many; at most the GPUs of the cluster.")
        .or_else("all GPUs"),
};

void check_layer(const fields::Reading& at) {
  if (into<MoeLayerWorkload>(at).spec.traffic.members < 2)
    at.section.fail("needs two ranks, but the cluster has one GPU", "raise /cluster/servers");
}

constexpr Alias kLayerAliases[] = {{"traffic", ""}};

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

constexpr Section kMoeLayerSection{kLayerFields, check_layer, kLayerAliases};

TaskGraph read_moe_layer_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster) {
  MoeLayerWorkload job;
  job.spec.traffic.members = cluster.gpus();
  const LayerContext context(directory, cluster);
  fields::read(section, kMoeLayerSection, &job, &context);
  return in_section(section, kMoeLayerSection, [&] { return build(job); });
}

}  // namespace photonrail::config
