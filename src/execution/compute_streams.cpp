#include "execution/compute_streams.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::execution {

namespace {

bool later_task(const ReadyTask& a, const ReadyTask& b) { return a.task > b.task; }

std::uint64_t argument_of(RankId id, Stream stream) {
  return (static_cast<std::uint64_t>(id.value) << 2) | static_cast<std::uint64_t>(stream);
}
// Marks the stream of a group that runs as one: that of its first rank.
constexpr std::uint64_t kOfGroup = std::uint64_t{1} << 63;

RankId rank_of(std::uint64_t argument) { return RankId{(argument & ~kOfGroup) >> 2}; }
Stream stream_of(std::uint64_t argument) { return static_cast<Stream>(argument & 3); }

}  // namespace

ComputeStreams::ComputeStreams(const TaskGraph& graph, const ExecutorSpec& spec, const RunContext& run,
                               ComputeListener& listener)
    : graph_(graph), run_(run), listener_(listener), sm_share_(spec.sm_share), ranks_(graph.ranks()) {
  for (std::vector<ComputeStream>& streams : streams_) streams.resize(graph.ranks());
  const bool shared = std::any_of(sm_share_.begin(), sm_share_.end(), [](double share) { return share > 0.0; });
  if (shared) multiprocessors_.resize(graph.ranks());
}

// The rest of the computation takes as much longer as the multiprocessors become fewer.
void ComputeStreams::exchange_changed(RankId id, Dimension d, int by) {
  if (multiprocessors_.empty()) return;
  Multiprocessors& gpu = multiprocessors_[id.index()];
  gpu.exchanges[static_cast<std::size_t>(d)] = static_cast<std::uint16_t>(gpu.exchanges[static_cast<std::size_t>(d)] + by);
  double taken = 0.0;
  for (std::size_t i = 0; i < gpu.exchanges.size(); ++i) taken += gpu.exchanges[i] > 0 ? sm_share_[i] : 0.0;
  taken = std::min(taken, kMaxSmShare);
  const double before = std::exchange(gpu.taken, taken);
  if (taken == before || !gpu.finish) return;
  const Time now = run_.engine.now();
  const double rest = static_cast<double>((gpu.end - now).count()) * (1.0 - before) / (1.0 - taken);
  if (!run_.engine.cancel(gpu.finish)) return;  // it ends at this instant
  gpu.end = now + round_up_picoseconds(rest);
  gpu.finish = run_.engine.schedule(gpu.end, engine::Phase::kFinish,
                                    engine::Action::to<&ComputeStreams::finish>(*this, argument_of(id, Stream::kGpu)));
}

void ComputeStreams::begin_iteration(RankId id, std::uint32_t iteration, double slowdown) {
  if (ranks_[id.index()].together) part(run_.lockstep->of(id));
  ranks_[id.index()].iteration = iteration;
  ranks_[id.index()].slowdown = slowdown;
}

// The lowest ready task lies in the stream itself and only the others in a heap, since streams rarely have two ready.
void ComputeStreams::enqueue(RankId id, const ReadyTask& task, Stream which) {
  if (ranks_[id.index()].together) part(run_.lockstep->of(id));
  ComputeStream& stream = at(id, which);
  if (!stream.has_next()) {
    stream.next = task;
  } else {
    std::vector<ReadyTask>& more = more_ready(id, which);
    more.push_back(task.task < stream.next.task ? std::exchange(stream.next, task) : task);
    std::push_heap(more.begin(), more.end(), later_task);
    stream.more = true;
  }
  if (!stream.busy()) want_start(id);
}

std::vector<ReadyTask>& ComputeStreams::more_ready(RankId id, Stream which) {
  std::vector<std::vector<ReadyTask>>& of_stream = more_ready_[static_cast<std::size_t>(which)];
  if (of_stream.empty()) of_stream.resize(ranks_.size());
  return of_stream[id.index()];
}

// The task that is ready after the lowest of them, if there is one, becomes the next.
void ComputeStreams::take_next(RankId id, Stream which, ComputeStream& stream) {
  stream.next.task = TaskId::none();
  if (!stream.more) return;
  std::vector<ReadyTask>& more = more_ready(id, which);
  std::pop_heap(more.begin(), more.end(), later_task);
  stream.next = more.back();
  more.pop_back();
  stream.more = !more.empty();
}

// Computations start together in the phase kStart, when all that became ready at this instant is known: the lowest task id
// goes first, not the first to become ready.
void ComputeStreams::want_start(RankId id) {
  Rank& rank = ranks_[id.index()];
  if (rank.pending) return;
  rank.pending = true;
  pending_.push_back(id);
  listener_.streams_pending();
}

void ComputeStreams::start_ready() {
  starting_.clear();
  std::swap(starting_, pending_);
  last_batch_ = kNone;
  for (const RankId id : starting_) {
    ranks_[id.index()].pending = false;
    if (ranks_[id.index()].together) {
      start_all(run_.lockstep->of(id));
      continue;
    }
    start(id, Stream::kGpu);
    start(id, Stream::kHost);
    start(id, Stream::kStorage);
  }
}

// A recorded time stands for itself; else the roofline of the GPU. A slow GPU stretches both, and so do kernels of
// exchanges that hold multiprocessors, but neither the host nor storage.
Duration ComputeStreams::time_of(RankId id, const Task& task, Stream which) const {
  const Rank& rank = ranks_[id.index()];
  const double flops = task.demand() == 0 ? task.flops : run_.operations.flops(id, task, rank.iteration);
  Duration time = task.time() ? *task.time() : run_.gpus.of(id).compute_time(flops, task.memory());
  if (rank.slowdown != 1.0 && which == Stream::kGpu) {
    time = round_up_picoseconds(static_cast<double>(time.count()) * rank.slowdown);
  }
  if (which == Stream::kGpu && !multiprocessors_.empty() && multiprocessors_[id.index()].taken > 0.0) {
    time = round_up_picoseconds(static_cast<double>(time.count()) / (1.0 - multiprocessors_[id.index()].taken));
  }
  if (time > kLongest) fail_too_long(static_cast<double>(time.count()));
  return time;
}

void ComputeStreams::start(RankId id, Stream which) {
  ComputeStream& stream = at(id, which);
  if (stream.busy() || !stream.has_next()) return;
  stream.running = stream.next.task;
  stream.reconfigurations = later_of(stream.next.cause, stream.freed).reconfigurations;
  take_next(id, which, stream);
  stream.started = run_.engine.now();
  if (run_.launches != nullptr) [[unlikely]] {
    const LaunchTable::Place at = run_.launches->place(id, stream.running);
    ranks_[id.index()].slowdown = at.launch->parts[at.part].slowdown;
  }
  std::optional<Duration> time = time_of(id, task_of(graph_, run_.launches, id, stream.running), which);
  if (which == Stream::kGpu) time = run_.stragglers.with_failures(id, stream.started, *time);
  if (which == Stream::kStorage) {
    run_.accounting.running_began(id, Dimension::kOther, stream.started);
  } else {
    run_.accounting.compute_began(id, stream.started);
  }
  if (!time) return;  // the GPU stopped for good
  if (*time > kLongest) fail_too_long(static_cast<double>(time->count()));
  const Time end = stream.started + *time;
  if (multiprocessors_.empty()) return finish_at(end, argument_of(id, which));
  // Exchanges that begin or end move the end of a computation: it has an event of its own.
  const engine::EventHandle handle = run_.engine.schedule(
      end, engine::Phase::kFinish, engine::Action::to<&ComputeStreams::finish>(*this, argument_of(id, which)));
  if (which == Stream::kGpu) {
    multiprocessors_[id.index()].end = end;
    multiprocessors_[id.index()].finish = handle;
  }
}

// Computations that start one after another and end at one time, as those of a server often do, cost one event.
void ComputeStreams::finish_at(Time end, std::uint64_t rank_and_stream) {
  if (last_batch_ == kNone || end != last_end_) {
    if (free_batches_.empty()) {
      free_batches_.push_back(static_cast<std::uint32_t>(batches_.size()));
      batches_.emplace_back();
    }
    last_batch_ = free_batches_.back();
    free_batches_.pop_back();
    run_.engine.schedule(end, engine::Phase::kFinish, engine::Action::to<&ComputeStreams::finish_all>(*this, last_batch_));
  }
  batches_[last_batch_].push_back(rank_and_stream);
  last_end_ = end;
}

void ComputeStreams::finish_all(std::uint64_t batch) {
  ending_.clear();
  std::swap(ending_, batches_[batch]);
  free_batches_.push_back(static_cast<std::uint32_t>(batch));
  for (const std::uint64_t rank_and_stream : ending_) {
    const bool of_group = (rank_and_stream & kOfGroup) != 0;
    of_group ? finish_on_all(run_.lockstep->of(rank_of(rank_and_stream))) : finish(rank_and_stream);
  }
}

// The next task of the stream is asked for before the listener is notified, so that what the completion makes ready joins
// the others of this instant, in the order of task ids.
void ComputeStreams::finish(std::uint64_t rank_and_stream) {
  const RankId id = rank_of(rank_and_stream);
  const Stream which = stream_of(rank_and_stream);
  if (ranks_[id.index()].together) part(run_.lockstep->of(id));
  ComputeStream& stream = at(id, which);
  const Time now = run_.engine.now();
  const TaskId task = std::exchange(stream.running, TaskId::none());
  const CriticalPathTag cause{now, stream.reconfigurations};
  stream.freed = cause;
  if (!multiprocessors_.empty() && which == Stream::kGpu) multiprocessors_[id.index()].finish = {};
  if (which == Stream::kStorage) {
    run_.accounting.running_ended(id, Dimension::kOther, now);
  } else {
    run_.accounting.compute_ended(id, now);
    if (which == Stream::kGpu) run_.accounting.undetected(id, run_.stragglers.undetected(id, stream.started, now));
  }
  run_.observers.compute({stream.started, now, id, task, which});
  if (stream.has_next()) want_start(id);
  listener_.computed(id, task, cause);
}

// ---- groups that run as one

// A group runs as one while its stream holds at most the task that it runs and the next: a heap of further tasks would have
// to be kept for each member.
void ComputeStreams::enqueue(const LockstepGroup& group, const ReadyTask& task) {
  if (!join(group) || at(group.first, Stream::kGpu).has_next()) {
    for (std::uint32_t m = 0; m < group.size; ++m) enqueue(group.rank(m), task, Stream::kGpu);
    return;
  }
  ComputeStream& stream = at(group.first, Stream::kGpu);
  stream.next = task;
  if (!stream.busy()) want_start(group.first);
}

void ComputeStreams::start_all(const LockstepGroup& group) {
  ComputeStream& stream = at(group.first, Stream::kGpu);
  if (stream.busy() || !stream.has_next()) return;
  stream.running = stream.next.task;
  stream.reconfigurations = later_of(stream.next.cause, stream.freed).reconfigurations;
  stream.next.task = TaskId::none();
  stream.started = run_.engine.now();
  const Task& task = graph_.program(group.first).task(stream.running);
  run_.accounting.compute_began(group, stream.started);
  finish_at(stream.started + time_of(group.first, task, Stream::kGpu), kOfGroup | argument_of(group.first, Stream::kGpu));
}

void ComputeStreams::finish_on_all(const LockstepGroup& group) {
  if (!ranks_[group.first.index()].together) {  // they were parted since it began
    for (std::uint32_t m = 0; m < group.size; ++m) finish(argument_of(group.rank(m), Stream::kGpu));
    return;
  }
  ComputeStream& stream = at(group.first, Stream::kGpu);
  const Time now = run_.engine.now();
  const TaskId task = std::exchange(stream.running, TaskId::none());
  stream.freed = {now, stream.reconfigurations};
  run_.accounting.compute_ended(group, now);
  if (stream.has_next()) want_start(group.first);
  listener_.computed_by_all(group, task, stream.freed);
}

// They must be idle: since when they are makes no difference to what becomes ready later.
bool ComputeStreams::join(const LockstepGroup& group) {
  const Rank& first = ranks_[group.first.index()];
  if (first.together) return true;
  const Time now = run_.engine.now();
  const CriticalPathTag freed = at(group.first, Stream::kGpu).freed;
  for (std::uint32_t m = 0; m < group.size; ++m) {
    const Rank& rank = ranks_[group.rank(m).index()];
    const ComputeStream& stream = at(group.rank(m), Stream::kGpu);
    if (rank.pending || stream.busy() || stream.has_next()) return false;
    if (rank.slowdown != first.slowdown || rank.iteration != first.iteration) return false;
    const bool before = freed.at < now && stream.freed.at < now;
    if (!before && (freed.at != stream.freed.at || freed.reconfigurations != stream.freed.reconfigurations)) return false;
  }
  for (std::uint32_t m = 0; m < group.size; ++m) ranks_[group.rank(m).index()].together = true;
  return true;
}

// The members get the stream of the first, and their places behind it among those that want to start, in their order.
void ComputeStreams::part(const LockstepGroup& group) {
  Rank& first = ranks_[group.first.index()];
  first.together = false;
  for (std::uint32_t m = 1; m < group.size; ++m) {
    at(group.rank(m), Stream::kGpu) = at(group.first, Stream::kGpu);
    ranks_[group.rank(m).index()] = first;
  }
  if (!first.pending) return;
  auto place = std::find(pending_.begin(), pending_.end(), group.first);
  for (std::uint32_t m = 1; m < group.size; ++m) place = pending_.insert(place + 1, group.rank(m));
}

}  // namespace photonrail::execution
