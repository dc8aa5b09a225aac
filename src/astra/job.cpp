#include "astra/phases.hpp"
#include "core/counted.hpp"
#include "photonrail/error.hpp"
#include "photonrail/formats/astra.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace photonrail {

namespace {

constexpr std::size_t kMostDimensions = 8;
constexpr std::uint64_t kMostRanks = 1U << 17;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

void check_network(const AnalyticalJob& job) {
  if (job.network.empty() || job.network.size() > kMostDimensions)
    throw ConfigError("network", core::counted(job.network.size(), "dimension"), "1 to " + std::to_string(kMostDimensions));
  std::uint64_t ranks = 1;
  for (const AnalyticalDimension& d : job.network) {
    if (d.members < 2) throw ConfigError("network.members", "a dimension needs two members");
    if (!(d.gib_per_s > 0.0) || !std::isfinite(d.gib_per_s)) throw ConfigError("network.bandwidth", "must be above 0");
    if (!(d.latency_ns >= 0.0) || !std::isfinite(d.latency_ns)) throw ConfigError("network.latency", "must be 0 or more");
    ranks *= d.members;
    if (ranks > kMostRanks) throw ConfigError("network.members", "more than " + std::to_string(kMostRanks) + " ranks");
  }
  if (ranks != job.ranks.size())
    throw ConfigError("ranks", core::counted(job.ranks.size(), "rank") + " on a network for " + std::to_string(ranks));
}

void check_implementations(const AnalyticalJob& job, CollectiveOp op, const char* field) {
  const auto& list = astra::implementations(job.system, op);
  const std::string where = std::string("system.") + field;
  if (list.size() > job.network.size())
    throw ConfigError(
        where, core::counted(list.size(), "implementation") + " for " + core::counted(job.network.size(), "dimension"));
  for (std::size_t d = 0; d < list.size(); ++d) {
    const std::uint32_t members = list[d].whole_network ? job.rank_count() : job.network[d].members;
    const bool needs_power = list[d].algorithm == AnalyticalAlgorithm::kHalvingDoubling ||
                             list[d].algorithm == AnalyticalAlgorithm::kDoubleBinaryTree;
    if (needs_power && !std::has_single_bit(members))
      throw ConfigError(where,
                        "halving-doubling and trees need a power of two of members, and dimension " + std::to_string(d) +
                            " has " + std::to_string(members),
                        "ring or direct");
    if (op == CollectiveOp::kAllToAll && needs_power)
      throw ConfigError(where, "no all-to-all by halving-doubling or trees", "ring or direct");
  }
}

// Groups of some of the ranks are rings, whatever the system says.
bool uses_network(const AnalyticalJob& job, const AnalyticalTask& task) {
  return task.group == 0 || job.groups[task.group - 1].size() == job.ranks.size();
}

bool uses(const AnalyticalJob& job, CollectiveOp op) {
  return std::any_of(job.ranks.begin(), job.ranks.end(), [&](const auto& tasks) {
    return std::any_of(tasks.begin(), tasks.end(), [&](const AnalyticalTask& t) {
      return t.kind == AnalyticalTask::Kind::kCollective && t.op == op && uses_network(job, t);
    });
  });
}

bool reduces(const AnalyticalJob& job) {
  return std::any_of(job.ranks.begin(), job.ranks.end(), [](const auto& tasks) {
    return std::any_of(tasks.begin(), tasks.end(), [](const AnalyticalTask& t) {
      return t.kind == AnalyticalTask::Kind::kCollective &&
             (t.op == CollectiveOp::kAllReduce || t.op == CollectiveOp::kReduceScatter);
    });
  });
}

void check_task(const AnalyticalJob& job, std::size_t rank, const AnalyticalTask& task) {
  using Kind = AnalyticalTask::Kind;
  const auto fail = [&](const std::string& what, const std::string& hint = {}) {
    throw ConfigError("rank " + std::to_string(rank) + ": " + task.name, what, hint);
  };
  for (const std::uint32_t before : task.after) {
    if (before >= job.ranks[rank].size()) fail("waits for a task that does not exist");
  }
  if (task.bytes > kMostBytes) fail("more than 2^50 bytes");
  if (task.kind == Kind::kSend || task.kind == Kind::kReceive) {
    if (task.peer >= job.ranks.size()) fail("rank " + std::to_string(task.peer) + " does not exist");
    if (task.peer == rank) fail("is to itself");
  }
  if (task.kind == Kind::kCompute && (!std::isfinite(task.flops) || task.flops < 0 || !std::isfinite(task.memory_bytes)))
    fail("FLOPs and bytes must be numbers from 0");
  if (task.kind != Kind::kCollective) return;
  if (task.group > job.groups.size()) fail("group " + std::to_string(task.group) + " does not exist");
  const bool known = task.op == CollectiveOp::kAllReduce || task.op == CollectiveOp::kAllGather ||
                     task.op == CollectiveOp::kReduceScatter || task.op == CollectiveOp::kAllToAll ||
                     task.op == CollectiveOp::kBroadcast;
  if (!known)
    fail(std::string(name(task.op)) + " is not modelled",
         "all-reduce, all-gather, reduce-scatter, all-to-all; broadcast as recorded");
  if (task.group == 0) return;
  const auto& members = job.groups[task.group - 1];
  if (std::find(members.begin(), members.end(), rank) == members.end())
    fail("the rank is not in the group of its collective");
}

}  // namespace

std::uint32_t AnalyticalJob::rank_count() const {
  std::uint32_t product = 1;
  for (const AnalyticalDimension& d : network) product *= d.members;
  return product;
}

void AnalyticalJob::validate() const {
  check_network(*this);
  if (system.active_chunks == 0 || system.chunks == 0)
    throw ConfigError("system", "chunks and active_chunks must be 1 or more");
  if (system.chunks > 1'000'000) throw ConfigError("system.chunks", "more than 1e6");
  if (system.endpoint_delay_ns > 1'000'000'000'000) throw ConfigError("system.endpoint_delay_ns", "more than 1e12 ns");
  for (const auto& group : groups) {
    for (const std::uint32_t rank : group) {
      if (rank >= ranks.size()) throw ConfigError("groups", "rank " + std::to_string(rank) + " does not exist");
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const AnalyticalTask& task : ranks[r]) check_task(*this, r, task);
  }
  if ((reduces(*this) || system.roofline) && !(system.memory_gb_per_s > 0.0))
    throw ConfigError("system.memory_gb_per_s", "must be above 0: reductions and the roofline use it");
  if (system.roofline && !(system.peak_tflops > 0.0))
    throw ConfigError("system.peak_tflops", "must be above 0 with the roofline");
  const std::pair<CollectiveOp, const char*> ops[] = {{CollectiveOp::kAllReduce, "all_reduce"},
                                                      {CollectiveOp::kAllGather, "all_gather"},
                                                      {CollectiveOp::kReduceScatter, "reduce_scatter"},
                                                      {CollectiveOp::kAllToAll, "all_to_all"}};
  for (const auto& [op, field] : ops) {
    if (!uses(*this, op)) continue;
    check_implementations(*this, op, field);
    if (astra::implementations(system, op).empty())
      throw ConfigError(std::string("system.") + field, "the job calls it, and no implementation is given");
  }
}

}  // namespace photonrail
