// Jobs drawn at random that cannot deadlock, for laws that hold whatever the job.
#pragma once

#include "photonrail/core/random.hpp"
#include "run/job.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed, "property test") {}
  std::uint32_t from_to(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random_.below(most - least + 1));
  }
  bool one_in(std::uint32_t n) { return random_.below(n) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.below(i)]);
  }

 private:
  RandomStream random_;
};

/// One collective, or one send with its receive, of a drawn job.
struct Call {
  CollectiveOp op = CollectiveOp::kSend;
  std::vector<std::size_t> members;  // ranks; a send: sender, receiver
  std::int64_t bytes = 0;
  Member root = 0;
  std::uint32_t tag = 0;
  Dimension dimension = Dimension::kDp;
};

/// What is left to chance.
struct Shape {
  bool sequential = false;  ///< every task waits for the rank's previous one, and no two ranks share a port
  RailKind rail = RailKind::kOptical;
};

/// A job that cannot deadlock: calls have a global order, and a task waits only for tasks of calls before its own.
class Drawing {
 public:
  Drawing(std::uint64_t seed, const Shape& shape) : dice_(seed), shape_(shape) {
    draw_cluster();
    draw_run();
    draw_placement();
    draw_calls();
    write_graph();
  }

  Scenario scenario;
  std::vector<Call> calls;
  std::vector<Duration> compute_of_rank;

 private:
  void draw_cluster() {
    ClusterSpec& c = scenario.cluster;
    c.servers = dice_.from_to(1, 5);
    c.gpus_per_server = dice_.from_to(1, 4);
    c.nic.ports = dice_.from_to(1, 3);
    c.nic.per_port = Bandwidth::from_gb_per_s(dice_.pick<double>({12.5, 50, 33.3}));
    c.scale_up.per_gpu = Bandwidth::from_gb_per_s(dice_.pick<double>({450, 70}));
    c.nic.latency = dice_.pick<Duration>({{}, us(1), Duration{936251}});
    c.nic.message_overhead = dice_.pick<Duration>({{}, Duration{10007}});
    c.scale_up.latency = dice_.pick<Duration>({{}, Duration{500003}});
    c.rail.kind = shape_.rail;
    c.rail.switch_radix = shape_.sequential ? 64 : dice_.pick<std::uint32_t>({64, 64, 4, 2});
    c.rail.oversubscription = dice_.pick<double>({1.0, 2.0, 3.0});
    c.rail.tier_latency = us(0.5);
    c.rail.forwarding = !shape_.sequential && dice_.one_in(4);
    c.rail.optical.reconfiguration = DelayDistribution::constant(dice_.pick<Duration>({{}, us(1), us(100), ms(10)}));
    if (dice_.one_in(4)) c.rail.optical.reconfiguration = {DelayDistribution::Kind::kUniform, us(1), ms(1), 0.0};
    if (dice_.one_in(4)) c.rail.optical.link_up = us(37);
  }

  void draw_run() {
    ControllerSpec& controller = scenario.controller;
    if (shape_.rail == RailKind::kOptical) {
      controller.name = "opus";
      controller.parameters.set("mode", dice_.pick<const char*>({"on_demand", "provisioned"}));
      controller.parameters.set("order", dice_.pick<const char*>({"scheduled", "free"}));
      if (dice_.one_in(2)) {
        controller.request = dice_.pick<Duration>({{}, us(100)});
        controller.service = dice_.pick<Duration>({{}, us(30)});
        controller.command = dice_.pick<Duration>({{}, us(20)});
        controller.acknowledgement = dice_.pick<Duration>({{}, us(7)});
      }
    }
    scenario.executor.comm_lanes = dice_.pick<CommLanes>({CommLanes::kPerCommunicator, CommLanes::kOne});
    scenario.executor.buffered_send = Bytes{shape_.sequential ? 0 : dice_.pick<std::int64_t>({0, 4 << 20})};
    scenario.collectives.chunks = dice_.from_to(1, 4);
    const auto all_to_all = static_cast<std::size_t>(CollectiveOp::kAllToAll);
    if (shape_.rail == RailKind::kElectrical && dice_.one_in(2)) scenario.collectives.algorithm[all_to_all] = "direct";
    scenario.run.iterations = dice_.from_to(1, 2);
    scenario.run.fidelity = dice_.pick<Fidelity>({Fidelity::kExact, Fidelity::kStream});
    scenario.run.seed = dice_.from_to(1, 1000);
  }

  void draw_placement() {
    for (std::uint32_t g = 0; g < scenario.cluster.gpus(); ++g) scenario.gpu_of_rank.push_back(GpuId{g});
    dice_.shuffle(scenario.gpu_of_rank);
    if (dice_.one_in(2)) scenario.gpu_of_rank.resize(dice_.from_to(1, scenario.cluster.gpus()));
    if (dice_.one_in(2)) std::sort(scenario.gpu_of_rank.begin(), scenario.gpu_of_rank.end());
  }

  // Ranks of one server, of one rail, or of anywhere, ascending; the dimension tells which.
  std::vector<std::size_t> draw_members(Dimension& dimension) {
    const std::uint32_t width = scenario.cluster.gpus_per_server;
    const GpuId seed = dice_.pick(scenario.gpu_of_rank);
    dimension = dice_.pick<Dimension>({Dimension::kTp, Dimension::kDp, Dimension::kDp, Dimension::kEp});
    if (shape_.sequential && dimension == Dimension::kEp) dimension = Dimension::kCp;
    std::vector<std::size_t> members;
    for (std::size_t r = 0; r < ranks(); ++r) {
      const GpuId gpu = scenario.gpu_of_rank[r];
      const bool server = gpu.value / width == seed.value / width;
      const bool rail = gpu.value % width == seed.value % width;
      const bool fits = dimension == Dimension::kTp ? server : dimension == Dimension::kEp ? true : rail;
      if (fits && (gpu == seed || !dice_.one_in(3))) members.push_back(r);
    }
    return members;
  }

  Call draw_call() {
    Call call;
    call.bytes = dice_.pick<std::int64_t>({0, 1, 13, 4097, 100000, 1 << 20, 5 << 20});
    call.members = draw_members(call.dimension);
    std::vector<CollectiveOp> ops{CollectiveOp::kAllReduce, CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
                                  CollectiveOp::kBroadcast, CollectiveOp::kBarrier,   CollectiveOp::kReduce,
                                  CollectiveOp::kSend,      CollectiveOp::kSend};
    if (!shape_.sequential) {
      ops.insert(ops.end(), {CollectiveOp::kGather, CollectiveOp::kScatter, CollectiveOp::kAllToAll});
    }
    call.op = dice_.pick(ops);
    if (call.op == CollectiveOp::kSend) {
      dice_.shuffle(call.members);
      if (call.members.size() > 2) call.members.resize(2);
      call.dimension = Dimension::kPp;
      call.tag = dice_.from_to(0, 2);
      if (shape_.sequential) call.bytes = std::max<std::int64_t>(call.bytes, 1);  // one of 0 bytes is always buffered
    }
    call.root = dice_.from_to(0, static_cast<Member>(call.members.size()) - 1);
    const bool rooted = call.op == CollectiveOp::kBroadcast || call.op == CollectiveOp::kReduce ||
                        call.op == CollectiveOp::kGather || call.op == CollectiveOp::kScatter;
    if (!rooted) call.root = 0;
    return call;
  }

  // A round that wants more circuits from one GPU than it has ports can never be served.
  [[nodiscard]] bool can_be_served(const Call& call) const {
    if (shape_.rail == RailKind::kElectrical || call.members.size() == 1) return true;
    const auto plan = plan_of(call);
    const std::uint32_t width = scenario.cluster.gpus_per_server;
    for (std::uint32_t round = 0; round < plan->rounds(); ++round) {
      std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> pairs;  // rail, from, to
      for (const MemberPair& pair : plan->pairs(round)) {
        const GpuId from = gpu(call, pair.first);
        const GpuId to = gpu(call, pair.second);
        if (from.value / width == to.value / width) continue;
        pairs.emplace(to.value % width, from.value / width, to.value / width);
      }
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> out, in;
      for (const auto& [rail, from, to] : pairs) {
        if (++out[{rail, from}] > scenario.cluster.nic.ports || ++in[{rail, to}] > scenario.cluster.nic.ports) return false;
      }
    }
    return true;
  }

  void draw_calls() {
    const std::uint32_t count = dice_.from_to(0, 10);
    while (calls.size() < count) {
      const Call call = draw_call();
      if (call.op == CollectiveOp::kSend && call.members.size() < 2) {
        if (ranks() < 2 || dice_.one_in(4)) break;
        continue;
      }
      if (can_be_served(call)) {
        calls.push_back(call);
      } else if (dice_.one_in(4)) {
        break;
      }
    }
  }

  void write_graph() {
    TaskGraphBuilder builder(ranks());
    compute_of_rank.assign(ranks(), Duration{});
    for (std::size_t r = 0; r < ranks(); ++r) programs_.push_back({builder.add_program(), {}, {}});
    std::map<std::tuple<std::vector<std::size_t>, Dimension>, CommunicatorId> groups;
    std::vector<const Call*> late;  // buffered sends whose receive is posted later
    for (const Call& call : calls) {
      for (const std::size_t r : call.members) draw_compute(builder, r);
      if (call.op == CollectiveOp::kSend) {
        write_send(builder, call, late);
      } else {
        std::vector<RankId> ids;
        for (const std::size_t r : call.members) ids.push_back(RankId{r});
        const auto [group, fresh] = groups.try_emplace({call.members, call.dimension});
        if (fresh) group->second = builder.add_communicator("g" + std::to_string(groups.size()), ids, call.dimension);
        for (const std::size_t r : call.members) {
          auto& p = programs_[r];
          p.tasks.push_back(
              builder.add_collective(p.id, slot(r, group->second), call.op, Bytes{call.bytes}, "", after(r), call.root));
        }
      }
      if (dice_.one_in(3)) post_late(builder, late);
    }
    post_late(builder, late);
    for (std::size_t r = 0; r < ranks(); ++r) {
      draw_compute(builder, r);
      builder.assign(RankId{r}, programs_[r].id, programs_[r].slots);
    }
    scenario.graph = std::move(builder).build();
  }

  void write_send(TaskGraphBuilder& builder, const Call& call, std::vector<const Call*>& late) {
    const CommunicatorId link = builder.link(RankId{call.members[0]}, RankId{call.members[1]}, call.dimension);
    auto& p = programs_[call.members[0]];
    p.tasks.push_back(
        builder.add_send(p.id, slot(call.members[0], link), Bytes{call.bytes}, call.tag, "", after(call.members[0])));
    const bool queued = std::any_of(late.begin(), late.end(), [&](const Call* c) { return c->members == call.members; });
    if (queued || (call.bytes <= scenario.executor.buffered_send.count && !shape_.sequential && dice_.one_in(2))) {
      // Behind another one of the link it must stay behind it: receives meet sends in their order.
      if (call.bytes <= scenario.executor.buffered_send.count) {
        late.push_back(&call);
        return;
      }
      post_late(builder, late);
    }
    write_receive(builder, call);
  }

  void write_receive(TaskGraphBuilder& builder, const Call& call) {
    const CommunicatorId link = builder.link(RankId{call.members[0]}, RankId{call.members[1]}, call.dimension);
    auto& p = programs_[call.members[1]];
    p.tasks.push_back(
        builder.add_receive(p.id, slot(call.members[1], link), Bytes{call.bytes}, call.tag, "", after(call.members[1])));
  }

  void post_late(TaskGraphBuilder& builder, std::vector<const Call*>& late) {
    for (const Call* call : late) write_receive(builder, *call);
    late.clear();
  }

  void draw_compute(TaskGraphBuilder& builder, std::size_t rank) {
    if (dice_.one_in(2)) return;
    const Duration time = dice_.pick<Duration>({{}, us(3), us(250), Duration{1}});
    compute_of_rank[rank] += time;
    auto& p = programs_[rank];
    p.tasks.push_back(builder.add_delay(p.id, time, "", after(rank)));
  }

  std::vector<TaskId> after(std::size_t rank) {
    const std::vector<TaskId>& before = programs_[rank].tasks;
    if (before.empty()) return {};
    if (shape_.sequential) return {before.back()};
    std::vector<TaskId> picked;
    for (std::uint32_t i = dice_.from_to(0, 2); i > 0; --i) picked.push_back(dice_.pick(before));
    return picked;
  }

  std::uint32_t slot(std::size_t rank, CommunicatorId communicator) {
    auto& slots = programs_[rank].slots;
    const auto found = std::find(slots.begin(), slots.end(), communicator);
    if (found != slots.end()) return static_cast<std::uint32_t>(found - slots.begin());
    slots.push_back(communicator);
    return static_cast<std::uint32_t>(slots.size() - 1);
  }

 public:
  [[nodiscard]] std::size_t ranks() const { return scenario.gpu_of_rank.size(); }
  [[nodiscard]] GpuId gpu(const Call& call, Member member) const { return scenario.gpu_of_rank[call.members[member]]; }
  [[nodiscard]] std::unique_ptr<const SendPlan> plan_of(const Call& call) const {
    const CollectiveRegistry registry = CollectiveRegistry::builtin();
    const std::string& name = scenario.collectives.algorithm[static_cast<std::size_t>(call.op)];
    const std::uint32_t pieces = call.op == CollectiveOp::kSend ? 1 : scenario.collectives.chunks;
    return registry.find(name).expand(
        {call.op, static_cast<Member>(call.members.size()), Bytes{call.bytes}, call.root, pieces});
  }

 private:
  struct RankProgram {
    ProgramId id;
    std::vector<CommunicatorId> slots;
    std::vector<TaskId> tasks;
  };

  Dice dice_;
  Shape shape_;
  std::vector<RankProgram> programs_;
};

/// The case in one line, from which it can be repeated.
inline std::string describe(const Drawing& job, std::uint64_t seed) {
  const Scenario& s = job.scenario;
  std::ostringstream out;
  out << "case " << seed << ": " << s.cluster.servers << " x " << s.cluster.gpus_per_server << " GPUs, "
      << s.cluster.nic.ports << " ports, " << (s.cluster.rail.kind == RailKind::kOptical ? "optical" : "electrical")
      << (s.cluster.rail.forwarding ? " forwarding" : "") << ", " << s.controller.describe()
      << (s.executor.comm_lanes == CommLanes::kOne ? ", one lane" : "")
      << (s.run.fidelity == Fidelity::kExact ? ", exact" : ", stream") << ", " << s.collectives.chunks << " chunks, "
      << s.run.iterations << " iterations; ranks on";
  for (const GpuId gpu : s.gpu_of_rank) out << ' ' << gpu.value;
  for (const Call& call : job.calls) {
    out << "; " << name(call.op) << '(' << call.bytes << ") of";
    for (const std::size_t r : call.members) out << ' ' << r;
  }
  return out.str();
}

}  // namespace photonrail::test
