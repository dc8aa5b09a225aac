#include "workload/training/stage_writer.hpp"

namespace photonrail::workload {

void StageWriter::add_forward(Segments& list, const Unit& unit, const std::string& again) {
  const std::string name = again + unit.name;
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      list.push_back([this, name](Flow& f) {
        compute(f, cost_.embedding.core.forward, name);
        leave(f, name);
      });
      break;
    case Unit::Kind::kLayer:
      list.push_back([this, name](Flow& f) { attention_forward(f, name + ".attention"); });
      if (unit.experts) return add_experts_forward(list, name, unit.layer);
      list.push_back([this, name](Flow& f) { sharded_part(f, cost_.mlp.core.forward, name + ".mlp"); });
      break;
    case Unit::Kind::kHead:
      list.push_back([this, name](Flow& f) {
        enter(f, name);
        compute(f, cost_.head.core.forward, name);
      });
      break;
  }
}

void StageWriter::add_backward(Segments& list, const Unit& unit) {
  const std::string& name = unit.name;
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      list.push_back([this, name](Flow& f) {
        enter(f, name);
        compute(f, cost_.embedding.core.weight, name);
      });
      break;
    case Unit::Kind::kLayer:
      if (spec_.recompute == Recompute::kFull) add_forward(list, unit, "again.");
      if (unit.experts) {
        add_experts_backward(list, name, unit.layer);
      } else {
        list.push_back([this, name](Flow& f) { sharded_part(f, work(f, cost_.mlp.core), name + ".mlp"); });
      }
      list.push_back([this, name](Flow& f) { attention_backward(f, name + ".attention"); });
      break;
    case Unit::Kind::kHead:
      list.push_back([this, name](Flow& f) {
        compute(f, work(f, cost_.head.core), name);
        leave(f, name);
      });
      break;
  }
}

// A split backward pass: the weights' half, from what the input's half has left. Nothing is exchanged.
void StageWriter::weights_of(Flow& flow, const Unit& unit) {
  if (unit.kind == Unit::Kind::kEmbedding) return;  // has no other half
  const Work weights = unit.kind == Unit::Kind::kHead
                           ? cost_.head.core.weight
                           : (cost_.attention.whole() + (unit.experts ? cost_.experts : cost_.mlp).whole()).weight;
  compute(flow, weights, unit.name);
}

void StageWriter::attention_forward(Flow& flow, const std::string& part) {
  if (!has(SlotUse::kContextOut)) return sharded_part(flow, cost_.attention.whole().forward, part);
  enter(flow, part);
  compute(flow, cost_.attention.first.forward, part + ".projections");
  ring_forward(flow, part);
  compute(flow, cost_.attention.last.forward, part + ".output");
  leave(flow, part);
}

void StageWriter::attention_backward(Flow& flow, const std::string& part) {
  // Selective recomputation repeats the core only; what it needs is here, or comes around the ring anyway.
  const Work again = spec_.recompute == Recompute::kSelective ? cost_.attention.core.forward : Work{};
  if (!has(SlotUse::kContextOut)) return sharded_part(flow, again + work(flow, cost_.attention.whole()), part);
  enter(flow, part);
  compute(flow, work(flow, cost_.attention.last), part + ".output");
  ring_backward(flow, part, again + work(flow, cost_.attention.core));
  compute(flow, work(flow, cost_.attention.first), part + ".projections");
  leave(flow, part);
}

// The shared experts come after the routed ones, as in Megatron-LM without their overlap.
void StageWriter::add_experts_forward(Segments& list, const std::string& part, std::uint32_t layer) {
  list.push_back([this, part, layer](Flow& f) {
    compute(f, cost_.experts.first.forward, part + ".router");
    to_experts(f, part + ".dispatch", layer);
  });
  list.push_back([this, part, layer](Flow& f) {
    compute(f, cost_.experts.core.forward, part + ".experts");
    from_experts(f, part + ".combine", layer);
  });
  if (spec_.model.moe->shared == 0) return;
  list.push_back([this, part](Flow& f) { sharded_part(f, cost_.experts.last.forward, part + ".shared"); });
}

void StageWriter::add_experts_backward(Segments& list, const std::string& part, std::uint32_t layer) {
  if (spec_.model.moe->shared > 0) {
    list.push_back([this, part](Flow& f) { sharded_part(f, work(f, cost_.experts.last), part + ".shared"); });
  }
  list.push_back([this, part, layer](Flow& f) { to_experts(f, part + ".combine", layer); });
  list.push_back([this, part, layer](Flow& f) {
    compute(f, work(f, cost_.experts.core), part + ".experts");
    from_experts(f, part + ".dispatch", layer);
  });
  list.push_back([this, part](Flow& f) { compute(f, work(f, cost_.experts.first), part + ".router"); });
}

// Tokens, or their gradients, on the way to the experts that the router chose: first to a rank of each expert, then to the
// others that share its matrices.
void StageWriter::to_experts(Flow& flow, const std::string& part, std::uint32_t layer) {
  const SlotUse shared = has(SlotUse::kExpertTensor) ? SlotUse::kExpertTensor : SlotUse::kTensor;
  all_to_all(flow, part, layer, MoeExchange::kDispatch);
  if (spec_.parallelism.expert_tp() > 1) exchange(flow, shared, CollectiveOp::kAllGather, cost_.dispatch, part);
}

void StageWriter::from_experts(Flow& flow, const std::string& part, std::uint32_t layer) {
  const SlotUse shared = has(SlotUse::kExpertTensor) ? SlotUse::kExpertTensor : SlotUse::kTensor;
  const std::int64_t etp = spec_.parallelism.expert_tp();
  if (etp > 1) exchange(flow, shared, CollectiveOp::kReduceScatter, {etp * cost_.dispatch.count}, part);
  all_to_all(flow, part, layer, MoeExchange::kCombine);
}

// The gradient of what is combined goes the way of the dispatch, and the other way round.
void StageWriter::all_to_all(Flow& flow, const std::string& part, std::uint32_t layer, MoeExchange direction) {
  if (experts_ == nullptr || !has(SlotUse::kExpert)) {
    return exchange(flow, SlotUse::kExpert, CollectiveOp::kAllToAll, cost_.dispatch, part);
  }
  const std::uint32_t demand = experts_->number(layer, flow.step.micro_batch, direction);
  flow.data = builder_.add_all_to_all(program_, slot(SlotUse::kExpert), demand, experts_->typical_input(direction),
                                      flow.prefix + part + ".all_to_all", only({flow.data}));
}

// Megatron's pairs of operators: with sequence parallelism a part begins with an all-gather and ends with a
// reduce-scatter, forward and backward alike; without it, it ends with an all-reduce (arXiv 2205.05198, section 4.2).
void StageWriter::sharded_part(Flow& flow, const Work& work, const std::string& part) {
  enter(flow, part);
  compute(flow, work, part);
  leave(flow, part);
}

void StageWriter::enter(Flow& flow, const std::string& part) {
  if (spec_.sequence_parallel) {
    exchange(flow, SlotUse::kTensor, CollectiveOp::kAllGather, cost_.activation_shard, part);
  }
}

void StageWriter::leave(Flow& flow, const std::string& part) {
  const auto op = spec_.sequence_parallel ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce;
  exchange(flow, SlotUse::kTensor, op, cost_.activation, part);
}

void StageWriter::exchange(Flow& flow, SlotUse use, CollectiveOp op, Bytes size, const std::string& part) {
  if (!has(use)) return;
  const std::string task = flow.prefix + part + "." + std::string(name(op));
  flow.data = builder_.add_collective(program_, slot(use), op, size, task, only({flow.data}));
}

void StageWriter::compute(Flow& flow, const Work& work, const std::string& task) {
  std::vector<TaskId> after = only({last_compute_, flow.data});
  after.insert(after.end(), flow.gathered.begin(), flow.gathered.end());
  last_compute_ = builder_.add_compute(program_, work.flops, work.memory, flow.prefix + task, after);
  flow.data = last_compute_;
  flow.issued = last_compute_;
  flow.gathered.clear();  // whatever follows in this unit waits for this task
}

Work StageWriter::work(const Flow& flow, const Cost& cost) const {
  return flow.step.kind == PassKind::kBackwardInput ? cost.input : cost.input + cost.weight;
}

}  // namespace photonrail::workload
