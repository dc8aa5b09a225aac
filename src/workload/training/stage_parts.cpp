#include "workload/training/stage_parts.hpp"

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
      list.push_back([this, name](StagePass& f) { attention_forward(f, name + ".attention"); });
      if (unit.experts) return add_experts_forward(list, name, unit.layer);
      list.push_back([this, name](StagePass& f) { sharded_part(f, model_.cost.mlp.core.forward, name + ".mlp"); });
      break;
    case Unit::Kind::kHead:
      list.push_back([this, name](StagePass& f) {
        enter(f, name);
        tasks_.compute(f, model_.cost.head.core.forward, name);
      });
      break;
  }
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
      if (unit.experts) {
        add_experts_backward(list, name, unit.layer);
      } else {
        list.push_back([this, name](StagePass& f) { sharded_part(f, work(f, model_.cost.mlp.core), name + ".mlp"); });
      }
      list.push_back([this, name](StagePass& f) { attention_backward(f, name + ".attention"); });
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
  const Work weights =
      unit.kind == Unit::Kind::kHead
          ? model_.cost.head.core.weight
          : (model_.cost.attention.whole() + (unit.experts ? model_.cost.experts : model_.cost.mlp).whole()).weight;
  tasks_.compute(pass, weights, unit.name);
}

void PartWriter::attention_forward(StagePass& pass, const std::string& part) {
  if (!tasks_.has(SlotUse::kContextOut)) return sharded_part(pass, model_.cost.attention.whole().forward, part);
  enter(pass, part);
  tasks_.compute(pass, model_.cost.attention.first.forward, part + ".projections");
  ring_.forward(pass, part);
  tasks_.compute(pass, model_.cost.attention.last.forward, part + ".output");
  leave(pass, part);
}

void PartWriter::attention_backward(StagePass& pass, const std::string& part) {
  // Selective recomputation repeats the core only; what it needs is here, or comes around the ring anyway.
  const Work again = model_.spec.recompute == Recompute::kSelective ? model_.cost.attention.core.forward : Work{};
  if (!tasks_.has(SlotUse::kContextOut)) return sharded_part(pass, again + work(pass, model_.cost.attention.whole()), part);
  enter(pass, part);
  tasks_.compute(pass, work(pass, model_.cost.attention.last), part + ".output");
  ring_.backward(pass, part, again + work(pass, model_.cost.attention.core));
  tasks_.compute(pass, work(pass, model_.cost.attention.first), part + ".projections");
  leave(pass, part);
}

// The shared experts come after the routed ones, as in Megatron-LM without their overlap.
void PartWriter::add_experts_forward(PassSegments& list, const std::string& part, std::uint32_t layer) {
  list.push_back([this, part, layer](StagePass& f) {
    tasks_.compute(f, model_.cost.experts.first.forward, part + ".router");
    to_experts(f, part + ".dispatch", layer);
  });
  list.push_back([this, part, layer](StagePass& f) {
    tasks_.compute(f, model_.cost.experts.core.forward, part + ".experts");
    from_experts(f, part + ".combine", layer);
  });
  if (model_.spec.model.moe->shared == 0) return;
  list.push_back([this, part](StagePass& f) { sharded_part(f, model_.cost.experts.last.forward, part + ".shared"); });
}

void PartWriter::add_experts_backward(PassSegments& list, const std::string& part, std::uint32_t layer) {
  if (model_.spec.model.moe->shared > 0) {
    list.push_back([this, part](StagePass& f) { sharded_part(f, work(f, model_.cost.experts.last), part + ".shared"); });
  }
  list.push_back([this, part, layer](StagePass& f) { to_experts(f, part + ".combine", layer); });
  list.push_back([this, part, layer](StagePass& f) {
    tasks_.compute(f, work(f, model_.cost.experts.core), part + ".experts");
    from_experts(f, part + ".dispatch", layer);
  });
  list.push_back([this, part](StagePass& f) { tasks_.compute(f, work(f, model_.cost.experts.first), part + ".router"); });
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
