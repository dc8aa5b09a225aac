#include "astra/collectives.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::astra {

namespace {

constexpr std::uint64_t kGroupEndpointDelay = 10;  // ns
constexpr unsigned kPlaceBits = 17;
constexpr unsigned kPhaseBits = 4;
constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;

std::uint64_t pair_key(std::uint64_t high, std::uint64_t low) { return high << 32U | low; }

// Instance, phase, member and source of a message in one word, so that a message in flight takes no memory of its own.
std::uint64_t pack(std::uint64_t instance, std::uint64_t phase, std::uint64_t member, std::uint64_t source) {
  return ((instance << kPhaseBits | phase) << kPlaceBits | member) << kPlaceBits | source;
}

}  // namespace

bool all_chunks_alike(const AnalyticalJob& job, AnalyticalBackend backend) {
  if (backend != AnalyticalBackend::kCongestionUnaware) return false;
  const auto& tasks = job.ranks.front();
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto& after = tasks[t].after;
    const bool in_turn = t == 0 || std::find(after.begin(), after.end(), t - 1) != after.end();
    if (!in_turn) return false;
    if (tasks[t].kind != AnalyticalTask::Kind::kCollective || tasks[t].op == CollectiveOp::kBroadcast) continue;
    const auto phases = phases_of(tasks[t].op, tasks[t].bytes, topology_of(job, tasks[t].op),
                                  tasks[t].group == 0 ? tasks[t].dimensions : ~0U, job.system.hierarchical_all_reduce);
    if (phases.size() > 1) return false;
  }
  return true;
}

Collectives::Collectives(const AnalyticalJob& job, Clock& clock, Links& links, RankCalls& ranks, bool repeat)
    : job_(job),
      clock_(clock),
      links_(links),
      ranks_(ranks),
      rank_count_(job.rank_count()),
      folding_{.of_ranks = job.ranks.size() != rank_count_, .of_chunks = repeat},
      calls_(job.ranks.size()),
      collectives_(job.ranks.size(), 0),
      queues_(job.ranks.size() * job.network.size()) {}

Collectives::Queue& Collectives::queue_of(std::uint32_t rank, std::uint32_t dimension) {
  return queues_[rank * job_.network.size() + dimension];
}

// A group of some of the ranks is one ring in the order of the group; one of all of them is the network.
const Collectives::Members& Collectives::members_of(std::uint32_t group, CollectiveOp op) {
  const auto [at, is_new] = members_.try_emplace(pair_key(group, static_cast<std::uint64_t>(op)));
  Members& m = at->second;
  if (!is_new) return m;
  const auto* ranks = group == 0 ? nullptr : &job_.groups[group - 1];
  m.subset = ranks != nullptr && ranks->size() != rank_count_;
  m.count = m.subset ? static_cast<std::uint32_t>(ranks->size()) : rank_count_;
  if (m.subset) {
    m.topology.circles.push_back({m.count, 1, false, std::make_shared<const std::vector<std::uint32_t>>(*ranks)});
    m.topology.how.emplace_back();
  } else {
    m.topology = topology_of(job_, op);
  }
  return m;
}

std::uint32_t Collectives::member_index(std::uint32_t group, std::uint32_t rank) const {
  if (group == 0 || job_.groups[group - 1].size() == rank_count_) return rank;
  const auto& ranks = job_.groups[group - 1];
  return static_cast<std::uint32_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

std::int64_t Collectives::next_priority(std::uint32_t rank, const AnalyticalTask& task) {
  if (job_.system.order == AnalyticalOrder::kExplicit) return task.priority;
  const std::int64_t begun = collectives_[rank]++;
  return job_.system.order == AnalyticalOrder::kLifo ? begun : -begun;
}

bool Collectives::begin(std::uint32_t rank, std::uint32_t index) {
  const AnalyticalTask& task = job_.ranks[rank][index];
  const std::int64_t priority = next_priority(rank, task);
  const auto sizes = chunks_of(task.op, task.bytes, job_.system.chunks, rank_count_);
  const auto call = static_cast<std::uint32_t>(calls_[rank].size());
  calls_[rank].push_back({index, static_cast<std::uint32_t>(sizes.size())});
  for (const std::uint64_t bytes : sizes) {
    CollectiveInstance& instance = join(rank, task, bytes);
    if (instance.phases.empty()) return false;
    Chunk& chunk = instance.chunks[member_index(task.group, rank)];
    chunk.rank = rank;
    chunk.call = call;
    chunk.priority = priority;
    chunk.phase = 0;
    begin_phase(chunk);
    Queue& queue = queue_of(rank, instance.phases.front().dimension);
    put_in_queue(chunk, queue);
    start_next(queue);
  }
  return !sizes.empty();
}

std::unique_ptr<CollectiveInstance> Collectives::make_instance(const AnalyticalTask& task, std::uint64_t bytes) {
  const Members& m = members_of(task.group, task.op);
  auto instance = std::make_unique<CollectiveInstance>();
  instance->op = task.op;
  instance->bytes = bytes;
  instance->phases =
      phases_of(task.op, bytes, m.topology, task.group == 0 ? task.dimensions : ~0U, job_.system.hierarchical_all_reduce);
  for (Phase& phase : instance->phases) {
    phase.fast_endpoint = m.subset;
    if (phase.how.algorithm != AnalyticalAlgorithm::kDoubleBinaryTree) continue;
    bool& other = next_tree_[pair_key(static_cast<std::uint64_t>(task.op), phase.dimension)];
    phase.other_tree = std::exchange(other, !other);
  }
  instance->chunks.resize(folding_.of_ranks ? 1 : m.count);
  for (std::uint32_t i = 0; i < instance->chunks.size(); ++i) {
    instance->chunks[i].member = i;
    instance->chunks[i].instance = instance.get();
  }
  return instance;
}

CollectiveInstance& Collectives::join(std::uint32_t rank, const AnalyticalTask& task, std::uint64_t bytes) {
  const std::uint32_t number = next_number_[pair_key(rank, task.group)]++;
  const auto [at, is_new] = by_number_.try_emplace(pair_key(task.group, number));
  if (is_new) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::uint32_t>(instances_.size()));
      instances_.emplace_back();
    }
    at->second = unused_.back();
    unused_.pop_back();
    instances_[at->second] = make_instance(task, bytes);
    instances_[at->second]->number = at->second;
    instances_[at->second]->key = at->first;
  }
  CollectiveInstance& instance = *instances_[at->second];
  if (instance.op == task.op && instance.bytes == bytes) return instance;
  throw ConfigError("rank " + std::to_string(rank) + ": " + task.name,
                    "its collective is not the one that the other ranks of the group call at this point: " +
                        std::string(name(task.op)) + " of " + core::counted(bytes, "byte") + " a chunk here, " +
                        std::string(name(instance.op)) + " of " + std::to_string(instance.bytes) + " there",
                    "members of a group call the same collectives in the same order");
}

void Collectives::begin_phase(Chunk& chunk) {
  const Phase& p = phase_of(chunk);
  chunk.started = false;
  chunk.place = p.circle.place(chunk.rank);
  chunk.at = {};
  chunk.at.messages_left = p.messages;
  chunk.balance.assign(p.sources, 0);
  std::erase_if(chunk.early, [&](const EarlyMessage& m) {
    if (m.phase != chunk.phase) return false;
    ++chunk.balance[m.source];
    return true;
  });
}

// Behind those that have started, and behind those of the same or a higher priority. Chunks of one collective, of which
// there may be a million, go to the end without a search.
void Collectives::put_in_queue(Chunk& chunk, Queue& queue) {
  auto& chunks = queue.chunks;
  if (chunks.empty() || chunks.back()->started || chunks.back()->priority >= chunk.priority) {
    chunks.push_back(&chunk);
    return;
  }
  const auto is_lower = [&](const Chunk* other) { return !other->started && other->priority < chunk.priority; };
  chunks.insert(std::find_if(chunks.begin(), chunks.end(), is_lower), &chunk);
}

void Collectives::start_next(Queue& queue) {
  while (queue.started < queue.chunks.size() && queue.started < job_.system.active_chunks) {
    Chunk& chunk = *queue.chunks[queue.started++];
    chunk.started = true;
    chunk.since = clock_.now();
    if (!repeats(chunk)) start(chunk, *this);
  }
}

// The chunk ends when one of its size did, counted from its start.
bool Collectives::repeats(Chunk& chunk) {
  if (!folding_.of_chunks) return false;
  const auto known = folding_.duration.find({chunk.instance->op, chunk.instance->bytes});
  if (known == folding_.duration.end()) return false;
  folding_.repeated_messages += phase_of(chunk).messages;
  ranks_.after(chunk.rank, known->second, {.chunk = &chunk, .over = true});
  return true;
}

void Collectives::leave(Chunk& chunk) {
  auto& chunks = queue_of(chunk.rank, phase_of(chunk).dimension).chunks;
  chunks.erase(std::find(chunks.begin(), chunks.end(), &chunk));
}

// The order matters where instants are equal: the chunk is in its next queue before the one that waits behind it here
// starts.
void Collectives::finish(Chunk& chunk) {
  if (folding_.of_chunks)
    folding_.duration.try_emplace({chunk.instance->op, chunk.instance->bytes}, clock_.now() - chunk.since);
  Queue& before = queue_of(chunk.rank, phase_of(chunk).dimension);
  const bool is_last = chunk.phase + 1 == chunk.instance->phases.size();
  if (is_last) {
    Call& call = calls_[chunk.rank][chunk.call];
    if (--call.chunks_left == 0) ranks_.collective_over(chunk.rank, call.task);
  }
  leave(chunk);
  --before.started;
  if (is_last) {
    start_next(before);
    return over_on_rank(chunk);
  }
  ++chunk.phase;
  begin_phase(chunk);
  const std::uint32_t dimension = phase_of(chunk).dimension;
  Queue& next = queue_of(chunk.rank, dimension);
  put_in_queue(chunk, next);
  start_next(before);
  start_next(next);
}

void Collectives::over_on_rank(Chunk& chunk) {
  CollectiveInstance& instance = *chunk.instance;
  if (++instance.done < instance.chunks.size()) return;
  const std::uint32_t place = instance.number;
  by_number_.erase(instance.key);
  instances_[place].reset();
  unused_.push_back(place);
}

void Collectives::handle(Chunk& chunk, bool reduce, std::uint64_t bytes) {
  const std::uint64_t delay = phase_of(chunk).fast_endpoint ? kGroupEndpointDelay : job_.system.endpoint_delay_ns;
  ranks_.after(chunk.rank, delay, {.chunk = &chunk, .bytes = bytes, .reduce = reduce});
}

// A reduction writes its result and reads both operands: three passes over the memory, each cut to whole nanoseconds.
void Collectives::handled(const RankEvent& event) {
  if (event.over) return finish(*event.chunk);
  if (!event.reduce) return ready(*event.chunk, *this);
  const double seconds = static_cast<double>(event.bytes) / (job_.system.memory_gb_per_s * 1e9);
  ranks_.after(event.chunk->rank, 3 * whole_nanoseconds(seconds * 1e9), {.chunk = event.chunk});
}

void Collectives::send(Chunk& chunk, std::uint32_t to, std::uint32_t source, std::uint64_t bytes) {
  const CollectiveInstance& instance = *chunk.instance;
  const Phase& phase = phase_of(chunk);
  const Circle& circle = phase.circle;
  if (folding_.of_ranks) {  // to the rank itself, as from its counterpart
    if (phase.how.algorithm == AnalyticalAlgorithm::kDirect) source = circle.members - circle.place(to);
    return links_.send(chunk.rank, to, bytes, kOfACollective | pack(instance.number, chunk.phase, 0, source));
  }
  const std::uint32_t member = circle.ranks ? circle.place(to) : to;
  links_.send(chunk.rank, to, bytes, kOfACollective | pack(instance.number, chunk.phase, member, source));
}

Chunk& Collectives::receiver(std::uint64_t message, std::uint32_t& phase, std::uint32_t& source) {
  source = static_cast<std::uint32_t>(message & kPlaceMask);
  const std::uint64_t member = message >> kPlaceBits & kPlaceMask;
  phase = static_cast<std::uint32_t>(message >> 2 * kPlaceBits & ((1U << kPhaseBits) - 1));
  return instances_[message >> (2 * kPlaceBits + kPhaseBits)]->chunks[member];
}

void Collectives::arrived(std::uint64_t message) {
  std::uint32_t phase = 0;
  std::uint32_t source = 0;
  Chunk& chunk = receiver(message, phase, source);
  if (chunk.phase != phase) return chunk.early.push_back({phase, source});
  if (++chunk.balance[source] <= 0) received(chunk, *this);
}

void Collectives::expect(Chunk& chunk, std::uint32_t source) {
  if (--chunk.balance[source] < 0) return;
  const std::uint64_t message = pack(chunk.instance->number, chunk.phase, chunk.member, source);
  clock_.after(0, engine::Action::to<&Collectives::receive_now>(*this, message));
}

void Collectives::receive_now(std::uint64_t message) {
  std::uint32_t phase = 0;
  std::uint32_t source = 0;
  received(receiver(message, phase, source), *this);
}

std::string Collectives::waits_for(std::uint32_t rank, std::uint32_t task) const {
  for (const auto& instance : instances_) {
    if (!instance) continue;
    const auto is_mine = [&](const Chunk& c) {
      return c.phase != Chunk::kNoPhase && c.rank == rank && calls_[rank][c.call].task == task &&
             calls_[rank][c.call].chunks_left > 0;
    };
    if (std::none_of(instance->chunks.begin(), instance->chunks.end(), is_mine)) continue;
    std::string missing;
    std::uint32_t count = 0;
    for (const Chunk& c : instance->chunks) {
      if (c.phase == Chunk::kNoPhase && count++ < 8) missing += (missing.empty() ? "" : ", ") + std::to_string(c.member);
    }
    if (count == 0) continue;
    return "members " + missing + (count > 8 ? " and " + std::to_string(count - 8) + " more" : "") +
           " of its group, which never call it";
  }
  return "messages of other members";
}

}  // namespace photonrail::astra
