#include "workload/training/layer_cost.hpp"

#include "workload/training/part_cost.hpp"

#include <string_view>

namespace photonrail::workload {

namespace {

/// A lookup touches the rows of its tokens only: forward reads t h / tp and writes t h; backward reads the gradient t h
/// and adds t h / tp to rows (read and write).
PartCost embedding_cost(const CostShape& shape) {
  const TrainingSpec& spec = shape.spec;
  const std::int64_t own = shape.tokens * (shape.hidden / shape.tp);
  const std::int64_t all = shape.tokens * shape.hidden;
  PartCost cost;
  cost.parameters = shape.hidden * (spec.model.vocabulary / shape.tp + spec.model.positions);
  cost.core.forward = {0.0, {(own + all) * spec.parameter_bytes}};
  cost.core.weight = {0.0, {all * spec.parameter_bytes + 2 * own * spec.gradient_bytes}};
  Cost lookup;
  shape.add_memory(lookup, "embedding", cost.core.forward.memory.count, cost.core.weight.memory.count, 2);
  cost.core.forward.operators = lookup.forward.operators;
  cost.core.weight.operators = lookup.input.operators;
  return cost;
}

PartCost head_cost(const CostShape& shape) {
  PartCost cost;
  const std::int64_t words = shape.spec.model.vocabulary / shape.tp;
  cost.parameters = shape.hidden * words + shape.norm;
  cost.core = shape.product(shape.tokens, shape.hidden, words, shape.norm, "head");
  shape.add_norm(cost.core, "head.norm");
  // The loss over the rank's words, in fp32 from bf16 logits: maximum, exponents and their sum forward (12 bytes a logit),
  // their gradient in place backward.
  const std::int64_t logits = shape.tokens * words;
  shape.add_memory(cost.core, "loss", 12 * logits, 4 * logits, 4);
  return cost;
}

}  // namespace

CostShape::CostShape(const TrainingSpec& s, OperatorBook* operators)
    : spec(s),
      tokens(std::int64_t{s.micro_batch} * (s.sequence / s.parallelism.cp)),
      hidden(s.model.hidden),
      norm(hidden * (s.model.layer_norm ? 2 : 1)),
      tp(s.parallelism.tp),
      own_tokens(s.sequence_parallel ? tokens / tp : tokens),
      book(operators) {}

OperatorPrecision CostShape::precision(std::string_view product) const {
  if (book == nullptr || in_bf16) return OperatorPrecision::kBf16;
  const TrainingOperators& how = book->how();
  return how.times.device().available(how.mixed.of(product, how.precision));
}

void CostShape::add_memory(Cost& cost, const char* name, std::int64_t forward_bytes, std::int64_t backward_bytes,
                           std::int64_t kernels, std::int64_t launches) const {
  if (book == nullptr) return;
  const auto launched = static_cast<double>(launches > 0 ? launches : kernels);
  const auto add = [&](Work& to, std::int64_t bytes) {
    if (bytes > 0) to.operators.push_back(book->add(OperatorClass::kMemory, name, MemoryBound{bytes, kernels}, launched));
  };
  add(cost.forward, forward_bytes);
  add(cost.input, backward_bytes);
}

void CostShape::add_passes(Cost& cost, const char* name, const Passes& forward, const Passes& backward) const {
  const auto add = [&](Work& to, const Passes& p) {
    to.operators.push_back(book->add(OperatorClass::kMemory, name, MemoryBound{p.bytes, p.kernels, p.by_element},
                                     static_cast<double>(p.kernels)));
  };
  add(cost.forward, forward);
  add(cost.input, backward);
}

// Forward it reads and writes the tokens. Backward it reads the gradient, the input, and the gradient that by-passes the
// part, and writes one.
void CostShape::add_norm(Cost& cost, const char* name) const {
  const std::int64_t bytes = own_tokens * hidden * kElementBytes;
  add_memory(cost, name, 2 * bytes, 4 * bytes, 1);
}

void CostShape::add_residual(Cost& cost) const {
  const std::int64_t bytes = own_tokens * hidden * kElementBytes;
  add_memory(cost, "residual", 3 * bytes, 0, 1);
}

// A gradient of weights is added to what earlier micro-batches left: it is read and written at its own precision in place
// of the product's own write of 2 bytes.
void CostShape::add_product(Cost& cost, const char* name, std::int64_t rows, std::int64_t in, std::int64_t out,
                            OperatorPrecision precision, EqualProducts several) const {
  if (book == nullptr) return;
  // Low precision: the cast of the input, twice (row-wise, and transposed for the weights' gradient), and its scales.
  const double each = precision == OperatorPrecision::kBf16 ? 1.0 : 4.0;
  const double kernels = several.batched ? each / several.times : each;
  const bool loop = several.times > 1.0 && !several.batched;
  const auto from = loop ? OperatorBook::From::kLoop : OperatorBook::From::kFramework;
  const auto add = [&](Work& to, const MatrixProduct& product) {
    to.operators.push_back(book->add(OperatorClass::kProducts, name, product, kernels, from));
    to.operators.back().times = several.times;
  };
  add(cost.forward, {precision, rows, out, in});
  add(cost.input, {precision, rows, in, out});
  if (book->how().frozen_weights) return;
  add(cost.weight, {precision, out, in, rows});
  if (spec.gradient_bytes <= 1) return;
  const std::int64_t bytes = in * out * (2 * std::int64_t{spec.gradient_bytes} - kElementBytes);
  cost.weight.operators.push_back(book->add(OperatorClass::kMemory, "gradients.sum", MemoryBound{bytes, 0}, 0.0));
  cost.weight.operators.back().times = several.times;
}

Cost CostShape::cost(std::int64_t parameters, std::int64_t elements, double with_weights, double without) const {
  const Bytes forward{(parameters + elements) * spec.parameter_bytes};
  if (parameters == 0) return {{without, forward}, {2.0 * without, {2 * forward.count}}, {}};
  return {{with_weights + without, forward},
          {with_weights + 2.0 * without, forward},
          {with_weights, {forward.count + parameters * spec.gradient_bytes}}};
}

Cost CostShape::product(std::int64_t rows, std::int64_t in, std::int64_t out, std::int64_t extra_parameters,
                        const char* name) const {
  const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(in) * static_cast<double>(out);
  Cost result = cost(in * out + extra_parameters, rows * (in + out), flops);
  const std::string_view word = name;
  const bool wide = word == "head" || word == "experts.router";
  add_product(result, name, rows, in, out, wide ? OperatorPrecision::kBf16 : precision(word));
  return result;
}

ModelCost model_cost(const TrainingSpec& spec, OperatorBook* book, bool in_bf16) {
  CostShape shape(spec, book);
  shape.in_bf16 = in_bf16;
  const ModelSpec& m = spec.model;
  ModelCost cost;
  cost.embedding = embedding_cost(shape);
  cost.attention = attention_cost(shape);
  if (m.window > 0) cost.windowed = attention_cost(shape, true);
  if (m.mamba) cost.mamba = mamba_cost(shape);
  cost.mlp = mlp_cost(shape, m.ffn);
  cost.head = head_cost(shape);
  if (m.predicted_tokens > 0) {
    cost.prediction.core =
        shape.product(shape.tokens, 2 * shape.hidden, shape.hidden / shape.tp, 3 * shape.norm, "prediction");
    cost.prediction.parameters = 2 * shape.hidden * (shape.hidden / shape.tp) + 3 * shape.norm;
  }
  cost.activation = {shape.tokens * shape.hidden * spec.parameter_bytes};
  cost.activation_shard = {cost.activation.count / shape.tp};
  const AttentionWidths w(spec);
  cost.kv_block = {shape.tokens * (w.key + w.value) * spec.parameter_bytes};
  if (!m.moe) return cost;
  cost.experts = expert_cost(shape);
  cost.expert_parameters = routed_parameters(shape);
  cost.dispatch = {dispatched_bytes(shape)};
  if (!spec.gathers_routing) return cost;
  cost.routing = {routing_bytes(shape)};
  cost.routing_scan = routing_scan(shape);
  return cost;
}

Work optimizer_work(const TrainingSpec& spec, std::int64_t parameters, OperatorBook* book) {
  // Adam in mixed precision (Rajbhandari et al., arXiv 1910.02054, section 3.1): it reads the gradient, reads and writes
  // the fp32 master weight and two fp32 moments (3 x 2 x 4 bytes), and writes the parameter.
  const std::int64_t state = 3 * 2 * 4;
  Work work{0.0, {parameters * (spec.gradient_bytes + state + spec.parameter_bytes)}};
  if (book != nullptr && work.memory.count > 0) {
    work.operators.push_back(book->add(OperatorClass::kMemory, "optimizer", MemoryBound{work.memory.count, 1}));
  }
  return work;
}

Work operator+(Work a, const Work& b) {
  a.flops += b.flops;
  a.memory.count += b.memory.count;
  a.operators.insert(a.operators.end(), b.operators.begin(), b.operators.end());
  a.host_waits = a.host_waits || b.host_waits;
  return a;
}

Work scaled(const Work& work, double part) {
  Work result = work;
  result.flops *= part;
  result.memory.count = static_cast<std::int64_t>(static_cast<double>(work.memory.count) * part);
  for (BookedOperator& op : result.operators) op.times *= part;
  return result;
}

}  // namespace photonrail::workload
