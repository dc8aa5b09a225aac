// The "workload/collective" section: one collective, called as often as it says.
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "core/counted.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/choice.hpp"

#include <limits>
#include <memory>

namespace photonrail::config {

namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;  // 1 PiB

struct CollectiveWorkload {
  CollectiveOp op = CollectiveOp::kAllReduce;
  Bytes size{};
  std::uint32_t ranks = 2;
  std::uint32_t repeat = 1;
  Member root = 0;
  std::map<std::uint32_t, Duration> delay;  // by rank
  std::optional<TrafficMatrix> demand;
  std::optional<MoeSpec> moe;  // `repeat` is its number of layers
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

std::map<std::uint32_t, Duration> read_arrivals(JsonReader& section, std::uint32_t ranks) {
  std::map<std::uint32_t, Duration> delays;
  const auto found = section.timed("arrival_delay", "us");
  if (!found) return delays;
  for (const auto& [key, value] : found->first.members()) {
    const bool digits = !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || std::stoul(key) >= ranks) {
      value.fail("no such rank", "ranks are \"0\" to \"" + std::to_string(ranks - 1) + "\"");
    }
    delays[static_cast<std::uint32_t>(std::stoul(key))] = value.in_picoseconds(found->second);
  }
  return delays;
}

TaskGraph build(const CollectiveWorkload& job) {
  const Calls calls = calls_of(job);
  TaskGraphBuilder builder(job.ranks);
  builder.set_demands(calls.source);
  std::vector<RankId> members;
  for (std::uint32_t r = 0; r < job.ranks; ++r) members.emplace_back(r);
  const CommunicatorId group =
      builder.add_communicator("all", std::move(members), job.moe ? Dimension::kEp : Dimension::kOther);
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
        after = {even ? builder.add_collective(p, 0, job.op, size, name(job.op), after, job.root)
                      : builder.add_all_to_all(p, 0, demand, size, name(job.op), after)};
      }
    }
    builder.assign(RankId{r}, entry->second, {group});
  }
  return std::move(builder).build();
}

void read_demand_or_moe(JsonReader& section, const std::filesystem::path& directory, CollectiveWorkload& job) {
  const auto demand = section.optional("demand");
  auto moe = section.optional("moe");
  if (!demand && !moe) return;
  const char* key = demand ? "demand" : "moe";
  if (demand && moe) moe->fail("the demand is given already", "remove one of the two");
  if (job.op != CollectiveOp::kAllToAll) section.fail_at(key, "only an all_to_all has one");
  section.refuse("bytes", "\"" + std::string(key) + "\" says how many", "remove one of the two");
  if (demand) {
    job.demand = inline_or_file(*demand, directory, read_demand);
    return;
  }
  MoeSpec& spec = job.moe.emplace();
  read_moe_layer(*moe, directory, spec);
  moe->finish();
}

}  // namespace

TaskGraph read_collective_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                                   CollectiveSpec& collectives, const CollectiveRegistry& known) {
  CollectiveWorkload job;
  job.op = read_op(section.child("op"));
  const bool barrier = job.op == CollectiveOp::kBarrier;
  const bool rooted = job.op == CollectiveOp::kReduce || job.op == CollectiveOp::kGather ||
                      job.op == CollectiveOp::kScatter || job.op == CollectiveOp::kBroadcast;
  if (barrier) section.refuse("bytes", "a barrier carries no bytes", "remove it");
  read_demand_or_moe(section, directory, job);
  const bool even = !barrier && !job.demand && !job.moe;
  if (even) job.size = Bytes{static_cast<std::int64_t>(section.child("bytes").integer(1, kMaxBytes))};
  job.ranks = job.demand ? job.demand->members() : cluster.gpus();
  if (job.demand) check_fit(section.pointer() + "/demand", job.ranks, cluster);
  if (const auto v = section.optional("ranks")) {
    if (job.demand) v->fail("the demand says how many", "remove it");
    job.ranks = v->count(2, std::numeric_limits<std::uint32_t>::max() - 1);
    check_fit(v->pointer(), job.ranks, cluster);
  }
  if (job.ranks < 2) section.fail("a collective needs two ranks, but the cluster has one GPU", "raise /cluster/servers");
  if (const auto v = section.optional("algorithm")) {
    std::string& algorithm = collectives.algorithm[static_cast<std::size_t>(job.op)];
    algorithm = v->is_object() ? read_algorithm_file(*v, job.op, directory, collectives)
                               : read_algorithm(*v, job.op, job.ranks, known);
  }
  if (!rooted) section.refuse("root", std::string(name(job.op)) + " has no root", "remove it");
  if (const auto v = section.optional("root")) job.root = read_index(*v, job.ranks);
  if (const auto v = section.optional("repeat")) job.repeat = v->count(1, 1'000'000);
  job.delay = read_arrivals(section, job.ranks);
  if ((job.delay.size() + 1) * std::uint64_t{job.repeat} > kMaxTasks)
    section.fail("makes more than 2^24 calls: \"repeat\" times the ranks that arrive late", "fewer of either");
  section.finish();
  if (!job.moe) return build(job);
  job.moe->members = job.ranks;
  job.moe->layers = job.repeat;
  return in_section(JsonReader(*section.json().find("moe"), section.pointer() + "/moe"), moe_keys(),
                    [&] { return build(job); });
}

}  // namespace photonrail::config
