// The "workload/serving" section: requests, pools of engines, and what is between them.
#include "config/scenario_serving.hpp"

#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "config/serving_times.hpp"
#include "core/counted.hpp"
#include "formats/serving/request_traces.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/served_workload.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;
using serving::ArrivalLaw;
using serving::EngineSpec;
using serving::LengthLaw;
using serving::PoolSpec;
using serving::RequestSpec;
using serving::RoutePolicy;
using serving::ServingSpec;
using serving::TransferSpec;

// ---- Requests.

constexpr Word<LengthLaw::Kind> kLengthLaws[] = {{"uniform", LengthLaw::Kind::kUniform},
                                                 {"normal", LengthLaw::Kind::kNormal},
                                                 {"log_normal", LengthLaw::Kind::kLogNormal}};
constexpr double kMaxTokens = 1 << 24;
constexpr Field kLengthFields[] = {
    fields::word<kLengthLaws, &LengthLaw::kind>("distribution", "The law of the number.").must(),
    fields::number<&LengthLaw::a>("least", 1, kMaxTokens, "The smallest.").only_if("distribution=uniform").must(),
    fields::number<&LengthLaw::b>("greatest", 1, kMaxTokens, "The greatest.").only_if("distribution=uniform").must(),
    fields::number<&LengthLaw::a>("mean", 1, kMaxTokens, "Before cuts.").only_if("distribution=normal").must(),
    fields::number<&LengthLaw::b>("deviation", 0, kMaxTokens, "Before cuts.").only_if("distribution=normal").must(),
    fields::number<&LengthLaw::a>("median", 1, kMaxTokens, "Before cuts.").only_if("distribution=log_normal").must(),
    fields::number<&LengthLaw::b>("sigma", 0, 4, "Of the logarithm.").only_if("distribution=log_normal").must(),
    fields::count<&LengthLaw::most>("most", 1, kMaxTokens, "Longer ones are cut to this.").or_else("2^24"),
};
constexpr fields::Section kLengths{kLengthFields, [](const Reading& at) {
                                     const auto& law = into<LengthLaw>(at);
                                     if (law.kind == LengthLaw::Kind::kUniform && law.b < law.a)
                                       at.section.fail_at("greatest", "must not be less than \"least\"");
                                   }};
constexpr Shape kLengthNumber = fields::whole_shape(1, kMaxTokens);
constexpr Shape kLengthShape = fields::either(fields::object_shape(kLengths), kLengthNumber);

template <LengthLaw RequestSpec::*Member>
constexpr Field length(std::string_view key, std::string_view doc) {
  return fields::own(
      key, kLengthShape,
      [](const Reading& at) {
        LengthLaw& law = into<RequestSpec>(at).*Member;
        if (at.value.is_object()) {
          fields::read(at.value, kLengths, &law);
        } else {
          law.a = static_cast<double>(at.value.integer(1, static_cast<std::uint64_t>(kMaxTokens)));
        }
      },
      doc);
}

constexpr Word<ArrivalLaw::Kind> kProcesses[] = {{"poisson", ArrivalLaw::Kind::kPoisson},
                                                 {"gamma", ArrivalLaw::Kind::kGamma},
                                                 {"weibull", ArrivalLaw::Kind::kWeibull},
                                                 {"constant", ArrivalLaw::Kind::kConstant}};
constexpr Field kStageFields[] = {
    fields::positive<&ArrivalLaw::Stage::per_s>("per_s", 1e7, "Requests a second.").must(),
    fields::time<&ArrivalLaw::Stage::lasts>("lasts", "s", "How long.").must(),
};
constexpr fields::Section kStages{kStageFields};
constexpr Field kArrivalFields[] = {
    fields::word<kProcesses, &ArrivalLaw::kind>("process", "The law of the gaps between requests.")
        .or_else("`\"poisson\"`"),
    fields::number<&ArrivalLaw::shape>("cv", 0.01, 100, "Deviation of gaps over their mean.")
        .only_if("process=gamma")
        .must(),
    fields::number<&ArrivalLaw::shape>("shape", 0.05, 100, "Of the law.").only_if("process=weibull").must(),
    fields::own(
        "per_s", fields::positive_shape(1e7),
        [](const Reading& at) { into<ArrivalLaw>(at).stages.front().per_s = number_of(at); }, "Requests a second.")
        .by("")
        .must_if("!stages"),
    fields::own(
        "stages", fields::list_shape(fields::kObjectOf<kStages>),
        [](const Reading& at) {
          auto& stages = into<ArrivalLaw>(at).stages;
          stages.clear();
          for (const JsonReader& stage : at.value.elements()) fields::read(stage, kStages, &stages.emplace_back());
          if (stages.empty()) at.value.fail("has no stages", "or give \"per_s\"");
        },
        "Rates one after another in place of one; no requests come after the last.")
        .or_else("none"),
};
constexpr fields::Section kArrivals{kArrivalFields};

constexpr Field kPrefixFields[] = {
    fields::count<&serving::SharedPrefix::groups>("groups", 1, 1e9, "Different beginnings, each as likely.").must(),
    fields::count<&serving::SharedPrefix::tokens>("tokens", 1, kMaxTokens, "Of a beginning, at most the prompt.").must(),
};
constexpr fields::Section kPrefix{kPrefixFields};

constexpr std::string_view kWithTrace = "the trace says it";
constexpr Field kRequestFields[] = {
    fields::own(
        "trace", kPathShape,
        [](const Reading& at) {
          into<RequestSpec>(at).trace =
              std::make_shared<serving::Trace>(formats::read_request_trace(read_path(at.value, folder_of(at))));
          into<RequestSpec>(at).count = into<RequestSpec>(at).trace->rows.size();
        },
        "A trace: Azure's, BurstGPT's or Mooncake's columns, or `arrival_ms,input_tokens,output_tokens`.")
        .or_else("none"),
    fields::own(
        "rate_factor", fields::positive_shape(1e6),
        [](const Reading& at) { into<RequestSpec>(at).time_factor = 1.0 / number_of(at); },
        "So many times the trace's rate: its times are divided by it.")
        .only_if("trace")
        .by("time_factor")
        .or_else("1"),
    fields::count<&RequestSpec::concurrency>("concurrency", 1, 1e7, "Clients, each with one request at a time.")
        .refuse_unless("!trace", kWithTrace)
        .or_else("none"),
    fields::part<kArrivals, &RequestSpec::arrivals>("arrivals", "When requests come, whatever becomes of those before.")
        .refuse_unless("!trace&!concurrency", "the trace or the concurrency says it")
        .must_if("!trace&!concurrency", "when requests come: \"arrivals\", \"concurrency\" or \"trace\""),
    fields::own_time(
        "think", "ms", fields::kTimeUnits, kDelayShape,
        [](const Reading& at) { into<RequestSpec>(at).think = read_delay(at.value, at.picoseconds, folder_of(at)); },
        "Of a client or session, between an answer and its next request.")
        .or_else("0"),
    fields::count<&RequestSpec::turns>("turns", 1, 1e6, "Requests of a session; each prompt begins with all before it.")
        .refuse_unless("!trace", kWithTrace)
        .or_else("1"),
    length<&RequestSpec::input>("input", "Tokens of a prompt; in a session those that are new.")
        .refuse_unless("!trace", kWithTrace)
        .must_if("!trace"),
    length<&RequestSpec::output>("output", "Tokens of an answer.").refuse_unless("!trace", kWithTrace).must_if("!trace"),
    fields::part<kPrefix, &RequestSpec::prefix>("prefix", "Prompts that begin alike.")
        .refuse_unless("!trace", kWithTrace)
        .or_else("none"),
    fields::count<&RequestSpec::count>("count", 1, 1e12, "How many; of a trace at most its rows.")
        .or_else("1000, or the whole trace"),
};
constexpr fields::Section kRequests{kRequestFields};

// ---- Engines.

constexpr Word<serving::Preemption> kPreemptions[] = {{"recompute", serving::Preemption::kRecompute},
                                                      {"swap", serving::Preemption::kSwap}};
constexpr Word<serving::Admission> kAdmissions[] = {{"first_chunk", serving::Admission::kFirstChunk},
                                                    {"prompt", serving::Admission::kPrompt},
                                                    {"prompt_and_output", serving::Admission::kPromptAndOutput}};
constexpr Word<serving::QueueOrder> kOrders[] = {{"arrival", serving::QueueOrder::kArrival},
                                                 {"priority", serving::QueueOrder::kPriority},
                                                 {"shortest", serving::QueueOrder::kShortest}};
constexpr Field kSpeculationFields[] = {
    fields::count<&serving::Speculation::drafts>("drafts", 1, 64, "Tokens that are proposed a step.").must(),
    fields::number<&serving::Speculation::acceptance>("acceptance", 0, 1, "Of one, after those before it.").must(),
    fields::time<&serving::Speculation::draft>("draft", "us", "To propose one, for the whole batch.").or_else("0"),
};
constexpr fields::Section kSpeculation{kSpeculationFields};
constexpr Field kEngineFields[] = {
    fields::count<&ServedEngine::spec, &EngineSpec::max_sequences>("max_sequences", 1, 1e6, "Requests that run at once.")
        .or_else("256"),
    fields::count<&ServedEngine::spec, &EngineSpec::token_budget>("token_budget", 1, 1e6, "Tokens of a step.")
        .or_else("8192"),
    fields::count<&ServedEngine::spec, &EngineSpec::long_prefill>("long_prefill_tokens", 0, 1e6,
                                                                  "Greatest chunk of one prompt; 0: the budget.")
        .or_else("0"),
    fields::count<&ServedEngine::spec, &EngineSpec::block_tokens>("block_tokens", 1, 65536, "Tokens of a KV block.")
        .or_else("16"),
    fields::count<&ServedEngine::spec, &EngineSpec::blocks>("blocks", 1, 4e9, "KV blocks of an engine.")
        .or_else("from the GPU's memory"),
    fields::number<&ServedEngine::memory_share>("memory_share", 0.01, 1, "Of the GPU's memory that the engine takes.")
        .or_else("0.9"),
    fields::number<&ServedEngine::reserved_gb>("reserved_gb", 0, 1e6, "Of this, for activations and the framework.")
        .or_else("2"),
    fields::flag<&ServedEngine::spec, &EngineSpec::prefix_caching>("prefix_caching",
                                                                   "Blocks with the same content are shared.")
        .or_else("true"),
    fields::word<kPreemptions, &ServedEngine::spec, &EngineSpec::preemption>("preemption",
                                                                             "What becomes of the KV of a "
                                                                             "preempted request.")
        .or_else("`\"recompute\"`"),
    fields::rate<&ServedEngine::swap_rate>("swap_gb_per_s", "From an engine to its host and back.")
        .only_if("preemption=swap")
        .must(),
    fields::word<kAdmissions, &ServedEngine::spec, &EngineSpec::admission>("admission",
                                                                           "For what blocks must be free before a "
                                                                           "request begins.")
        .or_else("`\"first_chunk\"`"),
    fields::word<kOrders, &ServedEngine::spec, &EngineSpec::order>("order", "Which waiting request is next.")
        .or_else("`\"arrival\"`"),
    fields::part<kSpeculation, &ServedEngine::spec, &EngineSpec::speculation>("speculation", "Drafts that a step verifies.")
        .or_else("none"),
};

}  // namespace

constexpr fields::Section kServedEngineSection{kEngineFields};

namespace {

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
    fields::count<&ServedPool::tp>("tp", 1, 65536, "GPUs of an engine, all in one server.").or_else("1"),
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
constexpr Word<bool> kFirstTokens[] = {{"decode", false}, {"prefill", true}};
constexpr Field kTransferFields[] = {
    fields::word<kWhens, &TransferSpec::when>("when",
                                              "When KV goes: whole after prefill, or all layers but the last from the "
                                              "beginning of the last chunk on.")
        .or_else("`\"at_end\"`"),
    fields::word<kTransferOrders, &TransferSpec::order>("order", "Those of one engine at once, or one after another.")
        .or_else("`\"fair\"`"),
    fields::word<kFirstTokens, &TransferSpec::first_token_at_prefill>("first_token", "Which engine gives it.")
        .or_else("`\"decode\"`"),
};
constexpr fields::Section kTransfer{kTransferFields};

constexpr Field kSloFields[] = {
    fields::time<&serving::SloSpec::ttft>("ttft", "ms", "Greatest time to the first token.").or_else("none"),
    fields::time<&serving::SloSpec::tpot>("tpot", "ms", "Greatest mean time between later tokens.").or_else("none"),
};
constexpr fields::Section kSlo{kSloFields};

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
        "precision", fields::text_shape(precision_words),
        [](const Reading& at) { into<ServingFile>(at).served.weight_bytes = read_precision(at.value); }, "Of its weights.")
        .by("")
        .or_else("`\"bf16\"`"),
    fields::own(
        "kv_precision", fields::text_shape(precision_words),
        [](const Reading& at) { into<ServingFile>(at).served.kv_bytes = read_precision(at.value); }, "Of its KV.")
        .by("")
        .or_else("`\"bf16\"`"),
    fields::part<kRequests, &ServingFile::spec, &ServingSpec::requests>("requests", "What is asked for.").must(),
    fields::count<&ServingFile::spec, &ServingSpec::warm_up>("warm_up", 0, 1e12,
                                                             "First requests, whose times do not count.")
        .or_else("0"),
    fields::parts<kPool, &ServingFile::pools>("pools", "Engines that are alike.").or_else("one mixed pool on all servers"),
    fields::part<kServedEngineSection, &ServingFile::engine>("engine", "How an engine batches."),
    fields::known("times", fields::object_shape(kServingTimesSection), "How long a step takes.")
        .or_else("the GPU's roofline"),
    fields::part<kRouting, &ServingFile::spec, &ServingSpec::routing>("routing", "Who serves what."),
    fields::part<kTransfer, &ServingFile::spec, &ServingSpec::transfer>("transfer", "How KV goes from prefill to decode."),
    fields::part<kSlo, &ServingFile::spec, &ServingSpec::slo>("slo", "What a good request keeps.").or_else("none"),
    fields::time<&ServingFile::spec, &ServingSpec::horizon>("horizon", "s", "The run ends then, whatever is unfinished.")
        .or_else("none"),
};

}  // namespace

constexpr fields::Section kServingSection{kServingFields};

namespace {

// Servers of each pool: what it names, or what no other does.
void deal_servers(const JsonReader& section, const ClusterSpec& cluster, std::vector<ServedPool>& pools) {
  std::set<std::uint32_t> taken;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    for (const std::uint32_t server : pools[p].servers) {
      if (!taken.insert(server).second)
        section.fail("server " + std::to_string(server) + " is in two pools", "give each pool servers of its own");
    }
  }
  std::vector<std::uint32_t> rest;
  for (std::uint32_t server = 0; server < cluster.servers; ++server) {
    if (taken.count(server) == 0) rest.push_back(server);
  }
  const auto open = std::count_if(pools.begin(), pools.end(), [](const ServedPool& p) { return p.servers.empty(); });
  if (open > 1) section.fail("several pools name no servers", "name those of all but one");
  for (ServedPool& pool : pools) {
    if (pool.servers.empty()) pool.servers = rest;
    if (pool.servers.empty())
      section.fail("pool \"" + pool.name + "\" has no GPUs", "name its servers, or add some to /cluster");
    if (cluster.gpus_per_server % pool.tp != 0) {
      section.fail("pool \"" + pool.name + "\": tp " + std::to_string(pool.tp) + " does not divide the " +
                       core::counted(cluster.gpus_per_server, "GPU") + " of a server",
                   "engines lie inside servers");
    }
  }
}

void check_roles(const JsonReader& section, const std::vector<ServedPool>& pools) {
  std::size_t of[3] = {};
  for (const ServedPool& pool : pools) ++of[static_cast<std::size_t>(pool.role)];
  const auto [mixed, prefill, decode] = of;
  if ((prefill > 0) != (decode > 0))
    section.fail("has pools of one of the roles \"prefill\" and \"decode\" only", "one needs the other");
  if (mixed > 0 && prefill > 0) section.fail("has mixed pools beside others", "either all are mixed, or none is");
}

EngineSpec engine_of(const JsonReader& section, const ServedPool& pool, const serving::ServedModel& served,
                     const GpuSpec& gpu) {
  EngineSpec spec = pool.engine.spec;
  const double block = served.kv_per_gpu() * spec.block_tokens;
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

void add_pool(const JsonReader& section, const ServedPool& pool, const ServingFile& file, const ServingContext& context,
              ServingSpec& spec) {
  const ClusterSpec& cluster = context.cluster;
  serving::ServedModel served = file.served;
  served.tp = pool.tp;
  PoolSpec made;
  made.name = pool.name;
  made.role = pool.role;
  made.engine = engine_of(section, pool, served, cluster.gpu);
  made.times = step_times(pool.times, served, made.engine, context);
  for (const std::uint32_t server : pool.servers) {
    for (std::uint32_t first = 0; first < cluster.gpus_per_server; first += pool.tp) {
      std::vector<RankId>& ranks = made.engines.emplace_back();
      for (std::uint32_t g = 0; g < pool.tp; ++g) ranks.emplace_back(server * cluster.gpus_per_server + first + g);
    }
  }
  if (pool.role == serving::PoolRole::kPrefill) {
    spec.transfer.bytes_per_token = served.kv_sent();
    spec.transfer.layers = served.model.layers;
    spec.transfer.latency = cluster.nic.latency + cluster.nic.message_overhead;
    spec.transfer.rate = {cluster.nic.per_port.bytes_per_second * cluster.nic.ports};
  }
  spec.pools.push_back(std::move(made));
}

// Keys of a trace are those of its own blocks, which the engine's must divide.
void check_hashes(const JsonReader& section, const ServingSpec& spec) {
  if (!spec.requests.trace) return;
  const serving::Trace& trace = *spec.requests.trace;
  const bool has = std::any_of(trace.rows.begin(), trace.rows.end(), [](const auto& row) { return !row.hashes.empty(); });
  for (const PoolSpec& pool : spec.pools) {
    if (has && trace.hash_tokens % pool.engine.block_tokens != 0) {
      section.fail("block_tokens " + std::to_string(pool.engine.block_tokens) + " does not divide the " +
                       std::to_string(trace.hash_tokens) + " tokens of the trace's hashes",
                   "16, 64 or 512");
    }
  }
}

}  // namespace

Workload read_serving(const JsonReader& section, const std::filesystem::path& directory, const ClusterSpec& cluster) {
  ServingFile file;
  const ServingContext context(directory, cluster);
  JsonReader reader = section;
  fields::read_open(reader, kServingSection, &file, &context);
  const auto times = reader.optional("times");
  std::vector<JsonReader> entries;
  if (const auto pools = reader.optional("pools")) entries = pools->elements();
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
  deal_servers(section, cluster, file.pools);
  check_roles(section, file.pools);
  for (const ServedPool& pool : file.pools) add_pool(section, pool, file, context, file.spec);
  check_hashes(section, file.spec);
  reader.finish();
  Workload work;
  work.graph = idle_graph(cluster.gpus());
  work.decided = std::make_shared<run::ServedWorkload>(std::move(file.spec));
  return work;
}

}  // namespace photonrail::config
