#include "workload/training/stage_ring.hpp"

namespace photonrail::workload {

namespace {

constexpr std::uint32_t kBlockTag = 0;
constexpr std::uint32_t kGradientTag = 1;

Work share(const Work& work, std::uint32_t of) {
  Work part = scaled(work, 1.0 / of);
  part.flops = work.flops / of;
  part.memory = {work.memory.count / of};
  return part;
}

}  // namespace

// Sends a block to the next rank when `block` is done, and receives the one of the rank before.
TaskId RingWriter::pass_on(StagePass& pass, TaskId block, std::uint32_t ring_tag, const std::string& task) {
  const Bytes size = model_.cost.kv_block;
  tasks_.send({SlotUse::kContextOut, size, ring_tag}, pass.prefix + task + ".send", block);
  return tasks_.receive({SlotUse::kContextIn, size, ring_tag}, pass.prefix + task + ".receive", block);
}

void RingWriter::forward(StagePass& pass, const std::string& part, const Work& work) {
  const std::uint32_t ranks = model_.spec.parallelism.cp;
  TaskId block = pass.data;
  for (std::uint32_t k = 0; k < ranks; ++k) {
    const std::string number = std::to_string(k);
    const TaskId next = k + 1 < ranks ? pass_on(pass, block, kBlockTag, part + ".block" + number) : TaskId::none();
    pass.data = block;
    tasks_.compute(pass, share(work, ranks), part + ".core" + number);
    block = next;
  }
}

// The block that a rank has in round k came from the rank k places back. Its gradient leaves the next rank in round 1, with
// that rank's part, takes up one part a round and comes home after round ranks - 1.
void RingWriter::backward(StagePass& pass, const std::string& part, const Work& work) {
  const std::uint32_t ranks = model_.spec.parallelism.cp;
  TaskId block = pass.data;
  TaskId gradient = TaskId::none();
  for (std::uint32_t k = 0; k < ranks; ++k) {
    const std::string number = std::to_string(k);
    const TaskId next = k + 1 < ranks ? pass_on(pass, block, kBlockTag, part + ".block" + number) : TaskId::none();
    pass.data = block;
    if (!gradient.is_none()) pass.gathered.push_back(gradient);
    tasks_.compute(pass, share(work, ranks), part + ".core" + number);
    if (k > 0) gradient = pass_on(pass, tasks_.last_compute(), kGradientTag, part + ".gradient" + number);
    block = next;
  }
  pass.data = gradient;
}

}  // namespace photonrail::workload
