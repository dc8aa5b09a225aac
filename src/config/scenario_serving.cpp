// The "workload/serving" section: requests, pools of engines, and what is between them.
#include "config/scenario_serving.hpp"

#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "config/serving_times.hpp"
#include "core/counted.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/served_workload.hpp"
#include "workload/training/spec_check.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;
using serving::EngineSpec;
using serving::PoolSpec;
using serving::RoutePolicy;
using serving::ServingSpec;
using serving::TransferSpec;

constexpr std::string_view kOfHosts = "the way to a pool is the fabric's";
constexpr Field kOffloadFields[] = {
    fields::text<&ServedOffload::to>(
        "to",
        "`host`, or the name of a pool whose engines lend blocks that they can spare, and take "
        "them back where they lack some.")
        .or_else("`\"host\"`"),
    fields::count<&ServedOffload::spec, &serving::OffloadSpec::blocks>("blocks", 1, 4e9, "Of an engine, at most.")
        .or_else("2^20"),
    fields::number<&ServedOffload::spec, &serving::OffloadSpec::keep>("keep", 0, 1,
                                                                      "Of its blocks that a donor keeps free.")
        .refuse_unless("!to=host|", "the host lends no blocks", "it is for a pool that lends some")
        .or_else("0.1"),
    fields::rate<&ServedOffload::spec, &serving::OffloadSpec::link>("link_gb_per_s",
                                                                    "Host: of the link to it, each direction.")
        .refuse_unless("to=host|", kOfHosts, "remove it")
        .or_else("64"),
    fields::count<&ServedOffload::spec, &serving::OffloadSpec::gpus_per_link>(
        "gpus_per_link", 1, 1024, "Host: neighbouring GPUs behind one link, of which each transfer gets an equal part.")
        .refuse_unless("to=host|", kOfHosts, "remove it")
        .or_else("1"),
};
constexpr fields::Section kOffload{kOffloadFields};

constexpr Field kScalingFields[] = {
    fields::count<&serving::ScalingSpec::least>("least", 1, 1e6, "Engines that are always there.").or_else("1"),
    fields::number<&serving::ScalingSpec::up>("up", 0, 1e9,
                                              "Above so many requests an engine one starts, and loads its weights from "
                                              "another one over the fabric.")
        .or_else("32"),
    fields::number<&serving::ScalingSpec::down>("down", 0, 1e9,
                                                "Below so many the last one takes no more, and stops when it has none.")
        .or_else("4"),
    fields::time<&serving::ScalingSpec::cool_down>("cool_down", "s", "Between two decisions.").or_else("0"),
    fields::time<&serving::ScalingSpec::start>("start", "s", "From the end of loading until it takes requests.")
        .or_else("0"),
};
constexpr fields::Section kScaling{kScalingFields, [](const Reading& at) {
                                     const auto& scaling = into<serving::ScalingSpec>(at);
                                     if (scaling.down >= scaling.up)
                                       at.section.fail("starts and stops at one load", "\"down\" must be below \"up\"");
                                   }};

constexpr Word<serving::PoolRole> kRoles[] = {
    {"mixed", serving::PoolRole::kMixed}, {"prefill", serving::PoolRole::kPrefill}, {"decode", serving::PoolRole::kDecode}};
constexpr Shape kServedServer = fields::whole_shape(0, 4294967294.0);
constexpr Field kPoolFields[] = {
    fields::text<&ServedPool::name>("name", "In results.").or_else("its role"),
    fields::word<kRoles, &ServedPool::role>("role", "What it computes.").or_else("`\"mixed\"`"),
    fields::own(
        "servers", fields::list_shape(kServedServer),
        [](const Reading& at) {
          for (const JsonReader& server : at.value.elements()) {
            into<ServedPool>(at).servers.push_back(read_index(server, context_of<ServingContext>(at).cluster.servers));
          }
          if (into<ServedPool>(at).servers.empty()) at.value.fail("names no server", "a pool needs GPUs");
        },
        "Numbers of servers, whose GPUs are divided among its engines in order.")
        .or_else("those of no other pool"),
    fields::count<&ServedPool::tp>("tp", 1, 65536,
                                   "GPUs that divide each layer of an engine; in one server where `collectives` are "
                                   "`timed`.")
        .or_else("that of the section"),
    fields::count<&ServedPool::pp>("pp", 1, 1024,
                                   "Stages of an engine, each of `tp` GPUs; as many batches, with equal parts of its "
                                   "blocks, follow each other through them.")
        .or_else("that of the section"),
    fields::count<&ServedPool::dp>("dp", 1, 65536,
                                   "Engines that step together, as long as the slowest of them (attention DP); experts "
                                   "are divided among them.")
        .or_else("that of the section"),
    fields::count<&ServedPool::ep>(
        "ep", 1, 65536,
        "GPUs of the `tp` x `dp` that have experts of their own; those that are left divide each "
        "expert.")
        .or_else("`dp`"),
    fields::part<kOffload, &ServedPool::offload>("offload",
                                                 "Where KV goes with `preemption` `swap`, as traffic of the job that steps "
                                                 "wait for.")
        .or_else("to the host at `swap_gb_per_s`"),
    fields::part<kScaling, &ServedPool::scaling>("scaling", "Its engines start and stop with the load.")
        .or_else("all are there"),
    fields::known("engine", fields::object_shape(kServedEngineSection), "Where it differs from `engine` of the section.")
        .or_else("none"),
    fields::known("times", fields::object_shape(kServingTimesSection), "In place of `times` of the section.")
        .or_else("none"),
};
constexpr fields::Section kPool{kPoolFields};

// ---- What is between them.

constexpr Word<RoutePolicy> kPolicies[] = {{"round_robin", RoutePolicy::kRoundRobin},
                                           {"random", RoutePolicy::kRandom},
                                           {"least_requests", RoutePolicy::kLeastRequests},
                                           {"least_blocks", RoutePolicy::kLeastBlocks},
                                           {"prefix", RoutePolicy::kPrefix},
                                           {"nearest", RoutePolicy::kNearest},
                                           {"sticky", RoutePolicy::kSticky}};
constexpr Field kRoutingFields[] = {
    fields::word<kPolicies, &serving::RoutingSpec::arrivals>("arrivals", "To which engine a request goes.")
        .or_else("`\"least_requests\"`"),
    fields::word<kPolicies, &serving::RoutingSpec::decode>("decode", "To which engine its KV goes.")
        .or_else("`\"least_blocks\"`"),
    fields::time<&serving::RoutingSpec::signal_age>("signal_age", "ms", "Blocks are known as at the last multiple of it.")
        .or_else("0"),
    fields::count<&serving::RoutingSpec::max_waiting>("max_waiting", 1, 1e9,
                                                      "An engine that has so many waiting refuses another.")
        .or_else("none is refused"),
};
constexpr fields::Section kRouting{kRoutingFields};

constexpr Word<TransferSpec::When> kWhens[] = {{"at_end", TransferSpec::When::kAtEnd},
                                               {"layer_by_layer", TransferSpec::When::kLayerByLayer}};
constexpr Word<TransferSpec::Order> kTransferOrders[] = {{"fair", TransferSpec::Order::kFair},
                                                         {"fifo", TransferSpec::Order::kFifo}};
constexpr Word<bool> kOpenings[] = {{"when_sent", false}, {"at_prefill", true}};
constexpr Word<bool> kFirstTokens[] = {{"decode", false}, {"prefill", true}};
constexpr Field kTransferFields[] = {
    fields::word<kWhens, &TransferSpec::when>("when",
                                              "When KV goes: whole after prefill, or all layers but the last from the "
                                              "beginning of the last chunk on.")
        .or_else("`\"at_end\"`"),
    fields::word<kTransferOrders, &TransferSpec::order>(
        "order", "Those of one engine to several at once (to the same in turn), or one after another.")
        .or_else("`\"fair\"`"),
    fields::word<kOpenings, &TransferSpec::open_at_prefill>(
        "open", "When its circuits are asked for: when it goes, or, by controllers that provision, when prefill begins.")
        .or_else("`\"when_sent\"`"),
    fields::word<kFirstTokens, &TransferSpec::first_token_at_prefill>("first_token", "Which engine gives it.")
        .or_else("`\"decode\"`"),
};
constexpr fields::Section kTransfer{kTransferFields};

constexpr Field kSloFields[] = {
    fields::time<&serving::SloSpec::ttft>("ttft", "ms", "Greatest time to the first token.").or_else("none"),
    fields::time<&serving::SloSpec::tpot>("tpot", "ms", "Greatest mean time between later tokens.").or_else("none"),
    fields::number<&serving::SloSpec::share>("share", 0.01, 1, "Of requests that should keep them, for `find_rate`.")
        .or_else("0.9"),
};
constexpr fields::Section kSlo{kSloFields};

constexpr Field kFindRateFields[] = {
    fields::number<&serving::RateSearchSpec::within>("within", 0.0001, 1, "Ends where it is known to this share.")
        .or_else("0.02"),
    fields::count<&serving::RateSearchSpec::most_runs>("most_runs", 2, 1000, "Ends after so many runs.").or_else("40"),
};
constexpr fields::Section kFindRate{kFindRateFields};

struct ServedPrecision {
  double bytes;  // of a weight, with its scales
  OperatorPrecision products;
};
constexpr Word<ServedPrecision> kServedPrecisions[] = {
    {"fp4", {0.5625, OperatorPrecision::kFp4}},         {"fp8", {1.0, OperatorPrecision::kFp8}},
    {"fp8_block", {1.0, OperatorPrecision::kFp8Block}}, {"bf16", {2.0, OperatorPrecision::kBf16}},
    {"fp16", {2.0, OperatorPrecision::kBf16}},          {"fp32", {4.0, OperatorPrecision::kBf16}}};
constexpr Word<bool> kCollectiveWords[] = {{"timed", false}, {"flows", true}};
constexpr Shape kServedModelName = fields::text_shape(model_words, true);
constexpr Shape kServedModelShape = fields::either(fields::object_shape(kModelSection), kServedModelName);
constexpr Field kServingFields[] = {
    fields::own(
        "model", kServedModelShape,
        [](const Reading& at) { into<ServingFile>(at).served.model = read_model_section(at.value, folder_of(at)); },
        "The model that is served.")
        .by("model")
        .must(),
    fields::own(
        "precision", fields::text_shape(fields::words_of<kServedPrecisions>),
        [](const Reading& at) {
          const ServedPrecision precision = fields::meaning<kServedPrecisions>(at.value);
          into<ServingFile>(at).served.precision = precision.products;
          into<ServingFile>(at).served.weight_bytes = precision.bytes;
        },
        "Of its weights, and of its products where the GPU has it; head and router are bf16. `fp8`: a scale a tensor, "
        "known "
        "before; `fp8_block`: of blocks; `fp4`: NVFP4, of a model with experts without its attention.")
        .by("")
        .or_else("`\"bf16\"`"),
    fields::own(
        "kv_precision", fields::text_shape(precision_words),
        [](const Reading& at) { into<ServingFile>(at).served.kv_bytes = read_precision(at.value); }, "Of its KV.")
        .by("")
        .or_else("`\"bf16\"`"),
    fields::part<kServedRequestsSection, &ServingFile::spec, &ServingSpec::requests>("requests", "What is asked for.")
        .must(),
    fields::count<&ServingFile::spec, &ServingSpec::warm_up>("warm_up", 0, 1e12,
                                                             "First requests, whose times do not count.")
        .or_else("0"),
    fields::parts<kPool, &ServingFile::pools>("pools", "Engines that are alike.").or_else("one mixed pool on all servers"),
    fields::count<&ServingFile::tp>("tp", 1, 65536, "Of pools that say no `tp`.").or_else("1"),
    fields::count<&ServingFile::pp>("pp", 1, 1024, "Of pools that say no `pp`.").or_else("1"),
    fields::count<&ServingFile::dp>("dp", 1, 65536, "Of pools that say no `dp`.").or_else("1"),
    fields::part<kServedEngineSection, &ServingFile::engine>("engine", "How an engine batches."),
    fields::known("times", fields::object_shape(kServingTimesSection), "How long a step takes.")
        .or_else("the GPU's roofline"),
    fields::word<kCollectiveWords, &ServingFile::flows>("collectives",
                                                        "Those of a step: in its time, or traffic of the job behind it: "
                                                        "all-reduces of `tp`, and with experts all-to-alls of `dp`.")
        .or_else("`\"timed\"`"),
    fields::part<kRouting, &ServingFile::spec, &ServingSpec::routing>("routing", "Who serves what."),
    fields::part<kTransfer, &ServingFile::spec, &ServingSpec::transfer>("transfer", "How KV goes from prefill to decode."),
    fields::part<kSlo, &ServingFile::spec, &ServingSpec::slo>("slo", "What a good request keeps.").or_else("none"),
    fields::part<kFindRate, &ServingFile::spec, &ServingSpec::find_rate>(
        "find_rate",
        "Runs at several rates, and gives the greatest at which the share of `slo` keeps its limits (`photonrail serve "
        "--find-rate`); needs `slo`, and arrivals or a trace.")
        .or_else("none"),
    fields::time<&ServingFile::spec, &ServingSpec::request_host>(
        "request_host", "ms", "From the arrival of a request until its engine's queue has it: HTTP, tokenizer.")
        .or_else("0"),
    fields::time<&ServingFile::spec, &ServingSpec::horizon>(
        "horizon", "s",
        "No step begins after it: the run ends with what is on its way, whatever "
        "is unfinished.")
        .or_else("none"),
};

}  // namespace

constexpr fields::Section kServingSection{kServingFields};

namespace {

void check_served_model(const JsonReader& section, const ModelSpec& model) {
  in_section(section, kServingSection, [&] { workload::check_model(model); });
  if (model.mamba)
    section.fail_at("model", "has state space layers (Mamba), whose states engines do not keep", "a model of attention");
}

EngineSpec engine_of(const JsonReader& section, const ServedPool& pool, const serving::ServedModel& served,
                     const GpuSpec& gpu) {
  EngineSpec spec = pool.engine.spec;
  if (!spec.leaves_rules_to_policy())
    section.fail("has engines whose rules the scheduler " + spec.policy->name() + " takes over", serving::kRulesOfPolicies);
  const double block = served.kv_per_gpu() * spec.block_tokens / served.stages;
  if (block <= 0.0) section.fail_at("model", "has no attention, whose KV blocks hold", "serve a model with attention");
  if (pool.engine.swap_rate.bytes_per_second > 0.0)
    spec.swap_block = transfer_time(Bytes{static_cast<std::int64_t>(block)}, pool.engine.swap_rate);
  if (spec.blocks > 0) return spec;
  if (gpu.memory_gb <= 0.0)
    section.fail("the memory of the GPU is not known", "give /cluster/gpu/memory_gb, or \"blocks\"");
  const double free =
      gpu.memory_gb * 1e9 * pool.engine.memory_share - served.weights_per_gpu() - pool.engine.reserved_gb * 1e9;
  if (free < block) {
    section.fail("the model does not fit: " + std::to_string(served.weights_per_gpu() / 1e9) +
                     " GB of weights on a GPU with " + std::to_string(gpu.memory_gb) + " GB leave no KV block",
                 "raise \"tp\" of the pool");
  }
  spec.blocks = static_cast<std::uint64_t>(free / block);
  return spec;
}

// `all`: the pools of the file, among which a donor is named.
void offload(const JsonReader& section, const ServedPool& pool, const std::vector<ServedPool>& all, PoolSpec& made) {
  const bool swaps = made.engine.preemption == serving::Preemption::kSwap;
  const std::string name = "pool \"" + pool.name + "\" ";
  if (!pool.offload) {
    if (swaps && made.engine.swap_block == Duration{})
      section.fail(name + "swaps, and no rate is given", "\"swap_gb_per_s\" of its engine, or \"offload\"");
    return;
  }
  if (!swaps) section.fail(name + "has an \"offload\" without effect", "set \"preemption\" of its engine to \"swap\"");
  made.engine.swap_block = {};
  made.offload = pool.offload->spec;
  if (pool.offload->to == "host") return;
  const auto donor = std::find_if(all.begin(), all.end(), [&](const ServedPool& p) { return p.name == pool.offload->to; });
  if (donor == all.end()) section.fail(name + "offloads to \"" + pool.offload->to + "\", which is no pool", "host");
  if (&*donor == &pool) section.fail(name + "offloads to itself", "name another pool, or host");
  made.offload->donor_pool = static_cast<std::uint32_t>(donor - all.begin());
}

// Engines take the GPUs of the pool's servers in order; of each its slots have the same.
void deal_engines(const ServedPool& pool, const ClusterSpec& cluster, PoolSpec& made) {
  std::vector<RankId> ranks;
  for (const std::uint32_t server : pool.servers) {
    for (std::uint32_t g = 0; g < cluster.gpus_per_server; ++g) ranks.emplace_back(server * cluster.gpus_per_server + g);
  }
  const std::size_t each = std::size_t{pool.tp} * pool.pp;
  const std::uint32_t pod = cluster.rail.pods.servers;
  for (std::size_t first = 0; first < ranks.size(); first += each) {
    const std::uint32_t server = ranks[first].value / cluster.gpus_per_server;
    for (std::uint32_t slot = 0; slot < made.slots; ++slot) {
      made.engines.emplace_back(ranks.begin() + static_cast<std::ptrdiff_t>(first),
                                ranks.begin() + static_cast<std::ptrdiff_t>(first + each));
      made.places.push_back({server, pod > 0 ? server / pod : 0});
    }
  }
}

void check_experts(const JsonReader& section, const ServedPool& pool, const serving::ServedModel& served) {
  const std::string ep = "pool \"" + pool.name + "\": ep " + std::to_string(served.ep);
  const std::uint32_t gpus = served.tp * served.dp;
  if (pool.ep > 0 && !served.model.moe) section.fail(ep + " has no effect: the model has no experts", "remove it");
  if (gpus % served.ep != 0)
    section.fail(ep + " does not divide the " + core::counted(gpus, "GPU") + " of tp x dp", "a divisor of them");
  if (served.model.moe && served.ep > served.model.moe->experts)
    section.fail(ep + " is more than the " + std::to_string(served.model.moe->experts) + " experts", "at most so many");
}

void add_pool(const JsonReader& section, const ServedPool& pool, const ServingFile& file, const ServingContext& context,
              ServingSpec& spec) {
  const ClusterSpec& cluster = context.cluster;
  serving::ServedModel served = file.served;
  served.tp = pool.tp;
  served.stages = pool.pp;
  served.dp = pool.dp;
  served.ep = pool.ep > 0 ? pool.ep : pool.dp;
  check_experts(section, pool, served);
  if (pool.pp > served.model.layers) {
    section.fail("pool \"" + pool.name + "\": pp " + std::to_string(pool.pp) + " leaves stages without one of the " +
                     core::counted(served.model.layers, "layer"),
                 "at most as many stages as layers");
  }
  PoolSpec made;
  made.name = pool.name;
  made.role = pool.role;
  made.engine = engine_of(section, pool, served, cluster.gpu);
  made.times = step_times(pool.times, served, made.engine, file.flows, context);
  made.together = pool.dp;
  made.stages = made.slots = pool.pp;
  if (pool.pp > 1) {  // as many batches as stages have equal parts of its memory
    made.engine.blocks = std::max<std::uint64_t>(made.engine.blocks / pool.pp, 1);
    made.engine.max_sequences = std::max(made.engine.max_sequences / pool.pp, 1U);
    made.flows.forwarded = served.model.hidden * 2.0;
  }
  if (file.flows) {
    made.flows.reduced = pool.tp > 1 ? 4.0 * served.model.layers * served.model.hidden : 0.0;
    made.flows.exchanged = pool.dp > 1 ? served.exchanged_per_token() : 0.0;
  }
  if (pool.scaling) {
    made.scaling = pool.scaling;
    made.scaling->weights = Bytes{static_cast<std::int64_t>(served.weights_per_gpu())};
  }
  made.block_bytes = served.kv_per_gpu() * made.engine.block_tokens * pool.tp;
  offload(section, pool, file.pools, made);
  deal_engines(pool, cluster, made);
  if (pool.role == serving::PoolRole::kPrefill) {
    spec.transfer.bytes_per_token = served.kv_sent();
    spec.transfer.layers = served.model.layers;
    spec.transfer.latency = cluster.nic.latency + cluster.nic.message_overhead;
    spec.transfer.rate = {cluster.nic.per_port.bytes_per_second * cluster.nic.ports};
  }
  spec.pools.push_back(std::move(made));
}

}  // namespace

Workload read_serving(const JsonReader& section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                      const SchedulerRegistry& known) {
  ServingFile file;
  const ServingContext context(directory, cluster, &known);
  JsonReader reader = section;
  fields::read_open(reader, kServingSection, &file, &context);
  check_served_model(section, file.served.model);
  const auto times = reader.optional("times");
  std::vector<JsonReader> entries;
  if (const auto pools = reader.optional("pools")) {
    entries = pools->elements();
    if (entries.empty()) pools->fail("names no pool", "remove it: all servers are then one mixed pool");
  }
  if (file.pools.empty()) file.pools.emplace_back();
  for (std::size_t p = 0; p < file.pools.size(); ++p) {
    ServedPool& pool = file.pools[p];
    if (pool.name.empty()) pool.name = kRoles[static_cast<std::size_t>(pool.role)].name;
    pool.engine = file.engine;
    pool.times = times;
    if (entries.empty()) continue;
    if (const auto own = entries[p].optional("engine")) fields::read(*own, kServedEngineSection, &pool.engine, &context);
    if (const auto own = entries[p].optional("times")) pool.times = own;
  }
  settle_pools(section, cluster, file);
  for (const ServedPool& pool : file.pools) add_pool(section, pool, file, context, file.spec);
  check_served(section, file);
  reader.finish();
  Workload work;
  work.graph = idle_graph(cluster.gpus());
  work.decided = std::make_shared<run::ServedWorkload>(std::move(file.spec));
  return work;
}

}  // namespace photonrail::config
