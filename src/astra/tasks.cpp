#include "astra/tasks.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::astra {

namespace {

using Kind = AnalyticalTask::Kind;

std::uint64_t recorded(const AnalyticalTask& task) { return std::max<std::uint64_t>(task.recorded_ns, 1); }

/// Cut to whole nanoseconds: FLOPs over the smaller of the peak and what the memory feeds.
std::uint64_t roofline_ns(const AnalyticalTask& task, const AnalyticalSystem& system) {
  const double intensity = task.flops / task.memory_bytes;
  const double rate = std::min(system.memory_gb_per_s * 1e9 * intensity, system.peak_tflops * 1e12);
  return task.flops > 0.0 ? whole_nanoseconds(task.flops / rate * 1e9) : 0;
}

}  // namespace

Tasks::Tasks(const AnalyticalJob& job, Clock& clock, Links& links, Collectives& collectives, RankCalls& ranks)
    : job_(job),
      clock_(clock),
      links_(links),
      collectives_(collectives),
      rank_calls_(ranks),
      ranks_(job.ranks.size()),
      finish_(job.ranks.size(), 0) {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    const auto& tasks = job.ranks[r];
    rank.left = tasks.size();
    rank.waits_for.assign(tasks.size(), 0);
    rank.successors.resize(tasks.size());
    for (std::uint32_t t = 0; t < tasks.size(); ++t) {
      rank.waits_for[t] = static_cast<std::uint32_t>(tasks[t].after.size());
      for (const std::uint32_t before : tasks[t].after) rank.successors[before].push_back(t);
      if (tasks[t].after.empty()) rank.ready.insert(rank.ready.end(), t);
    }
  }
}

void Tasks::begin() {
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) issue_ready(r);
}

bool* Tasks::resource(Rank& rank, const AnalyticalTask& task) const {
  if (task.kind == Kind::kNothing) return nullptr;
  if (task.on_cpu) return &rank.cpu_busy;
  if (task.kind == Kind::kCompute) return &rank.gpu_busy;
  return task.kind == Kind::kReceive ? nullptr : &rank.network_busy;
}

// In ascending order of the tasks that are ready now; those that become ready on the way are looked at afterwards.
void Tasks::issue_ready(std::uint32_t r) {
  Rank& rank = ranks_[r];
  for (bool again = true; again;) {
    again = false;
    const std::vector<std::uint32_t> now(rank.ready.begin(), rank.ready.end());
    for (const std::uint32_t task : now) {
      bool* const busy = resource(rank, task_of(r, task));
      if (busy != nullptr && *busy) continue;
      rank.ready.erase(task);
      rank.running.insert(task);
      if (busy != nullptr) *busy = true;
      if (issue(r, task)) continue;
      finish(r, task);
      again = true;
    }
  }
}

// False when the task takes no time.
bool Tasks::issue(std::uint32_t r, std::uint32_t index) {
  const AnalyticalTask& task = task_of(r, index);
  if (task.kind == Kind::kNothing) return false;
  if (job_.system.replay || (task.kind == Kind::kCollective && task.op == CollectiveOp::kBroadcast)) {
    take_time(r, index, recorded(task));
    return true;
  }
  switch (task.kind) {
    case Kind::kCompute:
      return compute(r, index);
    case Kind::kSend:
      send(r, index);
      return true;
    case Kind::kReceive:
      receive(r, index);
      return true;
    default:
      return collectives_.begin(r, index);
  }
}

bool Tasks::compute(std::uint32_t r, std::uint32_t index) {
  const AnalyticalTask& task = task_of(r, index);
  if (!job_.system.roofline || task.on_cpu) {
    take_time(r, index, recorded(task));
    return true;
  }
  if (!(task.memory_bytes > 0.0)) return false;
  take_time(r, index, roofline_ns(task, job_.system));
  return true;
}

void Tasks::take_time(std::uint32_t r, std::uint32_t index, std::uint64_t nanoseconds) {
  if (!task_of(r, index).on_cpu) ranks_[r].gpu_ns += nanoseconds;
  rank_calls_.after(r, nanoseconds, {.task = index});
}

void Tasks::send(std::uint32_t r, std::uint32_t index) {
  const AnalyticalTask& task = task_of(r, index);
  if (unused_.empty()) {
    unused_.push_back(sent_.size());
    sent_.emplace_back();
  }
  const std::uint64_t message = unused_.back();
  unused_.pop_back();
  sent_[message] = {{r, task.peer, task.tag, task.bytes}, index};
  links_.send(r, task.peer, task.bytes, message);
}

void Tasks::receive(std::uint32_t r, std::uint32_t index) {
  const AnalyticalTask& task = task_of(r, index);
  Mailbox& box = mailboxes_[{task.peer, r, task.tag, task.bytes}];
  if (box.arrived == 0) return box.receives.push_back(index);
  --box.arrived;
  clock_.after(0, engine::Action::to<&Tasks::received_now>(*this, std::uint64_t{r} << 32U | index));
}

void Tasks::received_now(std::uint64_t rank_and_task) {
  over(static_cast<std::uint32_t>(rank_and_task >> 32U), static_cast<std::uint32_t>(rank_and_task));
}

// The sender's task is over first, then the receiver's.
void Tasks::arrived(std::uint64_t message) {
  const Sent sent = sent_[message];
  unused_.push_back(message);
  over(std::get<0>(sent.link), sent.task);
  Mailbox& box = mailboxes_[sent.link];
  if (box.receives.empty()) {
    ++box.arrived;
    return;
  }
  const std::uint32_t task = box.receives.front();
  box.receives.pop_front();
  over(std::get<1>(sent.link), task);
}

void Tasks::finish(std::uint32_t r, std::uint32_t index) {
  Rank& rank = ranks_[r];
  if (bool* const busy = resource(rank, task_of(r, index))) *busy = false;
  rank.running.erase(index);
  for (const std::uint32_t next : rank.successors[index]) {
    if (--rank.waits_for[next] == 0) rank.ready.insert(next);
  }
  if (--rank.left == 0) finish_[r] = clock_.now();
}

void Tasks::over(std::uint32_t r, std::uint32_t index) {
  finish(r, index);
  issue_ready(r);
}

std::vector<std::uint64_t> Tasks::exposed_ns() const {
  std::vector<std::uint64_t> exposed;
  for (std::size_t r = 0; r < ranks_.size(); ++r) exposed.push_back(finish_[r] - std::min(finish_[r], ranks_[r].gpu_ns));
  return exposed;
}

std::string Tasks::waits_for(std::uint32_t r, std::uint32_t index) const {
  const AnalyticalTask& task = task_of(r, index);
  if (task.kind == Kind::kCollective) return collectives_.waits_for(r, index);
  std::string text = "a message of " + core::counted(task.bytes, "byte") + " with tag " + std::to_string(task.tag) +
                     " from rank " + std::to_string(task.peer);
  for (const auto& [link, box] : mailboxes_) {
    const auto [from, to, tag, bytes] = link;
    if (from == task.peer && to == r && tag == task.tag && box.arrived > 0)
      text += "; one of " + core::counted(bytes, "byte") + " came, which does not match";
  }
  return text;
}

void Tasks::check_finished() const {
  constexpr std::size_t kShown = 20;
  std::vector<std::string> stuck;
  for (std::uint32_t r = 0; r < ranks_.size() && stuck.size() < kShown; ++r) {
    if (ranks_[r].left == 0) continue;
    if (ranks_[r].running.empty())
      stuck.push_back("rank " + std::to_string(r) + ": its tasks wait for each other in a circle");
    for (const std::uint32_t task : ranks_[r].running) {
      stuck.push_back("rank " + std::to_string(r) + ": " + task_of(r, task).name + " waits for " + waits_for(r, task));
    }
  }
  if (!stuck.empty()) throw DeadlockError(std::move(stuck));
}

}  // namespace photonrail::astra
