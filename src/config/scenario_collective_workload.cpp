// The "workload/collective" section: one collective, called as often as it says.
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "core/counted.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/choice.hpp"

#include <memory>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;

struct CollectiveWorkload {
  CollectiveOp op = CollectiveOp::kAllReduce;
  Bytes size{};
  std::uint32_t ranks = 2;
  std::uint32_t repeat = 1;
  Member root = 0;
  std::map<std::uint32_t, Duration> delay;  // by rank
  std::optional<TrafficMatrix> demand;
  std::optional<MoeSpec> moe;  // `repeat` is its number of layers
  std::shared_ptr<const collective::RefitTraffic> refit;
};

// What a rank calls once: as many times as `repeat` says. Each call waits for the one before.
struct Calls {
  std::shared_ptr<const TrafficSource> source;
  std::vector<std::pair<std::uint32_t, Bytes>> in_turn;  // number of the demand, 0: even; size
};

Calls calls_of(const CollectiveWorkload& job) {
  Calls calls;
  if (job.moe) {
    const auto traffic = std::make_shared<const MoeTraffic>(*job.moe);
    for (std::uint32_t layer = 0; layer < job.repeat; ++layer) {
      for (const MoeExchange exchange : {MoeExchange::kDispatch, MoeExchange::kCombine}) {
        calls.in_turn.emplace_back(traffic->number(layer, 0, exchange), traffic->typical_input(exchange));
      }
    }
    calls.source = traffic;
    return calls;
  }
  std::pair<std::uint32_t, Bytes> call{0, job.size};
  if (job.refit) {
    call = {1, {job.refit->spec().bytes().count / job.refit->spec().members()}};
    calls.source = job.refit;
  }
  if (job.demand) {
    auto table = std::make_shared<DemandTable>();
    call = {table->add(*job.demand), {job.demand->wire_bytes().count / job.demand->members()}};
    calls.source = std::move(table);
  }
  calls.in_turn.assign(job.repeat, call);
  return calls;
}

CollectiveOp read_op(const JsonReader& value) {
  const std::string word = value.string();
  if (const auto op = collective_op_from(word); op && *op != CollectiveOp::kSend) return *op;
  std::vector<std::string> known;
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    if (static_cast<CollectiveOp>(i) != CollectiveOp::kSend) known.emplace_back(name(static_cast<CollectiveOp>(i)));
  }
  value.fail("unknown collective \"" + word + "\"", suggest(word, known));
}

std::string read_algorithm(const JsonReader& value, CollectiveOp op, Member members, const CollectiveRegistry& known) {
  const std::string wanted = read_algorithm_name(value, known);
  if (wanted == kAutoAlgorithm) return wanted;
  const CollectiveAlgorithm& algorithm = known.find(wanted);
  if (algorithm.supports(op, members)) return std::string(algorithm.name());
  std::string able;
  for (const auto& a : known.all()) {
    if (a->supports(op, members)) able += (able.empty() ? "" : ", ") + std::string(a->name());
  }
  value.fail(
      std::string(algorithm.name()) + " cannot do " + std::string(name(op)) + " among " + core::counted(members, "member"),
      able.empty() ? "no algorithm can" : "these can: " + able);
}

/// The values that lines of the table take from the caller.
struct CollectiveContext : FileContext {
  CollectiveContext(const std::filesystem::path& folder, const ClusterSpec& of_job, CollectiveSpec& of_file,
                    const CollectiveRegistry& names)
      : FileContext(folder), cluster(of_job), collectives(of_file), known(names) {}
  const ClusterSpec& cluster;
  CollectiveSpec& collectives;
  const CollectiveRegistry& known;
};

void store_arrivals(const Reading& at) {
  auto& job = into<CollectiveWorkload>(at);
  for (const auto& [key, value] : at.value.members()) {
    const bool digits = !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || std::stoul(key) >= job.ranks) {
      value.fail("no such rank", "ranks are \"0\" to \"" + std::to_string(job.ranks - 1) + "\"");
    }
    job.delay[static_cast<std::uint32_t>(std::stoul(key))] = value.in_picoseconds(at.picoseconds);
  }
}

TaskGraph build(const CollectiveWorkload& job) {
  const Calls calls = calls_of(job);
  TaskGraphBuilder builder(job.ranks);
  builder.set_demands(calls.source);
  std::vector<RankId> members;
  for (std::uint32_t r = 0; r < job.ranks; ++r) members.emplace_back(r);
  const Dimension dimension = job.moe ? Dimension::kEp : job.refit ? Dimension::kRefit : Dimension::kOther;
  const CommunicatorId group = builder.add_communicator("all", std::move(members), dimension);
  const std::string_view called = job.refit ? "refit" : name(job.op);
  std::map<Duration, ProgramId> program_of;  // ranks that arrive together share one
  for (std::uint32_t r = 0; r < job.ranks; ++r) {
    const auto found = job.delay.find(r);
    const Duration delay = found == job.delay.end() ? Duration{} : found->second;
    const auto [entry, fresh] = program_of.try_emplace(delay);
    if (fresh) {
      const ProgramId p = entry->second = builder.add_program();
      std::vector<TaskId> after;
      if (delay > Duration{}) after.push_back(builder.add_delay(p, delay, "arrival delay"));
      for (const auto& [demand, size] : calls.in_turn) {
        const bool even = demand == 0;
        after = {even ? builder.add_collective(p, 0, job.op, size, called, after, job.root)
                      : builder.add_all_to_all(p, 0, demand, size, called, after)};
      }
    }
    builder.assign(RankId{r}, entry->second, {group});
  }
  return std::move(builder).build();
}

// "bytes", a demand, a mixture of experts and a refit exclude each other.
void read_given_demand(const Reading& at) {
  auto& job = into<CollectiveWorkload>(at);
  JsonReader& section = at.section;
  if (job.op == CollectiveOp::kBarrier) section.refuse("bytes", "a barrier carries no bytes", "remove it");
  std::optional<JsonReader> given;
  std::string_view key;
  for (const char* known : {"demand", "moe", "refit"}) {
    const auto value = section.optional(known);
    if (value && given) value->fail("the demand is given already", "remove one of the two");
    if (!value) continue;
    given = value;
    key = known;
  }
  if (!given) return;
  if (job.op != CollectiveOp::kAllToAll) section.fail_at(key, "only an all_to_all has one");
  section.refuse("bytes", "\"" + std::string(key) + "\" says how many", "remove one of the two");
  if (key == "demand") job.demand = inline_or_file(*given, folder_of(at), read_demand);
  if (key == "moe") fields::read(*given, kMoeSection, &job.moe.emplace(), at.context);
  if (key == "refit") job.refit = read_refit(*given, folder_of(at));
}

void set_ranks(const Reading& at) {
  auto& job = into<CollectiveWorkload>(at);
  const ClusterSpec& cluster = context_of<CollectiveContext>(at).cluster;
  job.ranks = job.demand ? job.demand->members() : job.refit ? job.refit->spec().members() : cluster.gpus();
  if (job.demand || job.refit) check_fit(at.section.pointer() + (job.demand ? "/demand" : "/refit"), job.ranks, cluster);
}

void store_ranks(const Reading& at) {
  auto& job = into<CollectiveWorkload>(at);
  if (job.demand || job.refit) at.value.fail("the demand says how many", "remove it");
  job.ranks = static_cast<std::uint32_t>(whole_of(at));
  check_fit(at.value.pointer(), job.ranks, context_of<CollectiveContext>(at).cluster);
}

void store_algorithm(const Reading& at) {
  const auto& job = into<CollectiveWorkload>(at);
  const auto& context = context_of<CollectiveContext>(at);
  std::string& algorithm = context.collectives.algorithm[static_cast<std::size_t>(job.op)];
  algorithm = at.value.is_object() ? read_algorithm_file(at.value, job.op, context.directory, context.collectives)
                                   : read_algorithm(at.value, job.op, job.ranks, context.known);
}

void refuse_root(const Reading& at) {
  const CollectiveOp op = into<CollectiveWorkload>(at).op;
  const bool rooted = op == CollectiveOp::kReduce || op == CollectiveOp::kGather || op == CollectiveOp::kScatter ||
                      op == CollectiveOp::kBroadcast;
  if (!rooted) at.section.refuse("root", std::string(name(op)) + " has no root", "remove it");
}

constexpr Field kCollectiveFields[] = {
    fields::own(
        "op", fields::text_shape(op_words), [](const Reading& at) { into<CollectiveWorkload>(at).op = read_op(at.value); },
        "The collective.")
        .must(),
    fields::known(
        "demand", fields::either(kDemandShape, kPathShape),
        "All-to-all: a square array of arrays of bytes, row = sender, column = receiver, the diagonal stays, or the "
        "path of such a JSON file; its size is the number of ranks.")
        .or_else("none"),
    fields::known("moe", fields::object_shape(kMoeSection),
                  "All-to-all: the dispatch and combine of a mixture of experts, one expert-parallel group of all ranks.")
        .or_else("none"),
    fields::known("refit", fields::object_shape(kRefitSection),
                  "All-to-all: the weights of a trained model go to the engines that generate with it; their layouts say "
                  "how many ranks.")
        .or_else("none"),
    fields::then(read_given_demand),
    fields::count<&CollectiveWorkload::size>("bytes", 1, 0x1p50,
                                             "All-gather, gather: a member's shard; all-to-all: a member's input; else the "
                                             "full tensor.")
        .only_if("!op=barrier&!demand&!moe&!refit")
        .must(),
    fields::then(set_ranks),
    fields::own("ranks", fields::whole_shape(2, 4294967294.0), store_ranks, "How many; at most the GPUs of the cluster.")
        .or_else("all GPUs"),
    fields::then([](const Reading& at) {
      if (into<CollectiveWorkload>(at).ranks < 2)
        at.section.fail("a collective needs two ranks, but the cluster has one GPU", "raise /cluster/servers");
    }),
    fields::own("algorithm", kAlgorithmShape, store_algorithm,
                "A name, `\"auto\"`, or a file, as in `/collectives`, which it goes before.")
        .or_else("from `/collectives`"),
    fields::then(refuse_root),
    fields::own(
        "root", fields::whole_shape(0, 4294967294.0),
        [](const Reading& at) {
          auto& job = into<CollectiveWorkload>(at);
          job.root = read_index(at.value, job.ranks);
        },
        "The rank of a reduce, gather, scatter or broadcast.")
        .refuse_unless("op=reduce|gather|scatter|broadcast")
        .or_else("0"),
    fields::count<&CollectiveWorkload::repeat>("repeat", 1, 1'000'000, "Calls, one after another; with `moe`: layers.")
        .or_else("1"),
    fields::own_time("arrival_delay", "us", fields::kTimeUnits, fields::map_shape(kDelayNumber), store_arrivals,
                     "Of ranks that are late for the first call.")
        .or_else("none"),
};

void check_calls(const Reading& at) {
  const auto& job = into<CollectiveWorkload>(at);
  if ((job.delay.size() + 1) * std::uint64_t{job.repeat} > kMaxTasks)
    at.section.fail("makes more than 2^24 calls: \"repeat\" times the ranks that arrive late", "fewer of either");
}

}  // namespace

std::vector<std::string> op_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (int i = 0; i < static_cast<int>(CollectiveOp::kSend); ++i) words.emplace_back(name(static_cast<CollectiveOp>(i)));
  return words;
}

constexpr Section kCollectiveSection{kCollectiveFields, check_calls};

TaskGraph read_collective_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                                   CollectiveSpec& collectives, const CollectiveRegistry& known) {
  CollectiveWorkload job;
  const CollectiveContext context(directory, cluster, collectives, known);
  fields::read(section, kCollectiveSection, &job, &context);
  if (!job.moe) return build(job);
  job.moe->members = job.ranks;
  job.moe->layers = job.repeat;
  return in_section(JsonReader(*section.json().find("moe"), section.pointer() + "/moe"), kMoeSection,
                    [&] { return build(job); });
}

}  // namespace photonrail::config
