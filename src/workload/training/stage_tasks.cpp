#include "workload/training/stage_tasks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::workload {

StageTasks::StageTasks(TaskGraphBuilder& builder, std::vector<SlotUse> slots, OperatorBook* book, double ranks)
    : builder_(builder), slots_(std::move(slots)), book_(book), ranks_(ranks), program_(builder.add_program()) {}

bool StageTasks::has(SlotUse use) const { return std::find(slots_.begin(), slots_.end(), use) != slots_.end(); }

std::uint32_t StageTasks::slot(SlotUse use) const {
  return static_cast<std::uint32_t>(std::find(slots_.begin(), slots_.end(), use) - slots_.begin());
}

std::vector<TaskId> StageTasks::only(std::initializer_list<TaskId> candidates) {
  std::vector<TaskId> tasks;
  for (const TaskId t : candidates) {
    if (!t.is_none()) tasks.push_back(t);
  }
  return tasks;
}

void StageTasks::compute(StagePass& pass, const Work& work, const std::string& task) {
  std::vector<TaskId> after = only({last_compute_, pass.data});
  after.insert(after.end(), pass.gathered.begin(), pass.gathered.end());
  last_compute_ = compute_apart(work, pass.prefix + task, after);
  pass.data = last_compute_;
  pass.issued = last_compute_;
  pass.gathered.clear();  // whatever follows in this unit waits for this task
}

void StageTasks::exchange(StagePass& pass, SlotUse use, CollectiveOp op, Bytes size, const std::string& part) {
  if (!has(use)) return;
  pass.data = collective(use, op, size, pass.prefix + part + "." + std::string(name(op)), only({pass.data}));
}

void StageTasks::exchange_experts(StagePass& pass, std::uint32_t demand, Bytes typical, const std::string& part) {
  pass.data = builder_.add_all_to_all(program_, slot(SlotUse::kExpert), demand, typical, pass.prefix + part + ".all_to_all",
                                      only({pass.data}));
}

TaskId StageTasks::collective(SlotUse use, CollectiveOp op, Bytes size, const std::string& task,
                              const std::vector<TaskId>& after) {
  return builder_.add_collective(program_, slot(use), op, size, task, after);
}

TaskId StageTasks::compute_apart(const Work& work, const std::string& task, const std::vector<TaskId>& after) {
  if (book_ == nullptr) return builder_.add_compute(program_, work.flops, work.memory, task, after);
  book_->use(work.operators, work.host_waits, ranks_);
  const TaskId id = builder_.add_delay(program_, book_->time(work.operators, work.host_waits), task, after);
  note_shares(id, work);
  return id;
}

// Passes repeat: few computations of a stage are made of different operators.
void StageTasks::note_shares(TaskId task, const Work& work) {
  const OperatorBook::ClassTimes times = book_->times_of_classes(work.operators, work.host_waits);
  const double whole = std::accumulate(times.begin(), times.end(), 0.0);
  if (whole <= 0.0) return;
  const auto [known, is_new] = shares_.try_emplace(times, 0);
  if (is_new) {
    std::vector<Program::Share> shares;
    for (std::size_t c = 0; c < times.size(); ++c) {
      if (times[c] > 0.0)
        shares.push_back({std::string(photonrail::name(static_cast<OperatorClass>(c))), times[c] / whole});
    }
    known->second = builder_.add_shares(program_, std::move(shares));
  }
  builder_.set_shares(program_, task, known->second);
}

void StageTasks::send(const Message& message, const std::string& task, TaskId after) {
  builder_.add_send(program_, slot(message.link), message.size, message.tag, task, only({after}));
}

TaskId StageTasks::receive(const Message& message, const std::string& task, TaskId after) {
  return builder_.add_receive(program_, slot(message.link), message.size, message.tag, task, only({after}));
}

}  // namespace photonrail::workload
