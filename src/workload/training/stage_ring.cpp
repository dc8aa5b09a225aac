// Ring attention (Liu et al., arXiv 2310.01889): keys and values go around the context-parallel ranks while each computes
// its queries against the block that it has. Every block takes the same time, as ranks hold a piece from either end of the
// sequence. The backward pass sends the blocks around again, and with them the gradients that they gather on their way.
#include "workload/training/stage_writer.hpp"

namespace photonrail::workload {

namespace {

constexpr std::uint32_t kBlockTag = 0;
constexpr std::uint32_t kGradientTag = 1;

Work share(const Work& work, std::uint32_t of) { return {work.flops / of, {work.memory.count / of}}; }

}  // namespace

/// Sends a block to the next rank when `block` is done, and receives the one of the rank before.
TaskId StageWriter::pass_on(Flow& flow, TaskId block, std::uint32_t ring_tag, const std::string& task) {
  builder_.add_send(program_, slot(SlotUse::kContextOut), cost_.kv_block, ring_tag, flow.prefix + task + ".send",
                    only({block}));
  return builder_.add_receive(program_, slot(SlotUse::kContextIn), cost_.kv_block, ring_tag,
                              flow.prefix + task + ".receive", only({block}));
}

void StageWriter::ring_forward(Flow& flow, const std::string& part) {
  const std::uint32_t ranks = spec_.parallelism.cp;
  TaskId block = flow.data;
  for (std::uint32_t k = 0; k < ranks; ++k) {
    const std::string number = std::to_string(k);
    const TaskId next = k + 1 < ranks ? pass_on(flow, block, kBlockTag, part + ".block" + number) : TaskId::none();
    flow.data = block;
    compute(flow, share(cost_.attention.core.forward, ranks), part + ".core" + number);
    block = next;
  }
}

// The block that a rank has in round k came from the rank k places back. Its gradient leaves the next rank in round 1, with
// that rank's part, takes up one part a round and comes home after round ranks - 1.
void StageWriter::ring_backward(Flow& flow, const std::string& part, const Work& work) {
  const std::uint32_t ranks = spec_.parallelism.cp;
  TaskId block = flow.data;
  TaskId gradient = TaskId::none();
  for (std::uint32_t k = 0; k < ranks; ++k) {
    const std::string number = std::to_string(k);
    const TaskId next = k + 1 < ranks ? pass_on(flow, block, kBlockTag, part + ".block" + number) : TaskId::none();
    flow.data = block;
    if (!gradient.is_none()) flow.gathered.push_back(gradient);
    compute(flow, share(work, ranks), part + ".core" + number);
    if (k > 0) gradient = pass_on(flow, last_compute_, kGradientTag, part + ".gradient" + number);
    block = next;
  }
  flow.data = gradient;
}

}  // namespace photonrail::workload
