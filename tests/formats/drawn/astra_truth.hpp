// A drawn job as ASTRA-sim's inputs have it: a system, a network, groups and the tasks of each rank.
#pragma once

#include "formats/drawn/drawn.hpp"
#include "photonrail/formats/astra.hpp"

namespace photonrail::test::drawn {

using AstraKind = AnalyticalTask::Kind;

struct AstraGroup {
  std::string name;
  std::vector<std::uint32_t> members;  ///< in the order of their ring
  bool in_file = true;
};

struct AstraTruth {
  AnalyticalSystem system;
  std::set<std::string> absent;  ///< keys of the system that are not written, as they have their defaults
  std::vector<AnalyticalDimension> network;
  std::vector<AstraGroup> groups;
  std::vector<std::vector<AnalyticalTask>> tasks;  ///< of each rank; `group`: 1 + the index in `groups`
  std::vector<std::vector<std::uint64_t>> ids;     ///< of their nodes
  std::vector<std::vector<std::string>> names;
};

inline AnalyticalImplementations draw_implementations(Draw& draw, const AstraTruth& truth, bool powers) {
  AnalyticalImplementations list;
  for (std::uint64_t i = draw.from_to(1, truth.network.size()); i > 0; --i) {
    AnalyticalImplementation how;
    how.algorithm = draw.pick<AnalyticalAlgorithm>({AnalyticalAlgorithm::kRing, AnalyticalAlgorithm::kDirect});
    if (powers && draw.one_in(2))
      how.algorithm =
          draw.pick<AnalyticalAlgorithm>({AnalyticalAlgorithm::kHalvingDoubling, AnalyticalAlgorithm::kDoubleBinaryTree});
    if (how.algorithm == AnalyticalAlgorithm::kDirect && draw.one_in(2))
      how.window = static_cast<std::uint32_t>(draw.from_to(1, 9));
    how.whole_network = how.algorithm != AnalyticalAlgorithm::kDoubleBinaryTree && draw.one_in(3);
    list.push_back(how);
  }
  return list;
}

inline void draw_system(Draw& draw, AstraTruth& truth) {
  AnalyticalSystem& s = truth.system;
  const auto said = [&](const std::string& key) {
    if (draw.one_in(2)) return true;
    truth.absent.insert(key);
    return false;
  };
  if (said("scheduling-policy"))
    s.order = draw.pick<AnalyticalOrder>({AnalyticalOrder::kLifo, AnalyticalOrder::kFifo, AnalyticalOrder::kExplicit});
  if (said("endpoint-delay")) s.endpoint_delay_ns = draw.magnitude(1'000'000'000'000);
  if (said("active-chunks-per-dimension")) s.active_chunks = static_cast<std::uint32_t>(draw.from_to(1, 64));
  if (said("preferred-dataset-splits")) s.chunks = static_cast<std::uint32_t>(draw.from_to(1, 1024));
  s.hierarchical_all_reduce = said("collective-optimization") && draw.one_in(2);
  s.memory_gb_per_s = static_cast<double>(draw.from_to(1, 100'000)) / 4.0;
  s.peak_tflops = static_cast<double>(draw.from_to(1, 100'000)) / 8.0;
  s.roofline = said("roofline-enabled") && draw.one_in(2);
  s.replay = said("replay-only") && draw.one_in(3);
  bool powers = true;
  for (const AnalyticalDimension& d : truth.network) powers = powers && (d.members & (d.members - 1)) == 0;
  s.all_reduce = draw_implementations(draw, truth, powers);
  s.all_gather = draw_implementations(draw, truth, powers);
  s.reduce_scatter = draw_implementations(draw, truth, powers);
  s.all_to_all = draw_implementations(draw, truth, false);
}

/// Adds a task to a rank, behind some that it has.
inline void add_task(Draw& draw, AstraTruth& truth, std::uint32_t rank, AnalyticalTask task, const std::string& name) {
  auto& tasks = truth.tasks[rank];
  auto& ids = truth.ids[rank];
  std::set<std::uint32_t> after;
  for (std::uint64_t d = tasks.empty() ? 0 : draw.below(3); d > 0; --d)
    after.insert(static_cast<std::uint32_t>(draw.below(tasks.size())));
  task.after.assign(after.begin(), after.end());
  ids.push_back(ids.empty() ? draw.below(3) : ids.back() + draw.from_to(1, 20));
  task.name = "node " + std::to_string(ids.back()) + (name.empty() ? "" : " (" + name + ")");
  truth.names[rank].push_back(name);
  tasks.push_back(std::move(task));
}

inline AnalyticalTask draw_astra_compute(Draw& draw) {
  AnalyticalTask task;
  task.kind = draw.one_in(8) ? AstraKind::kNothing : AstraKind::kCompute;
  task.on_cpu = draw.one_in(4);
  if (draw.one_in(2)) task.recorded_ns = draw.magnitude(1'000'000'000) * 1000;
  if (task.kind == AstraKind::kNothing) return task;
  if (draw.one_in(2)) task.flops = static_cast<double>(draw.magnitude(1'000'000'000'000)) / draw.pick<double>({1, 4});
  if (draw.one_in(2)) task.memory_bytes = static_cast<double>(draw.magnitude(1'000'000'000));
  return task;
}

inline void draw_astra_call(Draw& draw, AstraTruth& truth) {
  static const std::vector<CollectiveOp> ops{CollectiveOp::kAllReduce, CollectiveOp::kAllGather,
                                             CollectiveOp::kReduceScatter, CollectiveOp::kAllToAll,
                                             CollectiveOp::kBroadcast};
  const auto ranks = static_cast<std::uint32_t>(truth.tasks.size());
  const std::string name = name_text(draw);
  AnalyticalTask task;
  if (draw.one_in(3)) {
    const auto from = static_cast<std::uint32_t>(draw.below(ranks));
    const auto to = static_cast<std::uint32_t>((from + draw.from_to(1, ranks - 1)) % ranks);
    task.tag = draw.one_in(2) ? 0 : draw.magnitude(UINT32_MAX);
    task.bytes = draw.magnitude(1'000'000'000);
    task.kind = AstraKind::kSend;
    task.peer = to;
    add_task(draw, truth, from, task, name);
    task.kind = AstraKind::kReceive;
    task.peer = from;
    return add_task(draw, truth, to, task, name);
  }
  task.kind = AstraKind::kCollective;
  task.op = draw.pick(ops);
  task.bytes = draw.magnitude(1'000'000'000);
  if (draw.one_in(2)) task.priority = static_cast<std::int64_t>(draw.magnitude(UINT32_MAX));
  if (draw.one_in(3)) task.dimensions = ~0U & ~(1U << draw.below(truth.network.size()));
  if (!truth.groups.empty() && draw.one_in(2)) task.group = 1 + static_cast<std::uint32_t>(draw.below(truth.groups.size()));
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const bool member = task.group == 0 || std::count(truth.groups[task.group - 1].members.begin(),
                                                      truth.groups[task.group - 1].members.end(), r) > 0;
    if (member) add_task(draw, truth, r, task, name);
  }
}

inline AstraTruth draw_astra(std::uint64_t seed) {
  Draw draw(seed, "astra/truth");
  AstraTruth truth;
  std::uint32_t ranks = 1;
  const std::vector<AnalyticalShape> shapes{AnalyticalShape::kRing, AnalyticalShape::kFullyConnected,
                                            AnalyticalShape::kSwitch};
  for (std::uint64_t d = draw.from_to(1, 3); d > 0 && ranks < 10; --d) {
    AnalyticalDimension dimension;
    dimension.shape = draw.pick(shapes);
    dimension.members = static_cast<std::uint32_t>(draw.from_to(2, 4));
    dimension.gib_per_s = static_cast<double>(draw.from_to(1, 4000)) / 8.0;
    dimension.latency_ns = static_cast<double>(draw.magnitude(100'000)) / draw.pick<double>({1, 2});
    ranks *= dimension.members;
    truth.network.push_back(dimension);
  }
  truth.tasks.resize(ranks);
  truth.ids.resize(ranks);
  truth.names.resize(ranks);
  draw_system(draw, truth);
  std::vector<std::uint32_t> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.push_back(r);
  for (std::uint64_t g = draw.below(4); g > 0; --g)
    truth.groups.push_back({draw.pick<std::string>({std::to_string(g), "pg " + std::to_string(g)}),
                            draw.some_of(all, draw.from_to(1, ranks)), draw.one_in(2)});
  std::stable_sort(truth.groups.begin(), truth.groups.end(),
                   [](const auto& a, const auto& b) { return a.in_file > b.in_file; });
  for (std::uint64_t e = draw.from_to(1, 8); e > 0; --e) {
    if (draw.one_in(2))
      draw_astra_call(draw, truth);
    else
      add_task(draw, truth, static_cast<std::uint32_t>(draw.below(ranks)), draw_astra_compute(draw),
               draw.one_in(4) ? "" : name_text(draw));
  }
  return truth;
}

}  // namespace photonrail::test::drawn
