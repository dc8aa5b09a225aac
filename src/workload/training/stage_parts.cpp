#include "workload/training/stage_parts.hpp"

#include <utility>

namespace photonrail::workload {

void PartWriter::add_forward(PassSegments& list, const Unit& unit, const std::string& again) {
  const std::string name = again + unit.name;
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      list.push_back([this, name](StagePass& f) {
        tasks_.compute(f, model_.cost.embedding.core.forward, name);
        leave(f, name);
      });
      break;
    case Unit::Kind::kLayer:
      add_layer_forward(list, unit, name);
      break;
    case Unit::Kind::kHead:
      list.push_back([this, name](StagePass& f) {
        enter(f, name);
        head(f, model_.cost.head.core.forward, name);
      });
      break;
  }
}

// A module that predicts a further token: its projection, its layer, the head.
void PartWriter::add_layer_forward(PassSegments& list, const Unit& unit, const std::string& name) {
  const ModelCost& cost = model_.cost_of(unit);
  if (unit.predicts) {
    list.push_back(
        [this, name, &cost](StagePass& f) { sharded_part(f, cost.prediction.core.forward, name + ".prediction"); });
  }
  if (unit.has.attention) {
    list.push_back(
        [this, name, &unit](StagePass& f) { attention_forward(f, model_.attention_of(unit), name + ".attention"); });
  }
  if (unit.has.mamba) {
    list.push_back([this, name, &cost](StagePass& f) { whole_part(f, cost.mamba, name + ".mamba", true); });
  }
  if (unit.has.mlp) list.push_back([this, name, &cost](StagePass& f) { whole_part(f, cost.mlp, name + ".mlp", true); });
  if (unit.experts) add_experts_forward(list, name, unit);
  if (!unit.predicts) return;
  list.turn(Turn::kHeadForward);
  list.push_back([this, name](StagePass& f) {
    enter(f, name + ".head");
    head(f, model_.cost.head.core.forward, name + ".head");
  });
}

void PartWriter::add_layer_backward(PassSegments& list, const Unit& unit) {
  const ModelCost& cost = model_.cost_of(unit);
  const std::string& name = unit.name;
  if (unit.predicts) {
    list.push_back([this, name](StagePass& f) {
      tasks_.compute(f, work(f, model_.cost.head.core), name + ".head");
      leave(f, name + ".head");
    });
  }
  if (unit.experts) add_experts_backward(list, name, unit);
  list.turn(Turn::kAttentionBackward);
  if (unit.has.mlp) list.push_back([this, name, &cost](StagePass& f) { whole_part(f, cost.mlp, name + ".mlp", false); });
  if (unit.has.mamba) {
    list.push_back([this, name, &cost](StagePass& f) { whole_part(f, cost.mamba, name + ".mamba", false); });
  }
  if (unit.has.attention) {
    list.push_back(
        [this, name, &unit](StagePass& f) { attention_backward(f, model_.attention_of(unit), name + ".attention"); });
  }
  if (!unit.predicts) return;
  list.push_back(
      [this, name, &cost](StagePass& f) { sharded_part(f, work(f, cost.prediction.core), name + ".prediction"); });
}

// The loss over words that tp ranks share: the maximum, the sum of the exponents and the logit of the right word of each
// token (Shoeybi et al., arXiv 1909.08053, section 3). Only operators one by one have it.
void PartWriter::head(StagePass& pass, const Work& work, const std::string& part) {
  tasks_.compute(pass, work, part);
  if (!model_.book) return;
  const std::int64_t tokens = model_.cost.activation.count / model_.spec.model.hidden / model_.spec.parameter_bytes;
  tasks_.exchange(pass, SlotUse::kTensor, CollectiveOp::kAllReduce, {3 * 4 * tokens}, part + ".loss");
}

void PartWriter::add_backward(PassSegments& list, const Unit& unit) {
  const std::string& name = unit.name;
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      list.push_back([this, name](StagePass& f) {
        enter(f, name);
        tasks_.compute(f, model_.cost.embedding.core.weight, name);
      });
      break;
    case Unit::Kind::kLayer:
      if (model_.spec.recompute == Recompute::kFull) add_forward(list, unit, "again.");
      add_layer_backward(list, unit);
      break;
    case Unit::Kind::kHead:
      list.push_back([this, name](StagePass& f) {
        tasks_.compute(f, work(f, model_.cost.head.core), name);
        leave(f, name);
      });
      break;
  }
}

// A split backward pass: the weights' half, from what the input's half has left. Nothing is exchanged.
void PartWriter::weights_of(StagePass& pass, const Unit& unit) {
  if (unit.kind == Unit::Kind::kEmbedding) return;  // has no other half
  const ModelCost& cost = model_.cost_of(unit);
  if (unit.kind == Unit::Kind::kHead) return tasks_.compute(pass, cost.head.core.weight, unit.name);
  Work weights;
  if (unit.has.attention) weights = weights + model_.attention_of(unit).whole().weight;
  if (unit.has.mamba) weights = weights + cost.mamba.whole().weight;
  if (unit.has.mlp) weights = weights + cost.mlp.whole().weight;
  if (unit.experts) weights = weights + cost.experts.whole().weight;
  if (unit.predicts) weights = weights + cost.prediction.core.weight + cost.head.core.weight;
  tasks_.compute(pass, weights, unit.name);
}

// Attention, Mamba, an MLP: in one piece, or with its exchanges beside its products. An MLP's two products count as a half
// each.
void PartWriter::whole_part(StagePass& pass, const PartCost& cost, const std::string& part, bool forward) {
  const auto of = [&](const Cost& c) { return forward ? c.forward : work(pass, c); };
  const Work again = forward ? Work{} : cost.again;
  if (!model_.spec.overlap.tensor || !tasks_.has(SlotUse::kTensor)) {
    return sharded_part(pass, again + of(cost.whole()), part);
  }
  const bool in_two = cost.first.forward.flops == 0.0;
  const Work begin = in_two ? scaled(of(cost.core), 0.5) : of(forward ? cost.first : cost.last);
  const Work end = in_two ? begin : of(forward ? cost.last : cost.first);
  overlapped_part(pass, begin, again + (in_two ? Work{} : of(cost.core)), end, part);
}

void PartWriter::attention_forward(StagePass& pass, const PartCost& attention, const std::string& part) {
  if (!tasks_.has(SlotUse::kContextOut)) return whole_part(pass, attention, part, true);
  enter(pass, part);
  tasks_.compute(pass, attention.first.forward, part + ".projections");
  ring_.forward(pass, part, attention.core.forward);
  tasks_.compute(pass, attention.last.forward, part + ".output");
  leave(pass, part);
}

void PartWriter::attention_backward(StagePass& pass, const PartCost& attention, const std::string& part) {
  // Selective recomputation repeats the core only; what it needs is here, or comes around the ring anyway.
  const Work again = model_.spec.recompute == Recompute::kSelective ? attention.core.forward : Work{};
  if (!tasks_.has(SlotUse::kContextOut)) {
    PartCost repeated = attention;
    repeated.again = again + attention.again;
    return whole_part(pass, repeated, part, false);
  }
  enter(pass, part);
  tasks_.compute(pass, work(pass, attention.last), part + ".output");
  ring_.backward(pass, part, again + work(pass, attention.core));
  tasks_.compute(pass, attention.again + work(pass, attention.first), part + ".projections");
  leave(pass, part);
}

// The shared experts come after the routed ones, as in Megatron-LM without their overlap; in pairs that run layer by layer
// they are computed with the routed ones, before these leave.
void PartWriter::add_experts_forward(PassSegments& list, const std::string& part, const Unit& unit) {
  const PartCost& cost = model_.cost_of(unit).experts;
  list.push_back([this, part, &unit, &cost](StagePass& f) {
    tasks_.compute(f, cost.first.forward, part + ".router");
    gather_routing(f, part + ".routing");
    to_experts(f, part + ".dispatch", unit.layer);
  });
  list.turn(Turn::kExpertsForward);
  list.push_back([this, part, &unit, &cost](StagePass& f) {
    if (model_.by_layer() && has_shared()) shared(f, cost.last.forward, part + ".shared");
    tasks_.compute(f, cost.core.forward, part + ".experts");
    from_experts(f, part + ".combine", unit.layer);
  });
  if (model_.by_layer() || !has_shared()) return;
  list.push_back([this, part, &cost](StagePass& f) { shared(f, cost.last.forward, part + ".shared"); });
}

void PartWriter::add_experts_backward(PassSegments& list, const std::string& part, const Unit& unit) {
  const PartCost& cost = model_.cost_of(unit).experts;
  if (model_.book && model_.book->how().again.experts) {
    list.push_back([this, part, &unit](StagePass& f) { to_experts(f, "again." + part + ".dispatch", unit.layer); });
    list.push_back([this, part, &unit](StagePass& f) { from_experts(f, "again." + part + ".combine", unit.layer); });
  }
  if (has_shared() && !model_.by_layer()) {
    list.push_back([this, part, &cost](StagePass& f) { shared(f, work(f, cost.last), part + ".shared"); });
  }
  list.push_back([this, part, &unit](StagePass& f) { to_experts(f, part + ".combine", unit.layer); });
  list.turn(Turn::kExpertsBackward);
  list.push_back([this, part, &unit, &cost](StagePass& f) {
    if (model_.by_layer()) return experts_beside(f, part, unit);
    tasks_.compute(f, cost.again + work(f, cost.core), part + ".experts");
    from_experts(f, part + ".dispatch", unit.layer);
  });
  list.turn(Turn::kAttentionBackward);
  list.push_back([this, part, &cost](StagePass& f) { tasks_.compute(f, work(f, cost.first), part + ".router"); });
}

// Backward in a pair that runs layer by layer: the tokens' gradients leave as soon as they are known; what nothing waits
// for is computed beside them.
void PartWriter::experts_beside(StagePass& pass, const std::string& part, const Unit& unit) {
  const PartCost& cost = model_.cost_of(unit).experts;
  const bool later = model_.spec.overlap.delay_weights && pass.step.kind == PassKind::kBackward;
  if (has_shared()) shared(pass, work(pass, cost.last), part + ".shared");
  tasks_.compute(pass, cost.again + (later ? cost.core.input : work(pass, cost.core)), part + ".experts");
  const TaskId computed = pass.data;
  from_experts(pass, part + ".dispatch", unit.layer);
  if (!later) return;
  const TaskId sent = std::exchange(pass.data, computed);
  tasks_.compute(pass, cost.core.weight, part + ".experts.weights");
  pass.data = sent;
}

// Where there is but the projection back from the latent width, it is of the rank's own tokens.
void PartWriter::shared(StagePass& pass, const Work& work, const std::string& part) {
  if (model_.spec.model.shared_width() > 0) return sharded_part(pass, work, part);
  tasks_.compute(pass, work, part);
}

// Tokens, or their gradients, on the way to the experts that the router chose: first to a rank of each expert, then to the
// others that share its matrices.
void PartWriter::to_experts(StagePass& pass, const std::string& part, std::uint32_t layer) {
  const SlotUse shared = tasks_.has(SlotUse::kExpertTensor) ? SlotUse::kExpertTensor : SlotUse::kTensor;
  all_to_all(pass, part, layer, MoeExchange::kDispatch);
  if (model_.spec.parallelism.expert_tp() > 1)
    tasks_.exchange(pass, shared, CollectiveOp::kAllGather, model_.cost.dispatch, part);
}

void PartWriter::from_experts(StagePass& pass, const std::string& part, std::uint32_t layer) {
  const SlotUse shared = tasks_.has(SlotUse::kExpertTensor) ? SlotUse::kExpertTensor : SlotUse::kTensor;
  const std::int64_t etp = model_.spec.parallelism.expert_tp();
  if (etp > 1) tasks_.exchange(pass, shared, CollectiveOp::kReduceScatter, {etp * model_.cost.dispatch.count}, part);
  all_to_all(pass, part, layer, MoeExchange::kCombine);
}

// Beside whatever else the GPU has to do; the backward pass knows the routing.
void PartWriter::gather_routing(StagePass& pass, const std::string& part) {
  if (!model_.spec.gathers_routing || !tasks_.has(SlotUse::kExpert)) return;
  tasks_.exchange(pass, SlotUse::kExpert, CollectiveOp::kAllGather, model_.cost.routing, part);
  if (model_.book) pass.data = tasks_.compute_apart(model_.cost.routing_scan, pass.prefix + part, {pass.data});
}

// The gradient of what is combined goes the way of the dispatch, and the other way round.
void PartWriter::all_to_all(StagePass& pass, const std::string& part, std::uint32_t layer, MoeExchange direction) {
  if (model_.experts == nullptr || !tasks_.has(SlotUse::kExpert)) {
    return tasks_.exchange(pass, SlotUse::kExpert, CollectiveOp::kAllToAll, model_.cost.dispatch, part);
  }
  const std::uint32_t demand = model_.experts->number(layer, pass.step.micro_batch, direction);
  tasks_.exchange_experts(pass, demand, model_.experts->typical_input(direction), part);
}

// Megatron's pairs of operators: with sequence parallelism a part begins with an all-gather and ends with a
// reduce-scatter, forward and backward alike; without it, it ends with an all-reduce (arXiv 2205.05198, section 4.2).
void PartWriter::sharded_part(StagePass& pass, const Work& work, const std::string& part) {
  enter(pass, part);
  tasks_.compute(pass, work, part);
  leave(pass, part);
}

// Overlaps: of the first product all but a tp-th does not wait for the gather; the reduction begins with the first tp-th of
// the last one, and its own last piece waits for all of it.
void PartWriter::overlapped_part(StagePass& pass, const Work& first, const Work& between, const Work& last,
                                 const std::string& part) {
  const double rest = 1.0 / model_.spec.parallelism.tp;
  const TaskId before = pass.data;
  enter(pass, part);
  const TaskId gathered = std::exchange(pass.data, before);
  if (model_.spec.sequence_parallel) {
    tasks_.compute(pass, scaled(first, 1.0 - rest), part + ".first");
    pass.data = gathered;
    tasks_.compute(pass, scaled(first, rest) + between + scaled(last, rest), part);
  } else {
    tasks_.compute(pass, first + between + scaled(last, rest), part);
  }
  const auto op = model_.spec.sequence_parallel ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce;
  const auto late = static_cast<std::int64_t>(static_cast<double>(model_.cost.activation.count) * rest);
  const TaskId begun = pass.data;
  tasks_.exchange(pass, SlotUse::kTensor, op, {model_.cost.activation.count - late}, part + ".begin");
  pass.data = begun;
  tasks_.compute(pass, scaled(last, 1.0 - rest), part + ".last");
  tasks_.exchange(pass, SlotUse::kTensor, op, {late}, part);  // of the same communicator: it ends after the other
}

void PartWriter::enter(StagePass& pass, const std::string& part) {
  if (model_.spec.sequence_parallel) {
    tasks_.exchange(pass, SlotUse::kTensor, CollectiveOp::kAllGather, model_.cost.activation_shard, part);
  }
}

void PartWriter::leave(StagePass& pass, const std::string& part) {
  const auto op = model_.spec.sequence_parallel ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce;
  tasks_.exchange(pass, SlotUse::kTensor, op, model_.cost.activation, part);
}

Work PartWriter::work(const StagePass& pass, const Cost& cost) const {
  return pass.step.kind == PassKind::kBackwardInput ? cost.input : cost.input + cost.weight;
}

}  // namespace photonrail::workload
