#include "photonrail/testing/fuzz.hpp"

#include "testing/case_tasks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

namespace photonrail::testing {

namespace {

constexpr double kPortGbPerS = 50;

std::uint32_t from_to(RandomStream& random, std::uint32_t least, std::uint32_t most) {
  return least + static_cast<std::uint32_t>(random.below(most - least + 1));
}

template <class T>
T pick(RandomStream& random, std::initializer_list<T> list) {
  return *(list.begin() + random.below(list.size()));
}

// Some of a rail, of a server, or of the whole cluster; rails most of the time.
std::vector<std::uint32_t> draw_members(RandomStream& random, const FuzzCase& fuzz_case) {
  const std::uint32_t width = fuzz_case.gpus_per_server;
  const auto seed = static_cast<std::uint32_t>(random.below(fuzz_case.ranks()));
  const std::uint64_t kind = random.below(8);
  std::vector<std::uint32_t> members;
  for (std::uint32_t r = 0; r < fuzz_case.ranks(); ++r) {
    const bool fits = kind == 0 ? r / width == seed / width : kind == 1 || r % width == seed % width;
    if (fits && (r == seed || random.below(3) != 0)) members.push_back(r);
  }
  return members;
}

FuzzCall draw_call(RandomStream& random, const FuzzCase& fuzz_case) {
  using enum CollectiveOp;
  FuzzCall call;
  call.members = draw_members(random, fuzz_case);
  call.op = pick(random, {kSend, kSend, kSend, kAllReduce, kAllGather, kReduceScatter, kBroadcast, kAllToAll});
  call.bytes = pick<std::int64_t>(random, {1, 4096, 1'000'000, 5'000'000});
  if (call.op == kSend) {
    while (call.members.size() > 2)
      call.members.erase(call.members.begin() + static_cast<long>(random.below(call.members.size())));
    if (random.below(2) == 0) std::reverse(call.members.begin(), call.members.end());
  }
  if (random.below(2) == 0) {
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      call.compute_us.push_back(pick<std::uint32_t>(random, {0, 3, 70, 900}));
    }
  }
  call.overlaps = random.below(4) == 0;
  return call;
}

std::unique_ptr<const SendPlan> plan_of(const FuzzCase& fuzz_case, const FuzzCall& call) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  const std::uint32_t pieces = call.op == CollectiveOp::kSend ? 1 : fuzz_case.chunks;
  return registry.find(CollectiveSpec{}.algorithm[static_cast<std::size_t>(call.op)])
      .expand({call.op, static_cast<Member>(call.members.size()), Bytes{call.bytes}, 0, pieces});
}

// A round that wants more circuits from one GPU, or to one, than it has ports can never be held.
bool can_be_held(const FuzzCase& fuzz_case, const FuzzCall& call) {
  const std::uint32_t width = fuzz_case.gpus_per_server;
  const auto plan = plan_of(fuzz_case, call);
  for (std::uint32_t round = 0; round < plan->rounds(); ++round) {
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> pairs;  // rail, from, to
    for (const MemberPair& pair : plan->pairs(round)) {
      const std::uint32_t from = call.members[pair.first];
      const std::uint32_t to = call.members[pair.second];
      if (from / width != to / width) pairs.emplace(to % width, from / width, to / width);
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> out, in;
    for (const auto& [rail, from, to] : pairs) {
      if (++out[{rail, from}] > fuzz_case.ports || ++in[{rail, to}] > fuzz_case.ports) return false;
    }
  }
  return true;
}

bool well_formed(const FuzzCase& fuzz_case, const FuzzCall& call) {
  const auto& members = call.members;
  if (members.size() < 2 || (call.op == CollectiveOp::kSend && members.size() != 2)) return false;
  if (!call.compute_us.empty() && call.compute_us.size() != members.size()) return false;
  if (std::any_of(members.begin(), members.end(), [&](std::uint32_t m) { return m >= fuzz_case.ranks(); })) return false;
  if (call.op == CollectiveOp::kSend) return members[0] != members[1];
  return std::adjacent_find(members.begin(), members.end(), std::greater_equal<>{}) == members.end();
}

}  // namespace

FuzzCase draw_case(RandomStream& random) {
  FuzzCase drawn;
  using std::chrono::microseconds;
  drawn.servers = from_to(random, 2, 6);
  drawn.gpus_per_server = pick<std::uint32_t>(random, {1, 1, 2});
  drawn.ports = pick<std::uint32_t>(random, {1, 1, 2});
  drawn.switching = microseconds(pick(random, {0, 1, 50, 1000}));
  drawn.link_up = microseconds(pick(random, {0, 0, 7}));
  drawn.request = microseconds(pick(random, {0, 0, 2}));
  drawn.latency = microseconds(pick(random, {0, 1}));
  drawn.chunks = from_to(random, 1, 2);
  drawn.iterations = from_to(random, 1, 2);
  drawn.fidelity = pick(random, {Fidelity::kExact, Fidelity::kStream});
  drawn.lanes = pick(random, {CommLanes::kPerCommunicator, CommLanes::kOne});
  drawn.forwarding = random.below(6) == 0;
  drawn.setting = from_to(random, 0, 63);
  const std::uint32_t calls = from_to(random, 1, 8);
  for (std::uint32_t tries = 0; drawn.calls.size() < calls || drawn.calls.empty(); ++tries) {
    FuzzCall call = draw_call(random, drawn);
    if (well_formed(drawn, call) && can_be_held(drawn, call)) drawn.calls.push_back(std::move(call));
    if (tries > 100 && !drawn.calls.empty()) break;
  }
  return drawn;
}

bool valid(const FuzzCase& fuzz_case) {
  if (fuzz_case.calls.empty() || fuzz_case.servers == 0 || fuzz_case.gpus_per_server == 0 || fuzz_case.ports == 0)
    return false;
  return std::all_of(fuzz_case.calls.begin(), fuzz_case.calls.end(),
                     [&](const FuzzCall& call) { return well_formed(fuzz_case, call) && can_be_held(fuzz_case, call); });
}

Duration serial_time(const FuzzCase& fuzz_case) {
  const Duration reconfiguration = fuzz_case.switching + fuzz_case.link_up + 4 * fuzz_case.request;
  Duration total{};
  for (const FuzzCall& call : fuzz_case.calls) {
    const auto plan = plan_of(fuzz_case, call);
    total += transfer_time(plan->wire_bytes(), Bandwidth::from_gb_per_s(kPortGbPerS));
    total += static_cast<std::int64_t>(plan->critical_sends()) * (fuzz_case.latency + reconfiguration);
    for (const std::uint32_t us : call.compute_us) total += std::chrono::microseconds(us);
  }
  return total * static_cast<std::int64_t>(fuzz_case.iterations);
}

std::uint64_t rounds(const FuzzCase& fuzz_case) {
  std::uint64_t rounds = 0;
  for (const FuzzCall& call : fuzz_case.calls) rounds += plan_of(fuzz_case, call)->rounds();
  return rounds * fuzz_case.iterations;
}

Scenario scenario_of(const FuzzCase& fuzz_case) {
  Scenario scenario;
  scenario.name = "small case";
  ClusterSpec& cluster = scenario.cluster;
  cluster.servers = fuzz_case.servers;
  cluster.gpus_per_server = fuzz_case.gpus_per_server;
  cluster.nic.ports = fuzz_case.ports;
  cluster.nic.per_port = Bandwidth::from_gb_per_s(kPortGbPerS);
  cluster.nic.latency = fuzz_case.latency;
  cluster.rail.kind = RailKind::kOptical;
  cluster.rail.forwarding = fuzz_case.forwarding;
  cluster.rail.optical.reconfiguration = DelayDistribution::constant(fuzz_case.switching);
  cluster.rail.optical.link_up = fuzz_case.link_up;
  ControllerSpec& controller = scenario.controller;
  controller.request = controller.service = controller.command = controller.acknowledgement = fuzz_case.request;
  scenario.executor.comm_lanes = fuzz_case.lanes;
  scenario.executor.buffered_send = Bytes{};
  scenario.collectives.chunks = fuzz_case.chunks;
  scenario.run.iterations = fuzz_case.iterations;
  scenario.run.fidelity = fuzz_case.fidelity;
  for (std::uint32_t r = 0; r < fuzz_case.ranks(); ++r) scenario.gpu_of_rank.push_back(GpuId{r});
  scenario.graph = graph_of(fuzz_case);
  scenario.graph.infer_dimensions(scenario.gpu_of_rank, fuzz_case.gpus_per_server);
  return scenario;
}

}  // namespace photonrail::testing
