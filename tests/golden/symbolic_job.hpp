// The jobs that the public simulations of Opus run: one training step with one micro-batch, tensor by tensor, as the public
// Symbolic Tensor Graph generator (Chakra's) lays a transformer out under tensor, sequence, data and pipeline parallelism.
// It counts a multiply and its addition as one operation, and every element as one byte.
#pragma once

#include "photonrail/error.hpp"
#include "photonrail/scenario.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {

struct SymbolicJob {
  std::int64_t batch = 256;  ///< sequences
  std::int64_t sequence = 4096;
  std::int64_t hidden = 8192;
  std::int64_t ffn = 28672;
  std::int64_t heads = 64;
  std::int64_t kv_heads = 8;
  std::int64_t vocabulary = 32000;
  std::int64_t layers = 96;
  std::int64_t dp = 1;
  std::int64_t pp = 1;
  std::int64_t tp = 1;
  bool gated = true;  ///< three matrices of an MLP, not two
  /// Of two gathers of one input that are ready together, the one for the weights' gradient goes first, which is not needed
  /// for long: what the products wait for ends when it would if the two shared the links.
  bool late_gathers_first = false;
};

/// One stage's program: tasks by name, in the order in which they were written.
class SymbolicStage {
 public:
  SymbolicStage(const SymbolicJob& job, std::int64_t stage);

  /// Slots: tensor, data, to the next stage and from it, to the previous stage and from it, where there is one.
  [[nodiscard]] ProgramId write(TaskGraphBuilder& builder) const;

 private:
  enum class Kind : std::uint8_t { kCompute, kGather, kScatter, kReduceTp, kReduceDp, kSend, kReceive };
  struct Node {
    std::string name;
    Kind kind;
    std::int64_t operations;
    std::int64_t elements;
    std::uint32_t slot;
    std::vector<std::string> after;
  };
  using Names = std::vector<std::string>;

  void compute(const std::string& name, std::int64_t operations, std::int64_t elements, Names after) {
    nodes_.push_back({name, Kind::kCompute, operations, elements, 0, std::move(after)});
  }
  void exchange(Kind kind, const std::string& name, std::int64_t elements, Names after, std::uint32_t slot = 0) {
    nodes_.push_back({name, kind, 0, elements, slot, std::move(after)});
  }
  void layer(std::int64_t number, const std::string& input, const std::string& gradient);
  void attention(const std::string& l, const std::string& gradient);
  void kernel(const std::string& l);
  void mlp(const std::string& l, const std::string& gradient);
  void ends(const std::string& first, const std::string& last);
  void optimizer();
  [[nodiscard]] std::int64_t layer_parameters() const;

  const SymbolicJob& job_;
  bool is_first_;
  bool is_last_;
  std::int64_t from_;
  std::int64_t to_;
  std::int64_t t_;      // tokens
  std::int64_t shard_;  // elements of an activation on one tensor-parallel rank
  std::int64_t q_;      // columns of queries, of keys and of the MLP on one rank
  std::int64_t k_;
  std::int64_t f_;
  std::vector<Node> nodes_;
};

inline SymbolicStage::SymbolicStage(const SymbolicJob& job, std::int64_t stage)
    : job_(job),
      is_first_(stage == 0),
      is_last_(stage == job.pp - 1),
      from_(stage * job.layers / job.pp),
      to_((stage + 1) * job.layers / job.pp),
      t_(job.batch / job.dp * job.sequence),
      shard_(t_ * job.hidden / job.tp),
      q_(job.hidden / job.tp),
      k_(job.hidden / job.heads * job.kv_heads / job.tp),
      f_(job.ffn / job.tp) {
  const auto name = [](std::int64_t n) { return std::to_string(n); };
  for (std::int64_t n = from_; n < to_; ++n) {
    const std::string input = n > from_ ? name(n - 1) + ".out" : is_first_ ? "in_emb.y" : "fwd.receive";
    const std::string gradient = n + 1 < to_ ? name(n + 1) + ".norm1.dx" : is_last_ ? "out_emb.dx" : "bwd.receive";
    layer(n, input, gradient);
  }
  ends(name(from_), name(to_ - 1));
}

inline std::int64_t SymbolicStage::layer_parameters() const {
  return job_.hidden * ((q_ + 2 * k_) + q_ + (job_.gated ? 3 : 2) * f_);
}

inline void SymbolicStage::layer(std::int64_t number, const std::string& input, const std::string& gradient) {
  const std::string l = std::to_string(number) + ".";
  compute(l + "norm1.y", 5 * shard_, shard_, {input});
  compute(l + "norm1.dy", shard_, shard_, {l + "dx", l + "norm2.dx"});
  compute(l + "norm1.dx", 5 * shard_, shard_, {l + "norm1.dy"});
  attention(l, gradient);
  kernel(l);
  compute(l + "residual", shard_, shard_, {l + "o", input});
  compute(l + "norm2.y", 5 * shard_, shard_, {l + "residual"});
  compute(l + "norm2.dy", shard_, shard_, {l + "dx0", gradient});
  compute(l + "norm2.dx", 5 * shard_, shard_, {l + "norm2.dy"});
  mlp(l, gradient);
  compute(l + "out", shard_, shard_, {l + "xdown", l + "residual"});
  Names weights{l + "dwqkv", l + "dwo", l + "dwgate", l + "dwdown"};
  if (job_.gated) weights.push_back(l + "dwup");
  exchange(Kind::kReduceDp, l + "gradients", layer_parameters(), weights, 1);
}

inline void SymbolicStage::attention(const std::string& l, const std::string&) {
  const std::int64_t h = job_.hidden;
  const std::int64_t out = q_ + 2 * k_;
  const auto gather_again = [&] { exchange(Kind::kGather, l + "dwqkv.gather", shard_, {l + "norm1.y"}); };
  compute(l + "qkv", t_ * h * out, t_ * out, {l + "qkv.gather"});
  if (job_.late_gathers_first) gather_again();
  exchange(Kind::kGather, l + "qkv.gather", shard_, {l + "norm1.y"});
  compute(l + "q", t_ * q_, t_ * q_, {l + "qkv"});
  compute(l + "k", t_ * k_, t_ * k_, {l + "qkv"});
  compute(l + "v", t_ * k_, t_ * k_, {l + "qkv"});
  compute(l + "o1", t_ * h * q_, t_ * h, {l + "scores"});
  exchange(Kind::kScatter, l + "o", t_ * h, {l + "o1"});
  exchange(Kind::kGather, l + "do1", shard_, {l + "norm2.dx"});
  compute(l + "dattn", t_ * h * q_, t_ * q_, {l + "do1"});
  compute(l + "dwo", t_ * h * q_, h * q_, {l + "scores", l + "do1"});
  compute(l + "dkv", 2 * t_ * k_, 2 * t_ * k_, {l + "dv", l + "dk"});
  compute(l + "dqkv", t_ * out, t_ * out, {l + "dkv", l + "dq"});
  compute(l + "dwqkv", t_ * h * out, h * out, {l + "dwqkv.gather", l + "dqkv"});
  if (!job_.late_gathers_first) gather_again();
  compute(l + "dx1", t_ * h * out, t_ * h, {l + "dqkv"});
  exchange(Kind::kScatter, l + "dx", t_ * h, {l + "dx1"});
}

inline void SymbolicStage::kernel(const std::string& l) {
  compute(l + "scores", 3 * t_ * q_, t_ * q_, {l + "q", l + "k", l + "v"});
  compute(l + "dq", 6 * t_ * q_, t_ * q_, {l + "dattn"});
  if (k_ == q_) {
    compute(l + "dk", 6 * t_ * q_, t_ * q_, {l + "dattn"});
    compute(l + "dv", 6 * t_ * q_, t_ * q_, {l + "dattn"});
    return;
  }
  compute(l + "dk1", 6 * t_ * q_, t_ * q_, {l + "dattn"});
  compute(l + "dv1", 6 * t_ * q_, t_ * q_, {l + "dattn"});
  compute(l + "dk", t_ * k_, t_ * k_, {l + "dk1"});
  compute(l + "dv", t_ * k_, t_ * k_, {l + "dv1"});
}

inline void SymbolicStage::mlp(const std::string& l, const std::string& gradient) {
  const std::int64_t product = t_ * job_.hidden * f_;
  const std::int64_t wide = t_ * f_;
  const std::int64_t matrix = job_.hidden * f_;
  const std::string up = job_.gated ? l + "xupgate" : l + "xgate";
  const auto gather_again = [&] { exchange(Kind::kGather, l + "x01", shard_, {l + "norm2.y"}); };
  if (job_.late_gathers_first) gather_again();
  exchange(Kind::kGather, l + "x00", shard_, {l + "norm2.y"});
  if (job_.gated) compute(l + "xup", product, wide, {l + "x00"});
  compute(l + "xgate", product, wide, {l + "x00"});
  if (job_.gated) compute(up, wide, wide, {l + "xup", l + "xgate"});
  compute(l + "xdown1", product, t_ * job_.hidden, {up});
  exchange(Kind::kScatter, l + "xdown", t_ * job_.hidden, {l + "xdown1"});
  exchange(Kind::kGather, l + "dxdown2", shard_, {gradient});
  compute(l + "dwdown", product, matrix, {up, l + "dxdown2"});
  if (!job_.gated) {
    compute(l + "dxgate", product, wide, {l + "dxdown2"});
    if (!job_.late_gathers_first) gather_again();
    compute(l + "dwgate", product, matrix, {l + "dxgate", l + "x01"});
    compute(l + "dx000", product, t_ * job_.hidden, {l + "dxgate"});
  } else {
    compute(l + "dxupgate", product, wide, {l + "dxdown2"});
    compute(l + "dxup", wide, wide, {l + "dxupgate", l + "xgate"});
    compute(l + "dxgate", wide, wide, {l + "dxupgate", l + "xup"});
    if (!job_.late_gathers_first) gather_again();
    compute(l + "dwup", product, matrix, {l + "dxup", l + "x01"});
    compute(l + "dwgate", product, matrix, {l + "dxgate", l + "x01"});
    compute(l + "dx00", product, t_ * job_.hidden, {l + "dxup"});
    compute(l + "dx01", product, t_ * job_.hidden, {l + "dxgate"});
    compute(l + "dx000", t_ * job_.hidden, t_ * job_.hidden, {l + "dx00", l + "dx01"});
  }
  exchange(Kind::kScatter, l + "dx0", t_ * job_.hidden, {l + "dx000"});
}

// Embedding, head and loss, the gradients of the first two, and the messages to the neighbours.
inline void SymbolicStage::ends(const std::string& first, const std::string& last) {
  const std::int64_t rows = t_ / job_.tp;
  const std::int64_t product = rows * job_.hidden * job_.vocabulary;
  const std::int64_t table = job_.hidden * job_.vocabulary;
  if (is_first_) {
    compute("in_emb.y", product, shard_, {});
    compute("in_emb.dw", product, table, {first + ".norm1.dx"});
    compute("in_emb.dx", product, rows * job_.vocabulary, {first + ".norm1.dx"});
  }
  if (is_last_) {
    compute("out_emb.y", product, rows * job_.vocabulary, {last + ".out"});
    compute("out_emb.dw", product, table, {last + ".out", "loss.dy"});
    compute("out_emb.dx", product, shard_, {"loss.dy"});
    compute("loss", 5 * shard_, shard_, {"out_emb.y"});
    compute("loss.dy", 5 * shard_, shard_, {"loss"});
  }
  optimizer();
  if (!is_first_) exchange(Kind::kSend, "bwd.send", shard_, {first + ".norm1.dx"}, 4);
  if (!is_last_) exchange(Kind::kReceive, "bwd.receive", shard_, {}, 3);
  if (!is_last_) exchange(Kind::kSend, "fwd.send", shard_, {last + ".out"}, 2);
  if (!is_first_) exchange(Kind::kReceive, "fwd.receive", shard_, {}, 5);
}

inline void SymbolicStage::optimizer() {
  const std::int64_t table = job_.hidden * job_.vocabulary;
  std::vector<std::pair<std::string, std::int64_t>> weights;
  for (std::int64_t n = from_; n < to_; ++n) weights.emplace_back(std::to_string(n), layer_parameters());
  for (const auto& [name, size] : weights) compute(name + ".sum", size, size, {name + ".gradients"});
  const std::string end = is_first_ ? "in_emb" : "out_emb";
  if (is_first_ || is_last_) compute(end + ".sum", table, table, {end + ".dw"});
  for (const auto& [name, size] : weights) compute(name + ".weight", size, size, {name + ".sum"});
  if (!is_first_ && !is_last_) return;
  compute(end + ".weight", table, table, {end + ".over_tp"});
  exchange(Kind::kReduceDp, end + ".over_dp", table, {end + ".sum"}, 1);
  exchange(Kind::kReduceTp, end + ".over_tp", table, {end + ".over_dp"});
}

inline ProgramId SymbolicStage::write(TaskGraphBuilder& builder) const {
  const ProgramId program = builder.add_program();
  const auto id = [this](const std::string& name) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].name == name) return TaskId{i};
    }
    throw InternalError("no task " + name);
  };
  for (const Node& node : nodes_) {
    std::vector<TaskId> after;
    for (const std::string& name : node.after) after.push_back(id(name));
    const Bytes size{node.elements};
    const std::uint32_t slot = is_last_ && node.slot >= 4 ? node.slot - 2 : node.slot;
    switch (node.kind) {
      case Kind::kCompute:
        builder.add_compute(program, static_cast<double>(node.operations), size, node.name, after);
        break;
      case Kind::kGather:
        builder.add_collective(program, slot, CollectiveOp::kAllGather, size, node.name, after);
        break;
      case Kind::kScatter:
        builder.add_collective(program, slot, CollectiveOp::kReduceScatter, size, node.name, after);
        break;
      case Kind::kReduceTp:
      case Kind::kReduceDp:
        builder.add_collective(program, slot, CollectiveOp::kAllReduce, size, node.name, after);
        break;
      case Kind::kSend:
        builder.add_send(program, slot, size, node.slot == 2 ? 0 : 1, node.name, after);
        break;
      case Kind::kReceive:
        builder.add_receive(program, slot, size, node.slot == 5 ? 0 : 1, node.name, after);
        break;
    }
  }
  return program;
}

/// Ranks count tp innermost, then dp, then pp, and sit on GPUs in that order.
inline TaskGraph symbolic_graph(const SymbolicJob& job) {
  const auto ranks = static_cast<std::size_t>(job.tp * job.dp * job.pp);
  TaskGraphBuilder builder(ranks);
  const auto at = [&](std::int64_t stage, std::int64_t d, std::int64_t t) {
    return RankId{static_cast<std::size_t>((stage * job.dp + d) * job.tp + t)};
  };
  for (std::int64_t stage = 0; stage < job.pp; ++stage) {
    const ProgramId program = SymbolicStage(job, stage).write(builder);
    const std::string s = std::to_string(stage);
    std::vector<CommunicatorId> tensor;
    std::vector<CommunicatorId> data;
    for (std::int64_t d = 0; d < job.dp; ++d) {
      std::vector<RankId> members;
      for (std::int64_t t = 0; t < job.tp; ++t) members.push_back(at(stage, d, t));
      tensor.push_back(builder.add_communicator("tp" + s + "." + std::to_string(d), members, Dimension::kTp));
    }
    for (std::int64_t t = 0; t < job.tp; ++t) {
      std::vector<RankId> members;
      for (std::int64_t d = 0; d < job.dp; ++d) members.push_back(at(stage, d, t));
      data.push_back(builder.add_communicator("dp" + s + "." + std::to_string(t), members, Dimension::kDp));
    }
    for (std::int64_t d = 0; d < job.dp; ++d) {
      for (std::int64_t t = 0; t < job.tp; ++t) {
        const RankId rank = at(stage, d, t);
        const RankId next = at(std::min(stage + 1, job.pp - 1), d, t);
        const RankId previous = at(std::max<std::int64_t>(stage - 1, 0), d, t);
        const auto link = [&](RankId from, RankId to) { return builder.link(from, to, Dimension::kPp); };
        std::vector<CommunicatorId> slots{tensor[static_cast<std::size_t>(d)], data[static_cast<std::size_t>(t)]};
        if (stage + 1 < job.pp) slots.insert(slots.end(), {link(rank, next), link(next, rank)});
        if (stage > 0) slots.insert(slots.end(), {link(rank, previous), link(previous, rank)});
        builder.assign(rank, program, std::move(slots));
      }
    }
  }
  return std::move(builder).build();
}

}  // namespace photonrail::test
