// Kernels, calls and steps of several ranks as a drawn Kineto trace has them, and the tasks that they come to. What a task
// waits for, and how long it lasts, is worked out from the rule of docs/formats/kineto.md alone.
#pragma once

#include "formats/drawn/graph.hpp"

#include <limits>
#include <optional>

namespace photonrail::test::drawn {

using Ns = std::int64_t;

struct GroupTruth {
  std::string name;
  std::string description;  ///< empty: the key is not there
  Dimension dimension = Dimension::kOther;
  std::vector<std::uint32_t> members;
};

/// A call as all of its members make it.
struct CallTruth {
  std::size_t group = 0;
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::uint64_t elements = 0;  ///< as docs/formats/kineto.md has the size; of a scatter those of a member
  std::uint32_t from = 0;      ///< of a send: places in the group
  std::uint32_t to = 0;
};

struct KernelTruth {
  Ns start = 0;
  Ns end = 0;
  std::optional<std::size_t> call;
  std::uint64_t step = 0;
};

struct KinetoTruth {
  std::vector<GroupTruth> groups;
  std::vector<CallTruth> calls;
  std::string dtype;
  std::uint64_t bytes = 0;  ///< of an element
  std::vector<std::vector<KernelTruth>> ranks;
  std::uint64_t steps = 1;
  std::optional<std::uint64_t> iteration;
};

// ---- the truth

inline void draw_kineto_groups(Draw& draw, std::uint32_t ranks, KinetoTruth& truth) {
  std::vector<std::uint32_t> all(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) all[r] = r;
  const std::vector<std::pair<std::string, Dimension>> words{
      {"mesh_tp", Dimension::kTp},     {"TP", Dimension::kTp},       {"fsdp", Dimension::kDp},
      {"mesh_dp", Dimension::kDp},     {"cp-group", Dimension::kCp}, {"mesh ep 0", Dimension::kEp},
      {"PP", Dimension::kPp},          {"", Dimension::kOther},      {"default_pg", Dimension::kOther},
      {"undefined", Dimension::kOther}};
  for (std::uint64_t g = draw.from_to(1, 4); g > 0; --g) {
    GroupTruth group;
    group.name = draw.pick<std::string>({std::to_string(g), name_text(draw) + std::to_string(g)});
    std::tie(group.description, group.dimension) = draw.pick(words);
    group.members = draw.some_of(all, draw.from_to(1, ranks));
    std::sort(group.members.begin(), group.members.end());
    // PyTorch numbers the groups of each rank: other ranks may be of one name, too.
    const auto same = [&](const GroupTruth& other) { return other.members == group.members; };
    if (!truth.groups.empty() && draw.one_in(3) && std::none_of(truth.groups.begin(), truth.groups.end(), same))
      group.name = truth.groups.back().name;
    truth.groups.push_back(std::move(group));
  }
}

inline CallTruth draw_call(Draw& draw, const KinetoTruth& truth) {
  static const std::vector<CollectiveOp> ops{
      CollectiveOp::kAllReduce, CollectiveOp::kAllGather, CollectiveOp::kReduceScatter, CollectiveOp::kAllToAll,
      CollectiveOp::kBroadcast, CollectiveOp::kReduce,    CollectiveOp::kGather,        CollectiveOp::kScatter,
      CollectiveOp::kBarrier,   CollectiveOp::kSend};
  CallTruth call;
  call.group = draw.below(truth.groups.size());
  const std::uint64_t members = truth.groups[call.group].members.size();
  call.op = draw.pick(ops);
  if (call.op == CollectiveOp::kSend && members < 2) call.op = CollectiveOp::kAllReduce;
  call.elements = draw.magnitude(1'000'000'000);
  if (call.op == CollectiveOp::kSend) {
    call.from = static_cast<std::uint32_t>(draw.below(members));
    call.to = static_cast<std::uint32_t>((call.from + draw.from_to(1, members - 1)) % members);
  }
  return call;
}

inline bool takes_part(const KinetoTruth& truth, const CallTruth& call, std::uint32_t rank) {
  const auto& members = truth.groups[call.group].members;
  if (call.op == CollectiveOp::kSend) return members[call.from] == rank || members[call.to] == rank;
  return std::binary_search(members.begin(), members.end(), rank);
}

/// The kernels of a rank: calls in their order with time between, and computation beside them.
inline std::vector<KernelTruth> draw_kernels(Draw& draw, const KinetoTruth& truth, std::uint32_t rank) {
  std::vector<KernelTruth> kernels;
  Ns at = draw.one_in(2) ? static_cast<Ns>(draw.below(1'000'000))
                         : Ns{1'719'000'000'000'000'000} + static_cast<Ns>(draw.below(1'000'000));
  const auto some = [&] { return static_cast<Ns>(draw.from_to(1, 50'000)); };
  for (std::uint64_t step = 0; step < truth.steps; ++step) {
    const Ns begin = at;
    const std::size_t first = truth.calls.size() * step / truth.steps;
    const std::size_t last = truth.calls.size() * (step + 1) / truth.steps;
    for (std::size_t c = first; c < last; ++c) {
      if (!takes_part(truth, truth.calls[c], rank)) continue;
      at += some();
      kernels.push_back({at, at + some(), c, step});
    }
    Ns computing = begin;
    for (std::uint64_t k = draw.from_to(1, 6); k > 0; --k) {
      const Ns start = computing + static_cast<Ns>(draw.one_in(3) ? 0 : draw.below(60'000));
      kernels.push_back({start, start + some(), {}, step});
      // Most follow each other; some overlap, on another stream.
      computing = draw.one_in(4) ? start + static_cast<Ns>(draw.below(2'000)) : kernels.back().end;
    }
    // Some begin or end just when others do.
    for (const KernelTruth& other : std::vector<KernelTruth>(kernels)) {
      if (draw.one_in(6) && other.step == step) kernels.push_back({other.end, other.end + some(), {}, step});
    }
    for (const KernelTruth& kernel : kernels) at = std::max(at, kernel.end);
    at += 200'000;
  }
  return kernels;
}

inline KinetoTruth draw_kineto(std::uint64_t seed) {
  Draw draw(seed, "kineto/truth");
  static const std::vector<std::pair<std::string, std::uint64_t>> types{
      {"Float", 4},          {"Half", 2},           {"BFloat16", 2},      {"Double", 8},      {"Byte", 1},
      {"Char", 1},           {"Bool", 1},           {"Short", 2},         {"Int", 4},         {"Long", 8},
      {"ComplexFloat", 8},   {"ComplexDouble", 16}, {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2fnuz", 1}};
  KinetoTruth truth;
  const auto ranks = static_cast<std::uint32_t>(draw.from_to(1, 5));
  std::tie(truth.dtype, truth.bytes) = draw.pick(types);
  draw_kineto_groups(draw, ranks, truth);
  for (std::uint64_t c = draw.below(8); c > 0; --c) truth.calls.push_back(draw_call(draw, truth));
  if (draw.one_in(2)) {
    truth.steps = draw.from_to(1, 3);
    if (draw.one_in(2)) truth.iteration = draw.below(truth.steps);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) truth.ranks.push_back(draw_kernels(draw, truth, r));
  return truth;
}

// ---- what it comes to

struct Piece {
  Ns start = 0;
  Ns end = 0;
  std::size_t kernels = 0;
};

/// Kernels that overlap are one piece of computation.
inline std::vector<Piece> pieces_of(std::vector<KernelTruth> computing) {
  std::sort(computing.begin(), computing.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  std::vector<Piece> pieces;
  for (const KernelTruth& k : computing) {
    if (pieces.empty() || k.start >= pieces.back().end) pieces.push_back({k.start, k.end, 0});
    pieces.back().end = std::max(pieces.back().end, k.end);
    ++pieces.back().kernels;
  }
  return pieces;
}

/// A computation of the graph: pieces between which no communication began or ended.
struct BlockTruth {
  Ns start = 0;
  Ns end = 0;
  Ns before = std::numeric_limits<Ns>::min();  ///< where the piece before it began: what ended until then, an earlier one
                                               ///< has waited for
  std::size_t kernels = 0;
};

inline std::vector<BlockTruth> blocks_of(const std::vector<Piece>& pieces, const std::vector<KernelTruth>& calls) {
  std::vector<BlockTruth> blocks;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const bool cut = p == 0 || std::any_of(calls.begin(), calls.end(), [&](const KernelTruth& c) {
                       const bool begins = pieces[p - 1].end <= c.start && c.start < pieces[p].end;
                       const bool ends = pieces[p - 1].start < c.end && c.end <= pieces[p].start;
                       return begins || ends;
                     });
    if (cut) blocks.push_back({pieces[p].start, 0, p == 0 ? std::numeric_limits<Ns>::min() : pieces[p - 1].start, 0});
    blocks.back().end = pieces[p].end;
    blocks.back().kernels += pieces[p].kernels;
  }
  return blocks;
}

inline ExpectedTask call_task(const KinetoTruth& truth, std::size_t c, std::uint32_t rank, const std::string& spelled) {
  const CallTruth& call = truth.calls[c];
  const GroupTruth& group = truth.groups[call.group];
  ExpectedTask task;
  task.name = spelled;
  task.op = call.op;
  task.kind = TaskKind::kCollective;
  task.group = {group.name, group.members, group.dimension, false};
  task.bytes = static_cast<std::int64_t>(call.elements * truth.bytes);
  if (call.op == CollectiveOp::kBarrier) task.bytes = 0;
  if (call.op == CollectiveOp::kScatter) task.bytes *= static_cast<std::int64_t>(group.members.size());
  if (call.op == CollectiveOp::kSend) {
    task.kind = rank == group.members[call.from] ? TaskKind::kSend : TaskKind::kReceive;
    const Dimension dimension = group.dimension == Dimension::kOther ? Dimension::kPp : group.dimension;
    task.group = {"", {group.members[call.from], group.members[call.to]}, dimension, true};
  }
  return task;
}

/// The tasks of a rank. `spelled`: how a call is called.
inline std::vector<ExpectedTask> expected_tasks(const KinetoTruth& truth, std::uint32_t rank,
                                                const std::vector<std::string>& spelled) {
  std::vector<KernelTruth> calls, computing;
  Ns begin = std::numeric_limits<Ns>::max();
  for (const KernelTruth& k : truth.ranks[rank]) {
    if (truth.iteration && k.step != *truth.iteration) continue;
    begin = std::min(begin, k.start);
    const bool alone = !k.call || truth.groups[truth.calls[*k.call].group].members.size() == 1;
    (alone ? computing : calls).push_back(k);
  }
  const std::vector<BlockTruth> blocks = blocks_of(pieces_of(computing), calls);
  std::vector<ExpectedTask> tasks;
  std::vector<std::size_t> block_task, call_task_of;
  std::size_t known_block = 0;  // blocks that an earlier launch has waited for
  const auto add_block = [&](const BlockTruth& block) {
    ExpectedTask task =
        expected_delay(std::to_string(block.kernels) + (block.kernels == 1 ? " kernel" : " kernels"), 0, Stream::kGpu);
    Ns base = block_task.empty() ? begin : blocks[block_task.size() - 1].end;
    if (!block_task.empty()) task.after.insert(block_task.back());
    for (std::size_t c = 0; c < call_task_of.size(); ++c) {
      if (calls[c].end <= block.before || calls[c].end > block.start) continue;
      task.after.insert(call_task_of[c]);
      base = std::max(base, calls[c].end);
    }
    task.picoseconds = (block.end - base) * 1000;
    block_task.push_back(tasks.size());
    tasks.push_back(std::move(task));
  };
  for (std::size_t c = 0; c < calls.size(); ++c) {
    while (block_task.size() < blocks.size() && blocks[block_task.size()].end <= calls[c].start)
      add_block(blocks[block_task.size()]);
    ExpectedTask launch = expected_delay("launch", 0, Stream::kHost);
    Ns base = c == 0 ? begin : calls[c - 1].start;
    if (c > 0) launch.after.insert(call_task_of[c - 1] - 1);
    if (block_task.size() > known_block) launch.after.insert(block_task.back());
    if (!block_task.empty()) base = std::max(base, blocks[block_task.size() - 1].end);
    known_block = block_task.size();
    for (std::size_t e = 0; e < c; ++e) {
      if (calls[e].end > calls[c].start) continue;
      base = std::max(base, calls[e].end);
      if (c == 0 || calls[e].end > calls[c - 1].start) launch.after.insert(call_task_of[e]);
    }
    launch.picoseconds = (calls[c].start - base) * 1000;
    tasks.push_back(std::move(launch));
    tasks.push_back(call_task(truth, *calls[c].call, rank, spelled[*calls[c].call]));
    tasks.back().after = {tasks.size() - 2};
    call_task_of.push_back(tasks.size() - 1);
  }
  while (block_task.size() < blocks.size()) add_block(blocks[block_task.size()]);
  return tasks;
}

}  // namespace photonrail::test::drawn
