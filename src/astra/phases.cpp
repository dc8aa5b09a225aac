#include "astra/phases.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <bit>

namespace photonrail::astra {

std::uint32_t Circle::place(std::uint32_t of) const {
  if (of_all) return of;
  if (!ranks) return of / stride % members;
  const auto at = std::find(ranks->begin(), ranks->end(), of);
  PHOTONRAIL_CHECK(at != ranks->end());
  return static_cast<std::uint32_t>(at - ranks->begin());
}

std::uint32_t Circle::rank(std::uint32_t of, std::uint32_t at) const {
  if (of_all) return at;
  return ranks ? (*ranks)[at] : of - of / stride % members * stride + at * stride;
}

const AnalyticalImplementations& implementations(const AnalyticalSystem& system, CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllGather:
      return system.all_gather;
    case CollectiveOp::kReduceScatter:
      return system.reduce_scatter;
    case CollectiveOp::kAllToAll:
      return system.all_to_all;
    default:
      return system.all_reduce;
  }
}

Topology topology_of(const AnalyticalJob& job, CollectiveOp op) {
  Topology topology;
  std::uint32_t stride = 1;
  const AnalyticalImplementations& how = implementations(job.system, op);
  for (std::size_t d = 0; d < how.size(); ++d) {
    const std::uint32_t members = how[d].whole_network ? job.rank_count() : job.network[d].members;
    topology.circles.push_back({members, how[d].whole_network ? 1 : stride, members == job.rank_count(), nullptr});
    topology.how.push_back(how[d]);
    if (how[d].whole_network) break;
    stride *= members;
  }
  return topology;
}

namespace {

std::uint64_t bytes_after(CollectiveOp op, std::uint64_t bytes, std::uint32_t members) {
  if (op == CollectiveOp::kAllGather) return bytes * members;
  return op == CollectiveOp::kReduceScatter ? bytes / members : bytes;
}

// Partners at distance 1, 2, 4 ... with half of the data, a quarter ... and back; the message after the last one is never
// sent, but its size counts where the one before it is reduced.
std::vector<HalvingStep> halving_steps(CollectiveOp op, std::uint64_t bytes, std::uint32_t members,
                                       std::uint32_t messages) {
  const bool gathers = op == CollectiveOp::kAllGather;
  HalvingStep step{gathers ? members / 2 : 1, gathers ? bytes : bytes / 2};
  bool outwards = !gathers;
  std::vector<HalvingStep> steps;
  for (std::uint32_t k = 0; k <= messages; ++k) {
    steps.push_back(step);
    step = outwards ? HalvingStep{step.distance * 2, step.bytes / 2} : HalvingStep{step.distance / 2, step.bytes * 2};
    if (outwards && step.distance == members && op == CollectiveOp::kAllReduce) {
      outwards = false;
      step = {step.distance / 2, step.bytes * 2};
    }
  }
  return steps;
}

void fill_ring(Phase& p) {
  const std::uint32_t n = p.circle.members;
  p.message_bytes = p.op == CollectiveOp::kAllGather ? p.bytes : p.bytes / n;
  p.messages = p.op == CollectiveOp::kAllReduce ? 2 * (n - 1) : p.op == CollectiveOp::kAllToAll ? (n - 1) * n / 2 : n - 1;
  if (p.how.algorithm == AnalyticalAlgorithm::kRing) return;
  if (p.op == CollectiveOp::kAllToAll) p.messages = n - 1;
  p.at_once = p.how.window == 0 ? n - 1 : std::min(p.how.window, n - 1);
  p.sources = n;
}

Phase phase_of(CollectiveOp op, std::uint64_t bytes, const Topology& topology, std::uint32_t dimension) {
  Phase p;
  p.op = op;
  p.how = topology.how[dimension];
  p.circle = topology.circles[dimension];
  p.dimension = dimension;
  p.bytes = bytes;
  const std::uint32_t n = p.circle.members;
  p.bytes_after = bytes_after(op, bytes, n);
  const auto levels = static_cast<std::uint32_t>(std::bit_width(n) - 1);
  switch (p.how.algorithm) {
    case AnalyticalAlgorithm::kRing:
    case AnalyticalAlgorithm::kDirect:
      fill_ring(p);
      break;
    case AnalyticalAlgorithm::kHalvingDoubling:
      p.messages = (op == CollectiveOp::kAllReduce ? 2 : 1) * levels;
      p.halving = halving_steps(op, bytes, n, p.messages);
      p.sources = levels;
      break;
    case AnalyticalAlgorithm::kDoubleBinaryTree:  // an all-reduce, whatever was asked for
      p.op = CollectiveOp::kAllReduce;
      p.message_bytes = p.bytes_after = bytes;
      p.sources = 3;
      break;
  }
  return p;
}

}  // namespace

std::vector<Phase> phases_of(CollectiveOp op, std::uint64_t bytes, const Topology& topology, std::uint32_t dimensions,
                             bool hierarchical) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t d = 0; d < topology.circles.size(); ++d) {
    if (topology.circles[d].members > 1 && (dimensions >> d & 1U) != 0) order.push_back(d);
  }
  std::vector<Phase> phases;
  const auto add = [&](CollectiveOp what, std::uint32_t d) {
    phases.push_back(phase_of(what, phases.empty() ? bytes : phases.back().bytes_after, topology, d));
  };
  if (op == CollectiveOp::kAllReduce && hierarchical && !order.empty()) {
    const std::uint32_t last = order.back();
    order.pop_back();
    for (const std::uint32_t d : order) add(CollectiveOp::kReduceScatter, d);
    add(CollectiveOp::kAllReduce, last);
    for (auto d = order.rbegin(); d != order.rend(); ++d) add(CollectiveOp::kAllGather, *d);
    return phases;
  }
  if (op == CollectiveOp::kAllGather) std::reverse(order.begin(), order.end());
  for (const std::uint32_t d : order) add(op, d);
  return phases;
}

std::vector<std::uint64_t> chunks_of(CollectiveOp op, std::uint64_t bytes, std::uint32_t chunks, std::uint32_t ranks) {
  std::uint64_t size = bytes / chunks;
  if (op != CollectiveOp::kAllGather && size < ranks) {
    size = ranks;
    bytes = size * chunks;
  }
  size = std::max<std::uint64_t>(size, 1);
  std::vector<std::uint64_t> list;
  for (; bytes > 0; bytes -= list.back()) list.push_back(std::min(size, bytes));
  return list;
}

}  // namespace photonrail::astra
